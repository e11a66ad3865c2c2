"""Exports as responses, piece by piece: few at a time, and nothing is left when a client goes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from flask import Response

from app.core.bulkhead import Bulkhead
from app.core.errors import TooManyRequests

#: An export holds a thread of the web process for as long as its client reads; the others are for everybody else.
EXPORTS = Bulkhead(
    4,
    wait_s=5,
    refusal=lambda: TooManyRequests("Terlalu banyak ekspor berjalan.", retry_after=30),
)

#: By format. The modules that write them load large libraries, which a route's documentation has no use for.
MIMETYPES = {
    "csv": "text/csv",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

#: The choice between them, for the OpenAPI document.
FORMATS = "xlsx and pdf are for people: headings in Indonesian, WIB, ready to print. csv is for programs: raw, in UTC"

#: Such a file in the OpenAPI document.
FILE = {"type": "string", "format": "binary"}

Chunks = Generator[bytes]


@dataclass(frozen=True)
class Download:
    """A file whose pieces come as they are asked for."""

    name: str
    mimetype: str
    chunks: Chunks


def begun(chunks: Chunks) -> Chunks:
    """The same chunks, the first of them made here and now: what fails, fails while there can be an error response.

    A failure later breaks the connection, so that half a file is never taken for a whole one.
    """
    return _resumed(next(chunks), chunks)


def download_response(download: Download) -> Response:
    """The response that a browser saves under the file's name."""
    response = Response(download.chunks, mimetype=download.mimetype)
    response.headers["Content-Disposition"] = f'attachment; filename="{download.name}"'
    return response


def _resumed(first: bytes, rest: Chunks) -> Chunks:
    try:
        yield first
        yield from rest
    finally:
        rest.close()
