"""Conversion of phone numbers to E.164. A number without a country code is Indonesian."""

from __future__ import annotations

import re

import phonenumbers

from app.core.settings import settings

REGION = "ID"

#: Allowed characters of a number. `normalise` checks them itself, because the library ignores text before the first
#: digit.
WRITTEN = re.compile(r"[0-9 \u00a0\t+().-]+")


def normalise(text: str) -> str | None:
    """Return a phone number in E.164 form, for example `+6281234567890` for `0812-3456-7890` and `6281234567890`.

    Return None if the text is not a valid phone number.
    """
    if not WRITTEN.fullmatch(text):
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


def country_problem(phone: str) -> str | None:
    """Return an error message in Indonesian if the service sends no messages to the number's country, else None."""
    countries = settings.messaging_countries
    if "*" in countries or phone.startswith(tuple(f"+{code}" for code in countries)):
        return None
    return f"harus berkode negara {' atau '.join(f'+{code}' for code in countries)}."
