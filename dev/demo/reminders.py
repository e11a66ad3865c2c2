"""Demo reminders: one of each type for the patient siti, and some for people of the module `crowd`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.pengingat import service
from app.pengingat.models import Pengingat
from app.pengingat.types.kontrol import Kontrol
from app.pengingat.types.obat import Obat
from app.pengingat.types.registry import TYPES
from dev.demo import crowd
from dev.demo.people import person
from dev.demo.places import FASKES

ZONE = "Asia/Jakarta"

VISIT: dict[str, Any] = {
    "nama_dokter": "dr. Ani",
    "spesialisasi": "Penyakit Dalam",
    "nama_faskes": "RSUD Cibabat",
    "frekuensi_kontrol": "1 bulan",
    "reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}],
}


#: Medicines for people of the module `crowd`: name, title of the reminder, and time of the dose in UTC. The list is
#: short, so that the page of sent messages (outbox) stays short.
DOSES = (
    ("Amlodipin", "Obat tekanan darah", "23:00"),
    ("Simvastatin", "Obat kolesterol", "14:00"),
    ("Levotiroksin", "Obat tiroid", "22:30"),
    ("Glibenklamid", "Obat gula", "00:30"),
)
WITH_DOSES = 12
VISITORS = 24


def fill() -> None:
    siti = person("siti").id
    if not _has_any(siti):
        soon = local_time.now() + timedelta(days=3)
        for tipe, each in TYPES.items():
            # Leave out the moment of the example's visit, because it is years away. The visit is then at `soon`.
            details = {name: value for name, value in each.example["details"].items() if name != "datetime"}
            judul = each.example["judul"]
            service.create(siti, {"tipe": tipe, "judul": judul, "timezone": ZONE, "details": details, "waktu": soon})
    others = crowd.ids()[2:]
    if not _has_any(others[0]):
        _fill_others(others)


def _fill_others(others: list[int]) -> None:
    """Create medicines for some people, and visits in the coming weeks. Answer half of today's doses."""
    for number, user_id in enumerate(others[:WITH_DOSES]):
        nama_obat, judul, jam = DOSES[number % len(DOSES)]
        dose = {"jam": jam, "jumlah": 1, "satuan": "tablet"}
        details = {"nama_obat": nama_obat, "frekuensi": 1, "aturan": "sebelum makan", "jadwal": [dose]}
        reminder = service.create(user_id, {"tipe": Obat.name, "judul": judul, "timezone": ZONE, "details": details})
        if number % 2:
            service.update(user_id, reminder.id, {"is_done": True})
    for number, user_id in enumerate(others[:VISITORS]):
        waktu = local_time.now() + timedelta(days=5 + number, hours=number % 6)
        visit = {**VISIT, "nama_faskes": FASKES[number % len(FASKES)][1], "reminder_offsets": [{"offset": "1d"}]}
        service.create(
            user_id,
            {"tipe": Kontrol.name, "judul": "Kontrol rutin", "timezone": ZONE, "details": visit, "waktu": waktu},
        )


def _has_any(user_id: int) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(Pengingat.user_id == user_id))))
