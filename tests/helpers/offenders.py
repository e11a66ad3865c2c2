"""Assertion for tests that report every violation of a rule."""

from __future__ import annotations

from collections.abc import Iterable


def assert_none(offenders: Iterable[str], advice: str) -> None:
    """Fail if there are offenders. The message contains `advice` and one line for each offender, without duplicates."""
    lines = list(dict.fromkeys(offenders))
    assert not lines, "\n".join([advice, *lines])
