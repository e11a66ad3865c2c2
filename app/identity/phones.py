"""Phone numbers: whatever people type, one E.164 form. A number without a country is Indonesian."""

from __future__ import annotations

import phonenumbers

REGION = "ID"


def normalise(text: str) -> str | None:
    """`+6281234567890` for `0812-3456-7890`, `62812...` and the like; `None` for what is no phone number."""
    # `62812...` is the country code without its plus; read as a national number it would be possible, and wrong.
    international = text if text.lstrip(" (").startswith("+") else "+" + text
    candidates = [(international, None), (text, REGION)] if text.lstrip(" (+").startswith("62") else [(text, REGION)]
    for candidate, region in candidates:
        try:
            found = phonenumbers.parse(candidate, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(found):
            return phonenumbers.format_number(found, phonenumbers.PhoneNumberFormat.E164)
    return None
