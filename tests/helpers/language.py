"""What people read is plain Indonesian in short sentences; this is how a test knows."""

from __future__ import annotations

import re

MAX_WORDS = 20

#: English words that are no Indonesian ones.
ENGLISH = frozenset(
    """
    address after again allowed already and any are authorization bad be been before between boolean browser by call
    can cannot characters choices client connection content could date datetime day denied deleted does doesn
    don email empty end equal error expected expired failed false fewer field file first for forbidden formatted found
    from gateway greater has have header however image in input integer internal invalid is it item its just key large
    last length less list login longer long mapping match may maximum message method minimum minute missing more must
    name no none not null number object of on one only or password pattern permitted phone please provided
    range request required retry same seconds session short shorter should some something special start string
    than that the their them there they this time timeout to too true try type unable unauthorized unknown unsupported
    user username value wait was we were when which will with without wrong year you your zone
    """.split()  # noqa: SIM905  # as a list it would fill pages
)

#: What the API itself calls its choices, and what somebody sent, is not prose.
QUOTED = re.compile(r"(salah satu dari: |tidak dikenal: )[^.]*")


def faults(text: str) -> list[str]:
    """Return the English words and the sentences that are too long."""
    prose = QUOTED.sub(r"\1", text)
    english = {word for word in re.findall(r"[a-z-]+", prose.lower()) if word in ENGLISH}
    sentences = ((len(sentence.split()), sentence) for sentence in re.split(r"(?<=[.!?])\s+", text))
    return [
        *([f"{', '.join(sorted(english))} in {text!r}"] if english else ()),
        *(f"{words} words: {sentence!r}" for words, sentence in sentences if words > MAX_WORDS),
    ]


def assert_readable(text: str) -> None:
    """Fail for a word of English, and for a sentence that is too long."""
    assert not (found := faults(text)), "; ".join(found)
