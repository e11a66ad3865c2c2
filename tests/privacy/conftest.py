"""Fixture that lets one marked person use the whole service, and collects every place where the marks appear.

The marks are unique words in the person's data.
"""

import logging
from dataclasses import replace

import pytest

from app.core.web.rate_limits import RateLimits
from app.providers import messaging, vapid, webpush
from tests.helpers.apps import config_for_tests, empty
from tests.helpers.server_log import postgres_log
from tests.privacy.walk import Walk


class Records(logging.Handler):
    """A log handler that keeps each record as text, with its traceback."""

    def __init__(self):
        super().__init__(logging.INFO)
        self.lines = []

    def emit(self, record):
        self.lines.append(f"{self.format(record)} {vars(record)}")


@pytest.fixture(scope="module")
def traces(real_app, running):
    """Let the person use the service. Return all responses, logs, metrics, files, messages and pushes."""
    public, private = vapid.new_keys()
    subject = "mailto:operator@example.com"
    keys = {"vapid_public_key": public, "vapid_private_key": private, "vapid_subject": subject}
    config = replace(real_app.extensions["config"], **keys)
    parts = {
        "config": config,
        "webpush": webpush.WebPush(config),
        "messenger": messaging.make(config_for_tests(**running.messaging.env())),
        "limits": RateLimits(real_app.extensions["redis"], enabled=True),
    }
    records, root, log = Records(), logging.getLogger(), postgres_log(real_app)
    written = log.stat().st_size if log else 0
    with real_app.app_context(), pytest.MonkeyPatch.context() as patch:
        real_app.extensions["redis"].flushdb()
        for name, part in parts.items():
            patch.setitem(real_app.extensions, name, part)
        patch.setitem(real_app.config, "PROPAGATE_EXCEPTIONS", False)
        root.addHandler(records)
        level = root.level
        root.setLevel(logging.INFO)
        try:
            traces = Walk(real_app, running, public).play()
        finally:
            root.removeHandler(records)
            root.setLevel(level)
            empty()
        traces.log = records.lines
        traces.postgres_log = log.read_bytes()[written:].decode().splitlines() if log else None
        yield traces
    running.reset()
