"""Allowed addresses of the ministry's articles."""

import pytest

from app.providers.ministry import Ministry, UrlNotAllowed
from config import Config

HOST = "ayosehat.kemkes.go.id"
#: Addresses that another website may contain and that the service must not open. The first one uses http, which is
#: allowed only if the configured site also uses http. Later ones have a full-width dot and a circled letter.
HOSTILE = [
    f"http://{HOST}/artikel", "", "artikel", "/artikel", f"//{HOST}/artikel", f"ftp://{HOST}/artikel",
    "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://evil.example/artikel",
    f"https://{HOST}.evil.example/", f"https://evil-{HOST}/", f"https://evil.example/{HOST}",
    f"https://{HOST}@evil.example/", f"https://evil.example@{HOST}/", f"https://{HOST}:secret@evil.example/",
    f"https://evil.example\\@{HOST}/", f"https://{HOST}\\.evil.example/", f"https://evil.example#@{HOST}/",
    f"https://{HOST}%00.evil.example/", f"https://{HOST}%2eevil.example/", f"https://{HOST}:8443/",
    f"https://{HOST}:443443/", f"https://{HOST}./artikel", f"https://{HOST}\t.evil.example/",
    f"https://{HOST}/\r\nHost: evil.example", f"https://{HOST}\uff0eevil.example/",
    "https://ayosehat.kemkes.go.\u24d8d/", "https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/",
    "https://017700000001/", "https://[::ffff:127.0.0.1]/", "https://[::1]/", "https://localhost/",
    "https://169.254.169.254/latest/meta-data/", f"https://{HOST}/" + "a" * 3000,
]  # fmt: skip


def test_a_hostile_address_is_refused(subtests):
    ministry = Ministry.from_config(Config.from_env({"ENVIRONMENT": "testing"}))
    for url in HOSTILE:
        with subtests.test(url), pytest.raises(UrlNotAllowed):
            ministry.article(url)


def test_an_allowed_address_is_normalised():
    allowed = {
        f"https://{HOST}/mengenal-diabetes": f"https://{HOST}/mengenal-diabetes",
        f"HTTPS://{HOST.upper()}:443/a/../b?utm_source=x&id=1#isi": f"https://{HOST}/b?id=1",
        f"https://{HOST}/gizi%20anak/é": f"https://{HOST}/gizi%20anak/%C3%A9",
    }
    ministry = Ministry.from_config(Config.from_env({"ENVIRONMENT": "testing"}))
    assert {url: ministry.allowed(url) for url in allowed} == allowed


def test_plain_http_is_allowed_only_for_the_origin_of_the_article_source():
    env = {"ENVIRONMENT": "testing", "ARTICLE_SOURCE_URL": "http://127.0.0.1:9/artikel"}
    ministry = Ministry.from_config(Config.from_env({**env, "ARTICLE_HOSTS": "127.0.0.1:9,other.example:9"}))
    assert ministry.allowed("http://127.0.0.1:9/x") == "http://127.0.0.1:9/x"
    assert ministry.allowed("https://other.example:9/x") == "https://other.example:9/x"
    for url in ("http://other.example:9/x", "http://127.0.0.1:10/x", "http://127.0.0.1/x", "https://other.example/x"):
        with pytest.raises(UrlNotAllowed):
            ministry.allowed(url)
