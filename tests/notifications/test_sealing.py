"""Texts that are stored only in the outbox are encrypted there."""

import base64
from dataclasses import replace

import pytest

from app.identity import field_encryption
from app.notifications import jobs
from app.notifications.delivery import sealing
from tests.helpers.apps import config_for_tests
from tests.notifications.deliveries import add, reread

OLD, NEW = (f"{name}:{base64.b64encode(name[0].encode() * 32).decode()}" for name in ("old", "new"))


def use_keys(app, monkeypatch, keys):
    config = replace(app.extensions["config"], nik_keys=config_for_tests(NIK_KEYS=keys).nik_keys)
    monkeypatch.setitem(app.extensions, "config", config)


def test_a_sealed_text_cannot_be_decrypted_for_another_user(app):
    sealed = sealing.seal({"text": "rahasia"}, 7)
    assert "rahasia" not in sealed
    with pytest.raises(field_encryption.UndecryptableField):
        sealing.unseal(sealed, 8)


def test_production_does_not_keep_the_text_of_a_sent_delivery(committed, monkeypatch):
    for environment, kept in (("testing", {"text": "rahasia"}), ("production", None)):
        config = replace(committed.extensions["config"], environment=environment)
        monkeypatch.setitem(committed.extensions, "config", config)
        row = add(words={"text": "rahasia"})
        jobs.drain("urgent")
        row = reread(row.dedupe_key)
        assert (row.sealed and sealing.unseal(row.sealed, None)) == kept, environment
