"""What reminders say: what, how much and when, in Indonesian and in the person's own zone."""

from __future__ import annotations

from datetime import datetime

from app.core.lib.clock import day_text
from app.pengingat.models import Details, Pengingat, Tipe
from app.pengingat.schedule import Due

DAYS = ("Senin", "Selasa", "Rabu", "Kamis", "Jumat", "Sabtu", "Minggu")
MEALS = {
    "sarapan": "sarapan",
    "makan_siang": "makan siang",
    "makan_malam": "makan malam",
    "selingan": "makan selingan",
}
NUTRIENTS = ("karbohidrat", "protein", "lemak", "vitamin", "serat")
LEADS = {"1h": "1 jam lagi", "1d": "besok"}

#: A push is small, and shown in a few lines anyway.
PUSH_CHARACTERS = 400


def message(pengingat: Pengingat, due: Due, name: str) -> str:
    """`Halo Siti, waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB.`"""
    return f"Halo {first_name(name)}, {_sentence(pengingat, due)}"


def push(pengingat: Pengingat, due: Due) -> dict[str, str]:
    sentence = _sentence(pengingat, due)
    body = sentence[0].upper() + sentence[1:]
    if len(body) > PUSH_CHARACTERS:
        body = body[: PUSH_CHARACTERS - 1] + "…"
    return {"title": f"Pengingat: {pengingat.judul}"[:PUSH_CHARACTERS], "body": body}


def first_name(name: str) -> str:
    return name.split(maxsplit=1)[0] if name.strip() else name


def clock_time(moment: datetime) -> str:
    """`07.00 WIB`; outside Indonesia the zone's own abbreviation, or its distance from UTC."""
    zone = moment.tzname() or ""
    if not zone.isalpha():
        offset = moment.strftime("%z")
        zone = f"UTC{offset[:3]}" + (f":{offset[3:5]}" if offset[3:5] != "00" else "")
    return f"{moment:%H.%M} {zone}"


def calendar_day(moment: datetime) -> str:
    """`Selasa, 10 Maret 2026`"""
    return f"{DAYS[moment.weekday()]}, {day_text(moment)}"


def amount(number: float) -> str:
    """`1`, `0,5`"""
    return f"{number:g}".replace(".", ",")


def _sentence(pengingat: Pengingat, due: Due) -> str:
    local = due.occurrence.astimezone(pengingat.zone)
    at = f"pukul {clock_time(local)}"
    details = pengingat.details
    match Tipe(pengingat.tipe):
        case Tipe.OBAT:
            dose = details["jadwal"][int(due.slot)]
            how = ", ".join([f"{amount(dose['jumlah'])} {dose['satuan']}", details["aturan"]])
            return f"waktunya minum {details['nama_obat']} ({how}) {at}."
        case Tipe.MAKAN:
            return f"waktunya {MEALS.get(due.slot, 'makan')} {at}.{_menu(details.get(due.slot))}"
        case Tipe.TERAPI:
            what = _joined(details.get("jenis_terapi") or pengingat.judul)
            return f"waktunya terapi {what}{_place(details.get('tempat_terapi'))} {at}."
        case Tipe.KONTROL:
            lead = f"{LEADS[due.slot]} " if due.slot in LEADS else ""
            return f"{lead}jadwal kontrol{_visit(pengingat)}, {calendar_day(local)} {at}."


def _menu(meal: Details | None) -> str:
    named = [f"{name} {_joined(meal[name])}" for name in NUTRIENTS if meal and meal.get(name)]
    return f" Menu: {'; '.join(named)}." if named else ""


def _visit(pengingat: Pengingat) -> str:
    details = pengingat.details
    doctor = details.get("nama_dokter")
    field = f" ({_joined(details['spesialisasi'])})" if details.get("spesialisasi") else ""
    who = f" dengan {_joined(doctor)}{field}" if doctor else f" {pengingat.judul}"
    return who + _place(details.get("nama_faskes"))


def _place(name: object) -> str:
    return f" di {_joined(name)}" if name else ""


def _joined(value: object) -> str:
    """One line out of what somebody wrote."""
    return " ".join(str(value).split())
