"""The same version is in the change log and in the log line of each start."""

import logging
import re

from app.core.operations.startup import log_start
from app.core.version import VERSION
from config import ROOT


def test_the_change_log_begins_with_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+?)\] - \d{4}-\d{2}-\d{2}$", text, re.MULTILINE)
    assert versions[0] == VERSION


def test_a_start_is_logged_with_the_version(caplog):
    with caplog.at_level(logging.INFO):
        log_start("web")
    assert [(each.getMessage(), vars(each)["version"]) for each in caplog.records] == [("web started", VERSION)]
