"""The log buffer: no line is lost, warnings are written immediately, and a full disk causes no error."""

from __future__ import annotations

import io
import logging

import pytest

from app.core.operations.logging import BatchHandler
from dev.stack.waiting import wait_until


def logger_of(target: logging.StreamHandler[io.StringIO]) -> logging.Logger:
    found = logging.getLogger("together")
    found.handlers[:] = [BatchHandler(target)]
    found.setLevel(logging.INFO)
    found.propagate = False
    return found


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def logger(stream: io.StringIO) -> logging.Logger:
    target = logging.StreamHandler(stream)
    target.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    return logger_of(target)


def test_buffered_lines_are_written_in_order_without_a_flush(logger: logging.Logger, stream: io.StringIO) -> None:
    for n in range(50):
        logger.info("line %s", n)
    wait_until(lambda: "line 49" in stream.getvalue())
    assert stream.getvalue().splitlines() == [f"INFO line {n}" for n in range(50)]


def test_a_warning_is_written_immediately_after_the_buffered_lines(logger: logging.Logger, stream: io.StringIO) -> None:
    logger.info("before")
    logger.warning("now")
    assert stream.getvalue() == "INFO before\nWARNING now\n"


def test_a_filter_of_the_target_handler_runs_when_the_line_is_logged(stream: io.StringIO) -> None:
    target = logging.StreamHandler(stream)
    seen: list[str] = []
    target.addFilter(lambda record: bool(seen.append(record.getMessage())) or True)
    logger = logger_of(target)
    logger.info("x")
    assert seen == ["x"]


def test_a_write_error_of_the_log_stream_raises_no_exception(capsys: pytest.CaptureFixture[str]) -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    logger = logger_of(logging.StreamHandler(Full()))
    logger.error("lost")
    assert "No space left on device" in capsys.readouterr().err
