"""The plain name of a device that somebody signs in from: "Chrome di Android".

Only the name is kept, not the whole User-Agent: people have to recognise their own devices, and nobody needs more.
"""

from __future__ import annotations

#: By a part of the User-Agent, the first that it has: every browser claims to be those below it, too.
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
#: Of a program that says nothing of itself, and of a session from before names were kept.
UNKNOWN = "Perangkat tak bernama"
#: Characters of a User-Agent that are looked at.
MOST = 500


def name_of(user_agent: str) -> str:
    """`Chrome di Android`, `Firefox`, `Perangkat Android`, or `UNKNOWN` for what is none of these."""
    sent = user_agent[:MOST]
    browser = next((name for part, name in BROWSERS if part in sent), None)
    system = next((name for part, name in SYSTEMS if part in sent), None)
    if browser and system:
        return f"{browser} di {system}"
    return browser or (f"Perangkat {system}" if system else UNKNOWN)
