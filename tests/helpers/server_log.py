"""Where PostgreSQL writes its log while the tests run."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from flask import Flask


def postgres_log(app: Flask) -> Path | None:
    """Of the server of the tests; one that somebody else runs keeps its log where we may not look."""
    query = parse_qs(urlsplit(app.extensions["config"].database_url).query)
    path = Path(unquote(query.get("host", ["/nowhere"])[0])).parent / "logs" / "postgres.log"
    return path if path.exists() else None
