"""Names of devices in the list of sessions, which the service derives from the user agent."""

from app.identity.devices import MAX_USER_AGENT, UNKNOWN, name_of
from tests.helpers.language import assert_readable

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
MAC = f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT}"
WINDOWS = f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT}"

NAMES = {
    f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/124.0.0.0 Mobile Safari/537.36": "Chrome di Android",
    f"{WINDOWS} Chrome/124.0.0.0 Safari/537.36": "Chrome di Windows",
    f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/124.0.0.0 Safari/537.36": "Chrome di Chromebook",
    f"{IPHONE} CriOS/124.0.6367.88 Mobile/15E148 Safari/604.1": "Chrome di iPhone",
    f"{IPHONE} Version/17.5 Mobile/15E148 Safari/604.1": "Safari di iPhone",
    f"{IPHONE} FxiOS/125.0 Mobile/15E148 Safari/605.1.15": "Firefox di iPhone",
    "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0": "Firefox di Linux",
    "Mozilla/5.0 (Android 14; Mobile; rv:125.0) Gecko/125.0 Firefox/125.0": "Firefox di Android",
    f"{MAC} Chrome/124.0.0.0 Safari/537.36 Edg/124.0.0.0": "Edge di Mac",
    f"Mozilla/5.0 (Linux; Android 14; SAMSUNG SM-S918B) {WEBKIT} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile "
    "Safari/537.36": "Samsung Internet di Android",
    f"{WINDOWS} Chrome/123.0.0.0 Safari/537.36 OPR/109.0.0.0": "Opera di Windows",
    f"Mozilla/5.0 (Linux; Android 13; SM-A536E; wv) {WEBKIT} Version/4.0 Chrome/124.0.6367.82 Mobile "
    "Safari/537.36": "Aplikasi di Android",
    "okhttp/4.12.0": "Aplikasi",
    "Dalvik/2.1.0 (Linux; U; Android 13; Pixel 6)": "Perangkat Android",
    "curl/8.7.1": UNKNOWN,
    "": UNKNOWN,
}


def test_a_user_agent_gives_a_readable_device_name():
    assert {user_agent: name_of(user_agent) for user_agent in NAMES} == NAMES
    for name in NAMES.values():
        assert_readable(name)


def test_the_device_name_does_not_copy_text_from_the_user_agent():
    assert name_of("<script>alert(1)</script> Android") == "Perangkat Android"
    assert name_of("x" * MAX_USER_AGENT + "Android") == UNKNOWN
