"""Reminders of siti: one of each type."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import clock
from app.pengingat import service
from app.pengingat.models import Pengingat, Tipe
from dev.demo.people import person

ZONE = "Asia/Jakarta"

MEDICINE: dict[str, Any] = {
    "nama_obat": "Metformin",
    "frekuensi": 2,
    "aturan": "setelah makan",
    "jadwal": [
        {"jam": "00:00", "jumlah": 1, "satuan": "tablet"},
        {"jam": "12:00", "jumlah": 1, "satuan": "tablet"},
    ],
}
MEALS: dict[str, Any] = {
    "sarapan": {"jam": "23:30", "karbohidrat": "oatmeal", "protein": "telur rebus", "serat": "apel"},
    "makan_siang": {"jam": "05:00", "karbohidrat": "nasi merah", "protein": "ikan pepes", "serat": "bayam"},
    "makan_malam": {"jam": "11:30", "karbohidrat": "kentang", "protein": "tempe", "vitamin": "jeruk"},
}
THERAPY: dict[str, Any] = {
    "jenis_terapi": "Fisioterapi",
    "tempat_terapi": "RSUD Cibabat",
    "jadwal": [{"hari": "senin", "jam": "02:00"}, {"hari": "kamis", "jam": "02:00"}],
}
VISIT: dict[str, Any] = {
    "nama_dokter": "dr. Ani",
    "spesialisasi": "Penyakit Dalam",
    "nama_faskes": "RSUD Cibabat",
    "frekuensi_kontrol": "1 bulan",
    "reminder_offsets": [{"offset": "1h"}, {"offset": "1d"}],
}


def fill() -> None:
    siti = person("siti").id
    if db.session.scalar(sa.select(sa.exists().where(Pengingat.user_id == siti))):
        return
    soon = clock.now() + timedelta(days=3)
    for tipe, judul, details in (
        (Tipe.OBAT, "Obat diabetes", MEDICINE),
        (Tipe.MAKAN, "Menu harian", MEALS),
        (Tipe.TERAPI, "Fisioterapi lutut", THERAPY),
        (Tipe.KONTROL, "Kontrol bulanan", VISIT),
    ):
        service.create(siti, {"tipe": tipe, "judul": judul, "timezone": ZONE, "details": details, "waktu": soon})
