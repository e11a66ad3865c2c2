"""Error of an operator's command."""

from __future__ import annotations


class OperatorError(Exception):
    """A failed command of an operator. The message is an English sentence that says what to do."""
