"""The sentences of validation errors: all Indonesian, each under the dotted path of its field, one for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from app.core.lib.labels import label

#: What was sent cannot be read as what a field asks for.
UNFIT = "Isian ini tidak sesuai."

#: marshmallow's own sentences, which know nothing of us, and how people read them.
CATALOGUE = {
    # fields
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
    # validators
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

#: How a sentence begins that asks for something and says nothing of its field.
REQUESTS = ("isi ", "tulis ", "pilih ")

#: More choices than these are in the documentation, and in no sentence.
MOST_CHOICES = 8
TOO_MANY = "bukan salah satu dari pilihan."

#: So many sentences at most: 1 MB of wrong items would be answered with 10 MB of them.
MOST_SENTENCES = 100

#: Where a sentence about what was sent as a whole stands, as marshmallow has it.
WHOLE = "_schema"


def flat(errors: object) -> dict[str, list[str]]:
    """The first sentences of the fields, in Indonesian, under their dotted paths, however marshmallow nests them."""
    sentences: dict[str, list[str]] = {}
    for path, sentence in islice(_leaves(errors, ()), MOST_SENTENCES):
        sentences.setdefault(".".join(path) or WHOLE, []).append(indonesian(sentence))
    return sentences


def for_a_person(errors: Mapping[str, list[str]]) -> str | None:
    """Return the first sentence with its field, or None if there is none.

    `NIK harus 16 digit angka.`, `Jam: tulis seperti 07:30.`, `Jadwal tidak sesuai.`; a whole sentence stays as it is.
    """
    for path, (sentence, *_) in errors.items():
        field = label(() if path == WHOLE else path.split("."))
        if sentence.startswith(REQUESTS):
            return f"{field}: {sentence}"
        predicate = sentence.removeprefix("Isian ini ")
        return predicate if predicate[:1].isupper() else f"{field} {predicate}"
    return None


def indonesian(sentence: str) -> str:
    """A sentence of marshmallow's in our words; any other as it is."""
    for pattern, translation in _PATTERNS:
        if match := pattern.fullmatch(sentence):
            values = match.groupdict()
            return TOO_MANY if values.get("choices", "").count(",") >= MOST_CHOICES else translation.format(**values)
    return sentence


def wait(seconds: float) -> str:
    """How long that is, rounded up: `30 detik`, `3 menit`, `2 jam`, `1 hari`."""
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
