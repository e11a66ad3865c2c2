"""Indonesian error messages for invalid input: a list by field, and one sentence for the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from app.core.lib.labels import label

#: Message for a value of the wrong type.
UNFIT = "Isian ini tidak sesuai."

#: Messages of marshmallow, with their Indonesian translation.
CATALOGUE = {
    # messages of marshmallow's fields
    "Missing data for required field.": "wajib diisi.",
    "Field may not be null.": "tidak boleh kosong.",
    "Invalid value.": "tidak valid.",
    "Not a valid string.": "isi dengan teks.",
    "Not a valid utf-8 string.": "isi dengan teks.",
    "Not a valid number.": "isi dengan angka.",
    "Not a valid integer.": "isi dengan bilangan bulat.",
    "Number too large.": "terlalu besar.",
    "Special numeric values (nan or infinity) are not permitted.": "isi dengan angka.",
    "Not a valid boolean.": "isi dengan ya atau tidak.",
    "Not a valid date.": "tulis seperti 2026-03-31.",
    "Not a valid email address.": "tulis seperti siti@example.com.",
    "Not a valid URL.": "tulis seperti https://example.com.",
    "Not a valid list.": UNFIT,
    "Not a valid mapping type.": UNFIT,
    "Invalid type.": UNFIT,
    "Invalid input type.": UNFIT,
    # messages of marshmallow's validators
    "Length must be between 0 and {max}.": "maksimal {max} karakter.",
    "Length must be between {min} and {max}.": "harus {min} sampai {max} karakter.",
    "Shorter than minimum length 1.": "wajib diisi.",
    "Shorter than minimum length {min}.": "minimal {min} karakter.",
    "Longer than maximum length {max}.": "maksimal {max} karakter.",
    "Must be one of: {choices}.": "harus salah satu dari: {choices}.",
    "Must be greater than or equal to {min} and less than or equal to {max}.": "harus dari {min} sampai {max}.",
    "Must be greater than {min} and less than or equal to {max}.": "harus lebih dari {min}, maksimal {max}.",
    "Must be greater than or equal to {min}.": "minimal {min}.",
    "Must be less than or equal to {max}.": "maksimal {max}.",
    "String does not match expected pattern.": UNFIT,
}

#: First words of messages that ask for something. `as_sentence` puts the label of the field and a colon before them.
REQUESTS = ("isi ", "tulis ", "pilih ")

#: Maximum number of choices in a message. Longer lists of choices are only in the API documentation.
MAX_CHOICES = 8
TOO_MANY = "bukan salah satu dari pilihan."

#: Maximum number of messages in a response. Without this limit, a request with 1 MB of invalid items would cause a
#: 10 MB response.
MAX_SENTENCES = 100

#: marshmallow's key for a message about the whole input.
WHOLE = "_schema"


def flat(errors: object) -> dict[str, list[str]]:
    """Return the Indonesian messages of each field. A key is the dotted path of a field.

    Return at most `MAX_SENTENCES` messages. `errors` may be nested in any way.
    """
    sentences: dict[str, list[str]] = {}
    for path, sentence in islice(_leaves(errors, ()), MAX_SENTENCES):
        sentences.setdefault(".".join(path) or WHOLE, []).append(indonesian(sentence))
    return sentences


def as_sentence(errors: Mapping[str, list[str]]) -> str | None:
    """Return the first message as a sentence with the name of its field, or None if there are no messages.

    Examples: `NIK harus 16 digit angka.`, `Jam: tulis seperti 07:30.`, `Jadwal tidak sesuai.` A message that is already
    a full sentence stays unchanged.
    """
    for path, (sentence, *_) in errors.items():
        field = label(() if path == WHOLE else path.split("."))
        if sentence.startswith(REQUESTS):
            return f"{field}: {sentence}"
        predicate = sentence.removeprefix("Isian ini ")
        return predicate if predicate[:1].isupper() else f"{field} {predicate}"
    return None


def indonesian(sentence: str) -> str:
    """Translate a message of marshmallow into Indonesian. Return any other text unchanged."""
    for pattern, translation in _PATTERNS:
        if match := pattern.fullmatch(sentence):
            values = match.groupdict()
            return TOO_MANY if values.get("choices", "").count(",") >= MAX_CHOICES else translation.format(**values)
    return sentence


def wait(seconds: float) -> str:
    """Return the duration in Indonesian, rounded up: `30 detik`, `3 menit`, `2 jam`, `1 hari`."""
    for unit, length, up_to in (("detik", 1, 60), ("menit", 60, 3600), ("jam", 3600, 86400)):
        count = -int(-seconds // length)
        if count * length < up_to:
            return f"{max(count, 1)} {unit}"
    return f"{-int(-seconds // 86400)} hari"


def _leaves(node: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    match node:
        case Mapping():
            for key, inner in node.items():
                yield from _leaves(inner, path if key == WHOLE else (*path, str(key)))
        case list() | tuple():
            for inner in node:
                yield from _leaves(inner, path)
        case _:
            yield path, str(node)


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(template)), re.DOTALL)


_PATTERNS = [(_pattern(template), translation) for template, translation in CATALOGUE.items()]
