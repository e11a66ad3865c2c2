"""Web addresses: one spelling for each page, so that equal pages compare equal."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

MAX_LENGTH = 2048

#: Query fields that say where a visitor came from, not what the page is.
TRACKING = re.compile(r"utm_\w+|fbclid|gclid|igshid|mc_[ce]id", re.IGNORECASE)

#: Blanks, control characters and backslashes: what one parser skips and another obeys.
AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ufeff]")

DEFAULT_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
HOST_V6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")


def canonical(address: str, base: str | None = None) -> str:
    """The one spelling of an http or https address: absolute, without tracking fields and fragment.

    `base` is the page it stood on. Raises `ValueError` for anything that is not plainly a web address: other schemes,
    a user name, ambiguous characters. What comes out is ASCII and reads the same to every parser.
    """
    address = address.strip()
    if len(address) > MAX_LENGTH or AMBIGUOUS.search(address):
        raise ValueError("not a plain address")
    parts = urlsplit(urljoin(base, address) if base else address)
    if parts.scheme not in DEFAULT_PORTS or "@" in parts.netloc or parts.hostname is None:
        raise ValueError("not a web address")
    host, port = _host(parts.hostname), parts.port
    netloc = host if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    path = quote(_without_dots(parts.path), safe="/%:@!$&'()*+,;=~-._")
    fields = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not TRACKING.fullmatch(pair[0])]
    spelling = urlunsplit((parts.scheme, netloc, path, urlencode(fields), ""))
    if len(spelling) > MAX_LENGTH:  # escapes made it longer
        raise ValueError("too long an address")
    return spelling


def netloc_of(address: str) -> tuple[str, str]:
    """Scheme and `host` or `host:port` of a canonical address."""
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def _host(name: str) -> str:
    # Only ASCII: some libraries fold look-alikes (full-width letters, circled digits) into other names.
    host, pattern = (f"[{name}]", HOST_V6) if ":" in name else (name, HOST)
    if not pattern.fullmatch(host):
        raise ValueError("not a host name")
    return host


def _without_dots(path: str) -> str:
    """The path with `.` and `..` resolved, as every client does before it asks."""
    resolved: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del resolved[-1:]
        elif segment != ".":
            resolved.append(segment)
    if segments and segments[-1] in (".", ".."):
        resolved.append("")
    return "/" + "/".join(resolved)
