"""Conversion of phone numbers to E.164. A number without a country code is Indonesian."""

from __future__ import annotations

import re

import phonenumbers

from app.core.settings import settings

REGION = "ID"

#: Allowed characters of a number. Check them first, because the library skips any text before the first digit.
WRITTEN = re.compile(r"[0-9 \u00a0\t+().-]+")


def normalise(text: str) -> str | None:
    """Return `+6281234567890` for `0812-3456-7890`, `62812...` and other forms, or None if it is no phone number."""
    if not WRITTEN.fullmatch(text):
        return None
    # Try `62812...` with its country code first. As a national number it is valid too, but a different number.
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
    """Return in Indonesian why the service sends no messages to this E.164 number, or None if it does."""
    countries = settings.messaging_countries
    if "*" in countries or phone.startswith(tuple(f"+{code}" for code in countries)):
        return None
    return f"harus berkode negara {' atau '.join(f'+{code}' for code in countries)}."
