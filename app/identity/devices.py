"""Readable names of devices, such as "Chrome di Android", from the User-Agent header of a login.

The service stores only this name. The name is enough for people to recognise their devices.
"""

from __future__ import annotations

#: Names of browsers by a part of the User-Agent. The first match counts, because the User-Agent of a browser often
#: contains the names of other browsers too.
BROWSERS = (
    ("SamsungBrowser/", "Samsung Internet"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("OPiOS/", "Opera"),
    ("UCBrowser/", "UC Browser"),
    ("YaBrowser/", "Yandex"),
    ("FxiOS/", "Firefox"),
    ("Firefox/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("; wv)", "Aplikasi"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("okhttp/", "Aplikasi"),
    ("Dart/", "Aplikasi"),
    ("CFNetwork/", "Aplikasi"),
)
SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "Chromebook"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("Darwin", "Mac"),
    ("Linux", "Linux"),
)
#: Name for an unknown User-Agent, and for sessions that were created before names were stored.
UNKNOWN = "Perangkat tak bernama"
#: Maximum characters of the User-Agent header that `name_of` reads.
MAX_USER_AGENT = 500


def name_of(user_agent: str) -> str:
    """Return a name such as `Chrome di Android`, `Firefox` or `Perangkat Android`. Return `UNKNOWN` without a match."""
    sent = user_agent[:MAX_USER_AGENT]
    browser = next((name for part, name in BROWSERS if part in sent), None)
    system = next((name for part, name in SYSTEMS if part in sent), None)
    if browser and system:
        return f"{browser} di {system}"
    return browser or (f"Perangkat {system}" if system else UNKNOWN)
