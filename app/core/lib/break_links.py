"""Text that people wrote, prepared for a message: phones must not show a link in it, and no word is lost."""

from __future__ import annotations

import re

#: Characters that programs accept as the dot of a domain. Only a dot before a letter can begin a top-level domain.
#: Programs ignore invisible characters between the dot and the letter.
_DOT = re.compile(
    r"([.\u2024\u3002\ufe52\uff0e\uff61])(?=[\u00ad\u034f\u180b-\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff]*[^\W\d_])"
)
_SEPARATOR = re.compile("://|@")

_TIME = r"(?:[01]?\d|2[0-4])[.:][0-5]\d"
_YEAR = r"(?:19|20)\d\d"
_NUMBER = re.compile(
    rf"""
    (?P<permitted>
        (?<!\d)(?:
            (?:0?[1-9]|[12]\d|3[01])(?P<mark>[./-])(?:0?[1-9]|1[0-2])(?P=mark){_YEAR}    # a date
            | {_YEAR}-\d\d-\d\d
            | {_TIME}(?:\s?[-–]\s?{_TIME})?                             # a time, or from one time to another
            | {_YEAR}(?:(?:\s?[-–/]\s?|\s){_YEAR})*
            | [1-9]\d{{0,2}}(?:\.\d{{3}})*\.000                         # a sum
        )
        | \bRp\.?\s?\d+(?:\.\d{{3}})*(?:,\d+)?
    )(?![./-]?\d)
    | (?<!\d)[+(]?\d(?:[\s().–—/-]{{0,3}}\d){{7,}}
    """,
    re.VERBOSE | re.IGNORECASE,
)


def break_links(text: str) -> str:
    """Return the text on one line, with each link broken by a blank: `klaim.help` becomes `klaim. help`."""
    broken = _DOT.sub(r"\1 ", _SEPARATOR.sub(" ", text))
    # A text such as "@" has no other characters. It is no link, so it stays.
    return on_one_line(broken) or on_one_line(text)


def without_contacts(text: str) -> str:
    """Return the text with broken links, and without phone numbers of eight digits or more."""
    return on_one_line(_NUMBER.sub(_without_phone_number, break_links(text)))


def on_one_line(text: str) -> str:
    """Return the text with one blank in place of each line break or series of blanks."""
    return " ".join(text.split())


def _without_phone_number(match: re.Match[str]) -> str:
    """Return "" if the digits are a phone number. Return a date, a time, a sum of money or another number unchanged."""
    if match["permitted"]:
        return match[0]
    groups = re.findall(r"\d+", match[0])
    is_phone = match[0][0] in "+(08" or groups[0].startswith("62") or all(len(group) > 2 for group in groups)
    return "" if is_phone else match[0]
