"""Plain names of devices, such as "Chrome di Android".

The service stores only this name and drops the User-Agent, because the name is enough to recognise an own device.
"""

from __future__ import annotations

#: Names by a part of the User-Agent. The first match counts, because a browser also claims to be those further down.
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
#: Name for an unknown User-Agent, and for sessions from before names were stored.
UNKNOWN = "Perangkat tak bernama"
#: Maximum characters of a User-Agent that are read.
MAX_USER_AGENT = 500


def name_of(user_agent: str) -> str:
    """Return a name such as `Chrome di Android`, `Firefox` or `Perangkat Android`, else `UNKNOWN`."""
    sent = user_agent[:MAX_USER_AGENT]
    browser = next((name for part, name in BROWSERS if part in sent), None)
    system = next((name for part, name in SYSTEMS if part in sent), None)
    if browser and system:
        return f"{browser} di {system}"
    return browser or (f"Perangkat {system}" if system else UNKNOWN)
