"""Check whether a text is plain Indonesian in short sentences."""

import re
from functools import lru_cache

MAX_WORDS = 20

#: English words that do not exist in Indonesian.
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
    """.split()  # noqa: SIM905  # a list would be much longer
)

#: Quoted values in a text: names of choices, and texts that a person has sent. The check for English words skips them.
QUOTED = re.compile(r"(salah satu dari: |tidak dikenal: )[^.]*")


@lru_cache(10_000)
def faults(text):
    """Return a description of each English word and of each sentence that is too long."""
    prose = QUOTED.sub(r"\1", text)
    english = {word for word in re.findall(r"[a-z-]+", prose.lower()) if word in ENGLISH}
    sentences = ((len(sentence.split()), sentence) for sentence in re.split(r"(?<=[.!?])\s+", text))
    return [
        *([f"{', '.join(sorted(english))} in {text!r}"] if english else ()),
        *(f"{words} words: {sentence!r}" for words, sentence in sentences if words > MAX_WORDS),
    ]


def assert_readable(text):
    assert not (found := faults(text)), "; ".join(found)
