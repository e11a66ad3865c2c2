"""Fixtures: a fixed clock, request bodies of reminders, and a caregiver who may receive alerts."""

import re
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.core.database import db_time
from app.core.lib import local_time
from app.pengingat.ledger import queries
from app.pengingat.one_tap import links
from tests.pengingat.answering import create, dose
from tests.pengingat.ledgers import NOW, Time, caregiver_of
from tests.pengingat.links import ADDRESS, payloads


@pytest.fixture
def moment(monkeypatch):
    time = Time()
    monkeypatch.setattr(local_time, "now", lambda: time.now)
    monkeypatch.setattr(db_time, "now", lambda: time.now)
    monkeypatch.setattr(db_time, "now_sql", lambda: sa.literal(time.now))
    hold, read = queries.lock_own_many, links.read
    monkeypatch.setattr(queries, "lock_own_many", lambda *which: replace(hold(*which), now=time.now))
    monkeypatch.setattr(links, "read", lambda by_link: (read(by_link)[0], time.now))
    return time


@pytest.fixture
def obat():
    """Return the request body of a medicine with doses at 07:00 and 19:00 in Jakarta."""
    return {
        "judul": "Obat diabetes",
        "details": {
            "nama_obat": "Metformin",
            "frekuensi": 2,
            "aturan": "sesudah makan",
            "jadwal": [dose("00:00"), dose("12:00", 0.5)],
        },
    }


@pytest.fixture
def kontrol():
    return {
        "tipe": "kontrol",
        "judul": "Kontrol bulanan",
        "waktu": "2026-03-03T03:00:00Z",
        "details": {"nama_dokter": "dr. Ani", "reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}]},
    }


@pytest.fixture
def metformin(siti, moment, obat):
    """Return a medicine that is due today at 12:00 UTC, and tomorrow at 00:00 and 12:00 UTC. It is now 01:00 UTC."""
    return create(siti, obat)


@pytest.fixture
def public(app, change_settings):
    """Set `public_url`, so that messages contain links."""
    change_settings(public_url=ADDRESS)


@pytest.fixture
def token(public, siti, moment, obat):
    """Return the token in the web link of a dose that was due five minutes ago, at 19:00 in Jakarta (12:00 UTC)."""
    siti.post("/pengingat/obat", obat)
    moment.move(hours=11, minutes=5)
    text = str(payloads("messaging")[0]["text"])
    (found,) = re.findall(rf"{ADDRESS}/k/([A-Za-z0-9_-]{{22}})\Z", text)
    return str(found)


@pytest.fixture
def siti_id(siti):
    return siti.id


@pytest.fixture
def caregiver_id(siti_id):
    """Return the id of a caregiver in the time zone of Jakarta to whom the patient grants `alerts`."""
    return caregiver_of(siti_id)


__all__ = ["NOW"]  # exported for the tests of the inbox
