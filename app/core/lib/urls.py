"""Canonical form of web addresses. Two addresses of the same page then have the same text."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit

MAX_LENGTH = 2048

#: Query parameters that only track visitors and do not change the page.
TRACKING = re.compile(r"utm_\w+|fbclid|gclid|igshid|mc_[ce]id", re.IGNORECASE)

#: Spaces, control characters and backslashes. URL parsers interpret them differently.
AMBIGUOUS = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ufeff]")

DEFAULT_PORTS = {"http": 80, "https": 443}
HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
HOST_V6 = re.compile(r"\[[0-9a-f:.]{2,45}\]")


def canonical(address: str, base: str | None = None) -> str:
    """Return the canonical http or https address: absolute, in ASCII, without tracking parameters and fragment.

    `base` is the address of the page that contains the link. Raise `ValueError` for other schemes, user names and
    ambiguous characters. All URL parsers interpret the result in the same way.
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
    if len(spelling) > MAX_LENGTH:  # escaping made the address longer
        raise ValueError("too long an address")
    return spelling


def netloc_of(address: str) -> tuple[str, str]:
    """Return the scheme and the host of a canonical address. The host includes the port, if there is one."""
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def _host(name: str) -> str:
    # Allow only ASCII. Some libraries replace full-width letters, circled digits and similar characters by ASCII
    # characters.
    host, pattern = (f"[{name}]", HOST_V6) if ":" in name else (name, HOST)
    if not pattern.fullmatch(host):
        raise ValueError("not a host name")
    return host


def _without_dots(path: str) -> str:
    """Return the path with `.` and `..` resolved. Clients do the same before they send a request."""
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
