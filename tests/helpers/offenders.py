"""Rules over many rows: one test that names everything that breaks the rule."""

from __future__ import annotations

from collections.abc import Iterable


def assert_none(offenders: Iterable[str], advice: str) -> None:
    """Fail with a line for each offender, each once, below a sentence that says what to do."""
    lines = list(dict.fromkeys(offenders))
    assert not lines, "\n".join([advice, *lines])
