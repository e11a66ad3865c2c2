"""Templates and webhook addresses in deploy/messaging.md match the code."""

import json
import re

from app import check
from app.notifications.delivery import message_format
from app.privacy.service.delivery_labels import TITLES
from config import ROOT

TEXT = (ROOT / "deploy/messaging.md").read_text(encoding="utf-8")
#: Category and text of each template, by name.
TEMPLATES = {
    name: (category, text)
    for name, category, text in re.findall(r"^\| `(\w+)` \| (\w+) \| (.+?) \| .+ \|$", TEXT, re.MULTILINE)
}
(SETTING,) = re.findall(r"WHATSAPP_TEMPLATES='(.+)'", TEXT)
KINDS = json.loads(SETTING)


def test_the_setting_names_every_template_and_every_kind_that_needs_one():
    assert set(KINDS.values()) == TEMPLATES.keys()
    assert set(KINDS) == set(check.TEMPLATES)
    assert TITLES.keys() - set(KINDS) == {"password_reset", "moderation", "push"}, "they go by another way"


def test_a_template_text_follows_the_rules_of_meta():
    for name, (_, text) in TEMPLATES.items():
        blanks = re.findall(r"\{\{(\d)\}\}", text)
        assert blanks == [str(n) for n in range(1, len(blanks) + 1)], name
        assert re.match(r"\w", text), name
        assert re.search(r"\w[.]$", text), name
        words = [word for word in text.split() if re.search(r"\w{2}", word)]
        assert len(words) >= 2 * len(blanks) + 1, name
        assert len(text) < 200, name


def test_a_message_fills_all_parameters_of_its_template(whatsapp):
    whatsapp(WHATSAPP_APP_SECRET="s", WHATSAPP_TEMPLATES=SETTING)
    for kind in KINDS:
        parts = {"reminder": {"name": "Siti", "tipe": "obat", "token": "t"}, "stock": {"name": "Siti"}}.get(kind, {})
        words = {"text": "Halo Siti, ada kabar.", "parts": parts}
        template = message_format.format_of(kind, words, is_open=False).template
        assert len(template.parameters) == TEMPLATES[template.name][1].count("{{"), kind
        assert bool(template.payloads) == (kind == "reminder"), kind


def test_the_documented_webhook_addresses_are_routes(app):
    rules = {str(rule) for rule in app.url_map.iter_rules()}
    addresses = set(re.findall(r"`PUBLIC_URL(/[^`]+)`", TEXT))
    assert len(addresses) == 4
    assert {address.replace("SECRET", "<token>") for address in addresses} <= rules
