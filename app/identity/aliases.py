"""Reserved pseudonyms. Nobody may use a pseudonym that looks like an office or a profession that people trust."""

from __future__ import annotations

import re
import unicodedata

#: Reserved words. A pseudonym is refused if one of its words starts or ends with a reserved word, or if the pseudonym
#: without blanks starts with a reserved word. Terms of two words, such as `customer service`, have no blank here.
RESERVED = (
    "admin", "moderator", "kemenkes", "kementerian", "dokter", "perawat", "apoteker", "petugas", "operator",
    "customerservice", "customercare", "layananpelanggan",
)  # fmt: skip


def is_reserved(alias: str) -> bool:
    """Return whether a pseudonym contains a reserved word, in any case and with or without accents."""
    words = re.findall(r"[a-z]+", _plain(alias))
    return "".join(words).startswith(RESERVED) or any(
        word.startswith(RESERVED) or word.endswith(RESERVED) for word in words
    )


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in decomposed if not unicodedata.combining(each))
