"""Path of the log file that PostgreSQL writes during the tests."""

from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


def postgres_log(app):
    """Return the path of the test server's log, or None if the tests did not start the server."""
    query = parse_qs(urlsplit(app.extensions["config"].database_url).query)
    path = Path(unquote(query.get("host", ["/nowhere"])[0])).parent / "logs" / "postgres.log"
    return path if path.exists() else None
