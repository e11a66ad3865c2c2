"""Conversion of phone numbers to E.164. A number without a country code is Indonesian."""

from __future__ import annotations

import re
import unicodedata

import phonenumbers

from app.core.settings import settings

REGION = "ID"

#: Allowed characters of a number. `normalise` checks them itself, because the library ignores text before the first
#: digit.
_WRITTEN = re.compile(r"[0-9 \t+().-]+")
#: Invisible characters that select how the character before them looks.
_VARIATION_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_MINUS = "\u2212"


def visible(text: str) -> str:
    """Return the text of a number without invisible characters, and with plain blanks and hyphens.

    Contact lists and chats copy numbers with such characters, for example with marks of the writing direction.
    """
    return "".join(map(_visible, text)).strip(" ")


def _visible(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or character in _VARIATION_SELECTORS:
        return ""
    if category == "Zs":
        return " "
    return "-" if category == "Pd" or character == _MINUS else character


def is_written_as_number(text: str) -> bool:
    """Return whether a text has only the characters of a phone number. The number may be incomplete."""
    return _WRITTEN.fullmatch(visible(text)) is not None


def normalise(text: str) -> str | None:
    """Return a phone number in E.164 form, for example `+6281234567890` for `0812-3456-7890` and `6281234567890`.

    Return None if the text is not a valid phone number.
    """
    text = visible(text)
    if not _WRITTEN.fullmatch(text):
        return None
    # If a text starts with 62, first try 62 as the country code. Such a text may also be a valid number without a
    # country code.
    international = text if text.lstrip(" (").startswith("+") else "+" + text
    candidates = [(international, None), (text, REGION)] if text.lstrip(" (+").startswith("62") else [(text, REGION)]
    for candidate, region in candidates:
        try:
            number = phonenumbers.parse(candidate, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return None


def notations(text: str) -> list[str]:
    """Return the texts that find a person by this search text. A part of a number, or a number, has several."""
    if not is_written_as_number(text):
        return [text]
    return list(dict.fromkeys([visible(text), normalise(text) or visible(text)]))


def country_problem(phone: str) -> str | None:
    """Return an error message in Indonesian if the service sends no messages to the number's country, else None."""
    countries = settings.messaging_countries
    if "*" in countries or phone.startswith(tuple(f"+{code}" for code in countries)):
        return None
    return f"harus berkode negara {' atau '.join(f'+{code}' for code in countries)}."
