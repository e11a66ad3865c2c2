"""The setting `CONTACT`. If it is set, every sentence about the administrator contains the contact.

If it is not set, no sentence mentions the administrator.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from app.accounts import notices
from app.privacy.service import delivery_labels
from config import Config
from tests.core.production import GOOD
from tests.helpers.language import assert_readable

CONTACT = "WhatsApp 0811-1234-567, Senin-Jumat 08.00-16.00"


def delivery(**payload):
    return [SimpleNamespace(id=1, channel="messaging", payload=payload)]


#: Functions for all sentences that can end with the administrator's contact.
SENTENCES = {
    "account changed": lambda: notices.render(delivery(event=notices.ACCOUNT_CHANGED, fields=["email"]))[1]["text"],
    "number taken": lambda: notices.render(delivery(event=notices.NUMBER_WAS_TAKEN))[1]["text"],
    "delivery failed": lambda: delivery_labels.with_contact(delivery_labels.FAILED),
    "delivery unreached": lambda: delivery_labels.with_contact(delivery_labels.UNREACHED),
    "delivery late": lambda: delivery_labels.with_contact(delivery_labels.LATE),
}


@pytest.fixture
def contact(app, monkeypatch):
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], contact=CONTACT))


def test_a_sentence_about_the_administrator_ends_with_the_contact_on_one_line(contact):
    assert Config.from_env({**GOOD, "CONTACT": "a\n b"}).contact == "a b"
    for name, render in SENTENCES.items():
        text = render()
        assert text.endswith(f" hubungi administrator ({CONTACT})."), name
        assert_readable(text.removesuffix(f" ({CONTACT})."))


def test_without_a_contact_no_sentence_says_whom_to_contact(app):
    for name, render in SENTENCES.items():
        text = render()
        assert "hubungi" not in text, name
        assert text.endswith("."), name
        assert_readable(text)


def test_a_500_response_contains_the_administrator_contact(app, client, contact, monkeypatch):
    monkeypatch.setattr("app.accounts.service.check_username", Mock(side_effect=RuntimeError))
    monkeypatch.setitem(app.config, "PROPAGATE_EXCEPTIONS", False)
    body = client.post("/auth/check-username", {"username": "siti"}).ok(500)
    assert body["message"] == (
        f"Terjadi kesalahan pada layanan. Silakan coba lagi. Jika terulang, hubungi administrator ({CONTACT})."
    )


def test_only_the_contact_module_contains_the_text_hubungi_administrator():
    """Only the module of `ask_administrator` contains the phrase "hubungi administrator"."""
    root = Path(__file__).resolve().parents[2] / "app"
    files = [path for path in root.rglob("*") if path.suffix in (".py", ".html", ".js")]
    named = [path for path in files if "hubungi administrator" in path.read_text().lower()]
    assert named == [root / "core/contact.py"]
