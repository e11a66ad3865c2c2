"""Responses that stream an export. The number of concurrent exports is limited."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

from flask import Response

from app.core.slots import Slots

#: Limit on concurrent exports. An export occupies a web thread while its client reads.
EXPORTS = Slots(4, wait_s=5, message="Terlalu banyak ekspor berjalan. Silakan coba lagi.")

#: MIME types by format. They are not in the modules of the formats, because those modules load large libraries.
MIMETYPES = {
    "csv": "text/csv",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

#: Description of the export formats in the OpenAPI document.
FORMATS = "xlsx and pdf are for people: Indonesian headings, WIB, ready to print. csv is for programs: raw values, UTC"

#: Schema of an export file in the OpenAPI document.
FILE = {"type": "string", "format": "binary"}

Chunks = Generator[bytes]


@dataclass(frozen=True)
class Download:
    """A file that is generated in chunks while it is sent. The ending of its name is a key of `MIMETYPES`."""

    name: str
    chunks: Chunks


def start_download(name: str, chunks: Chunks) -> Download:
    """Produce the first chunk now. If this raises an error, the route can still return an error response.

    A later failure breaks the connection, so that a client does not accept an incomplete file.
    """
    first = next(chunks)

    def resumed() -> Chunks:
        with closing(chunks):
            yield first
            yield from chunks

    return Download(name, resumed())


def download_response(download: Download) -> Response:
    """Return a response that a browser saves as `download.name`."""
    response = Response(download.chunks, mimetype=MIMETYPES[download.name.rpartition(".")[2]])
    response.headers["Content-Disposition"] = f'attachment; filename="{download.name}"'
    return response
