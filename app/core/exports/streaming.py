"""Answers that are written while the database reads: few at a time, and nothing left behind when a client goes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore

from flask import Response

from app.core.errors import TooManyRequests

#: An export holds a thread of the web process for as long as its client reads; the others are for everybody else.
AT_A_TIME = 4
PATIENCE_S = 5

_turns = BoundedSemaphore(AT_A_TIME)

Chunks = Generator[bytes]


@dataclass(frozen=True)
class Download:
    """A file that is made while it is sent."""

    name: str
    mimetype: str
    chunks: Chunks


@contextmanager
def turn() -> Iterator[None]:
    """One of the few places; `TooManyRequests` when none becomes free."""
    if not _turns.acquire(timeout=PATIENCE_S):
        raise TooManyRequests("Terlalu banyak ekspor berjalan. Silakan coba sebentar lagi.", retry_after=30)
    try:
        yield
    finally:
        _turns.release()


def begun(chunks: Chunks) -> Chunks:
    """The same chunks, the first of them made here and now: what fails, fails while there can be an error answer.

    A failure later breaks the connection, so that half a file is never taken for a whole one.
    """
    return _resumed(next(chunks), chunks)


def answer(download: Download) -> Response:
    """The answer that a browser saves under the file's name."""
    response = Response(download.chunks, mimetype=download.mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{download.name}"'
    return response


def _resumed(first: bytes, rest: Chunks) -> Chunks:
    try:
        yield first
        yield from rest
    finally:
        rest.close()
