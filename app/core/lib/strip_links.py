"""Removal of web addresses and phone numbers from names and titles that appear in messages.

Any `word.word` counts as a web address, because every word can become a top-level domain. Exceptions are the degrees
and abbreviations in the module `abbreviations`.
"""

from __future__ import annotations

import re
import unicodedata

from app.core.lib import abbreviations

#: Characters that programs accept as the dot of a domain.
_DOT = r"[.\u2024\u3002\ufe52\uff0e\uff61]"
#: A character of a domain label, which is a part between two dots. Outside ASCII, nearly all characters are allowed:
#: letters, marks, emoji, invisible ones.
_LABEL = (
    r"[^\s!-,./:-@\[-^`{-~"
    r"\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20\uff61-\uff65\xa1\xab\xbb\xbf\ufe52]"
)
_USER = rf"(?:{_LABEL}|{_DOT}|[+%])"

_ADDRESS = re.compile(
    rf"""
    (?:(?<!{_LABEL}){_LABEL}+)?://\S*
    | (?<!{_LABEL})(?:mailto|tel|sms|smsto|geo|whatsapp|tg|intent|market):\S+
    | \[[\da-f:.]*:[\da-f:.]*:[\da-f:.]*\]\S*                           # an IPv6 address, in brackets or with `::`
    | (?<![\w:.])(?=[\da-f:]*\d)(?:(?=[\da-f:]*::)|(?=(?:[\da-f]+:){{7}}))[\da-f]*:[\da-f:]+\S*
    | (?<!{_USER}){_USER}+@(?=[^\W\d])(?:{_USER}|@)+
    | (?<!{_LABEL})(?P<labels>{_LABEL}+(?:{_DOT}{_LABEL}+)+)
    """,
    re.IGNORECASE | re.VERBOSE,
)
#: The part of a web address after the host.
_REST = re.compile(r"(?::\d+|[/?#\\])\S*")
_BLANKS = re.compile(r"\s+")

#: The check for abbreviations and degrees is slow. A text with more labels than this number is not checked, and counts
#: as a web address.
_MAX_LABELS = 8
#: A full stop and a space inside a number. The space is removed.
_DECIMALS = re.compile(r"(?<=\d)\. (?=\d)")

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


def without_addresses(text: str) -> str:
    """Return the text on one line without web and e-mail addresses. The result may be empty."""
    kept, position = [], 0
    while match := _ADDRESS.search(text, position):
        kept.append(text[position : match.start()])
        rest = _REST.match(text, match.end())
        permitted = _permitted_text(match["labels"], has_path=rest is not None) if match["labels"] else None
        if permitted is None:
            position = rest.end() if rest else match.end()
        else:
            kept.append(permitted)
            position = match.end()
    return _on_one_line("".join([*kept, text[position:]]))


def without_contacts(text: str) -> str:
    """Return the text without web addresses, e-mail addresses, and phone numbers of eight digits or more."""
    return _on_one_line(_NUMBER.sub(_without_phone_number, without_addresses(text)))


def _on_one_line(text: str) -> str:
    return _BLANKS.sub(" ", text).strip()


def _permitted_text(text: str, *, has_path: bool) -> str | None:
    """Return `text` in a permitted form. Return None if `text` is a web address.

    `text` consists of words joined by dots. `text` is permitted if none of its words after the first can be a top-level
    domain. A degree is also permitted. An abbreviation followed by a word is permitted, and so is a word followed by a
    degree. In these two cases, a space is added between the two parts.
    """
    labels = re.split(_DOT, text)
    words = [_plain(label) for label in labels]
    if any(word.endswith("www") for word in words[:-1]) or _is_ip_address(words):
        return None
    if not any(len(word) > 1 and word[:2].isalpha() for word in words[1:]):
        return text
    if len(labels) > _MAX_LABELS:
        return None
    end = next((n for n in range(len(words)) if abbreviations.is_degree(".".join(words[n:]))), len(words))
    degrees = [".".join(labels[end:])] if end < len(words) else []
    if degrees and has_path:
        return None
    parts, position = [], 0
    while position < end and (count := _prefix_labels(labels, words, position)):
        parts.append(".".join(labels[position : position + count]))
        position += count
    if position < end and (parts or degrees):  # add one word that is not an abbreviation
        parts.append(labels[position])
        position += 1
    while position < end and parts and words[position][:1].isdecimal():
        parts.append(labels[position])
        position += 1
    if position < end:
        return None
    return _DECIMALS.sub(".", ". ".join([*parts, *degrees]))


def _prefix_labels(labels: list[str], words: list[str], n: int) -> int:
    """Return how many labels from position `n` form an abbreviation, an initial or a number: 0, 1 or 2.

    Return 0 if no suitable word follows.
    """
    for count in (2, 1):
        if n + count < len(words) and ".".join(words[n : n + count]) in abbreviations.PREFIXES:
            return count
    if n + 1 == len(words):
        return 0
    label, word, after = labels[n], words[n], words[n + 1]
    begins_large = len(after) > 2 and after.isalpha() and labels[n + 1][0].isupper()
    if word.isdecimal():
        is_prefix = after.isdecimal() or after in abbreviations.UNITS or (len(word) < 3 and begins_large)
    else:
        is_initial = len(label) == 1 and label.isupper()
        is_prefix = is_initial and (begins_large or (len(after) == 1 and labels[n + 1].isupper()))
    return int(is_prefix)


def _plain(label: str) -> str:
    """Return the label in lower case and normalized, without marks and invisible characters.

    Other programs compare domain names in this form.
    """
    decomposed = unicodedata.normalize("NFKD", label)
    return "".join(each for each in decomposed if unicodedata.category(each)[0] not in "MC").lower()


def _is_ip_address(words: list[str]) -> bool:
    """Return whether four numbers are an IPv4 address. Return False for round sums of money such as 1.500.000.000."""
    if len(words) != 4 or not all(word.isdecimal() and len(word) < 4 and int(word) < 256 for word in words):
        return False
    return any(len(word) < 3 for word in words[1:]) or int(words[-1]) > 0


def _without_phone_number(match: re.Match[str]) -> str:
    """Return "" if the digits are a phone number. Return a date, a time, a sum of money or another number unchanged."""
    if match["permitted"]:
        return match[0]
    groups = re.findall(r"\d+", match[0])
    is_phone = match[0][0] in "+(08" or groups[0].startswith("62") or all(len(group) > 2 for group in groups)
    return "" if is_phone else match[0]
