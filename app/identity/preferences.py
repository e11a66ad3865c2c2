"""Preferences of people. Clients send them as JSON of any form, and the service stores them unchanged.

This module derives the tags from the preferences. Broadcasts about a subject go only to people with the tag of
the subject.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from app.core.errors import BadRequest
from app.core.web.parsing import parse_json

TAGS = (
    "medical",
    "mental_health",
    "islam",
    "kristen",
    "katolik",
    "hindu",
    "buddha",
    "konghucu",
    "other_belief",
)

#: Tags by their names in lower case, without blanks and punctuation.
NAMES = {tag.replace("_", ""): tag for tag in TAGS}


def tags(preferences: object) -> list[str]:
    """Return the sorted tags in `preferences` (an object, an array, or JSON text).

    Accept a tag at any depth, either as a text or as a key whose value is true.
    """
    return sorted({tag for name in _selected(_parsed(preferences)) if (tag := NAMES.get(_plain(name)))})


def broadcast_choice(preferences: object) -> bool | None:
    """Return the value of the key `broadcast` as a bool, or None if the preferences do not have this key."""
    parsed = _parsed(preferences)
    if not isinstance(parsed, dict) or "broadcast" not in parsed:
        return None
    return parsed["broadcast"] not in (False, "false", 0, "0")


def wants_moderation(preferences: object) -> bool:
    """Return whether an administrator wants pushes about new moderation cases: `{"moderation": true}`."""
    parsed = _parsed(preferences)
    return isinstance(parsed, dict) and parsed.get("moderation") in (True, "true", 1, "1")


def with_broadcasts(preferences: object, *, accepted: bool) -> object:
    """Return the preferences with the key `broadcast` set to `accepted`.

    A list cannot have this key and stays unchanged. A missing key already means true, so true is not added.
    """
    parsed = {} if preferences is None else _parsed(preferences)
    if not isinstance(parsed, dict) or (broadcast_choice(parsed) is not False) == accepted:
        return preferences
    changed = {**parsed, "broadcast": accepted}
    return json.dumps(changed, ensure_ascii=False) if isinstance(preferences, str) else changed


def _selected(value: object, name: str | None = None) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _selected(item, str(key))
        case list():
            for item in value:
                yield from _selected(item)
        case True | 1 | "true" | "1":
            if name:
                yield name
        case str() if value and value != "false":
            yield value
            if name and NAMES.get(_plain(name)) == "other_belief":
                yield name  # the key counts too, for example in {"other_belief": "Marapu"}


def _parsed(value: object) -> object:
    """Parse a JSON text like a request body, and return the result. Return any other value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except BadRequest:
        return value


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
