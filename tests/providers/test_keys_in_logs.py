"""Provider keys in URLs. No log line may contain them."""

import io
import logging
from contextlib import suppress

from app import create_app
from app.providers.http import Http, ProviderError
from tests.helpers.apps import config_for_tests
from tests.providers.raw_server import raw


def test_a_malformed_response_header_does_not_put_the_key_in_the_log(variables):
    stream = io.StringIO()
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        create_app(config_for_tests(**variables))  # sets the log levels as in production
        logging.getLogger().setLevel(logging.DEBUG)
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler):
                handler.setStream(stream)
        with raw(b"HTTP/1.1 200 OK\r\nA line without any colon\r\nContent-Length: 2\r\n\r\n{}") as server:
            with suppress(ProviderError):
                Http("places").get_json(f"{server.url}/nearby", {"key": "RAHASIA123"})
            assert server.requests
    finally:
        logging.getLogger().handlers[:] = handlers
        logging.getLogger().setLevel(level)
    assert "RAHASIA123" not in stream.getvalue()
