"""Text that people wrote, prepared for a message: phones must not show a link in it, and no word is lost."""

from __future__ import annotations

import re

from phonenumbers import PhoneNumberMatcher

#: Maximum characters of a title in a message.
MAX_TITLE = 80

#: Characters that programs accept as the dot of a domain. Only a dot before a letter can begin a top-level domain.
#: Programs ignore invisible characters between the dot and the letter.
_DOT = re.compile(
    r"([.\u2024\u3002\ufe52\uff0e\uff61])(?=[\u00ad\u034f\u180b-\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff]*[^\W\d_])"
)
_SEPARATOR = re.compile("://|@")


def break_links(text: str) -> str:
    """Return the text on one line, with each link broken by a blank: `klaim.help` becomes `klaim. help`."""
    broken = _DOT.sub(r"\1 ", _SEPARATOR.sub(" ", text))
    # A text such as "@" has no other characters. It is no link, so it stays.
    return on_one_line(broken) or on_one_line(text)


def message_title(title: str) -> str:
    """Return a title without phone numbers, with links broken, and shortened to `MAX_TITLE`. It may be empty."""
    for match in reversed(list(PhoneNumberMatcher(title, "ID"))):
        title = title[: match.start] + title[match.end :]
    title = break_links(title)
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1] + "…"


def on_one_line(text: str) -> str:
    """Return the text with one blank in place of each line break or series of blanks."""
    return " ".join(text.split())
