"""Phone numbers as people type them, in E.164. A number without a country code is Indonesian."""

from __future__ import annotations

import re

import phonenumbers

from app.core.settings import settings

REGION = "ID"

#: What a number may be written with. The library skips anything before the first digit, a name or a tag included.
WRITTEN = re.compile(r"[0-9 \u00a0\t+().-]+")


def normalise(text: str) -> str | None:
    """`+6281234567890` for `0812-3456-7890`, `62812...` and other forms; `None` for what is no phone number."""
    if not WRITTEN.fullmatch(text):
        return None
    # `62812...` is meant with its country code; as a national number it would be valid too, but somebody else's.
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
    """Why a number in E.164 is not one that this service sends messages to; None when it is."""
    countries = settings.messaging_countries
    if "*" in countries or phone.startswith(tuple(f"+{code}" for code in countries)):
        return None
    return f"harus berkode negara {' atau '.join(f'+{code}' for code in countries)}."
