"""Demo people: four logins for developers, and 56 people (the crowd) for the tables and charts of administrators.

All of them have the same password.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity import users
from app.identity.care import CaregiverLink, Scope
from app.identity.models import RoleName, SessionKind, User
from app.identity.sessions import Caller

PASSWORD = "rahasia123"
#: Days of demo history before today.
DAYS = 90

PEOPLE = (
    ("superadmin", RoleName.SUPERADMIN, "Sri Wahyuni", "Anggrek", "081200000001", "DKI Jakarta"),
    ("admin", RoleName.ADMIN, "Agus Santoso", "Kenanga", "081200000002", "DKI Jakarta"),
    ("siti", RoleName.PASIEN, "Siti Aminah", "Melati", "081234567890", "Jawa Barat"),
    ("budi", RoleName.PENDAMPING, "Budi Hartono", "Elang", "081298765432", "Jawa Barat"),
)
LOGINS = tuple(person[0] for person in PEOPLE)

FIRST_NAMES = (
    "Dewi", "Rina", "Ahmad", "Agung", "Ayu", "Bambang", "Cahya", "Eko", "Fitri", "Galih", "Hana", "Imam", "Komang",
    "Maria",
)  # fmt: skip
LAST_NAMES = ("Lestari", "Puspita", "Siregar", "Wijaya")
NAMES = tuple(f"{first} {last}" for last in LAST_NAMES for first in FIRST_NAMES)
#: Usernames of the crowd. Every third person is a caregiver, the others are patients.
CROWD = tuple(name.lower().replace(" ", ".") for name in NAMES)
PATIENTS = tuple(username for number, username in enumerate(CROWD) if number % 3 != 2)

PROVINCES = (
    "Jawa Barat", "DKI Jakarta", "Jawa Timur", "Jawa Tengah", "Banten", "DI Yogyakarta", "Bali", "Sumatera Utara",
    "Sulawesi Selatan", "Lampung", "Kalimantan Timur", "Papua",
)  # fmt: skip


def fill() -> None:
    for username, role, nama_ktp, nama_samaran, nomor_hp, domicile in PEOPLE:
        wishes = {"medical": True, "mental_health": True, "religion": ["islam"], "moderation": role == RoleName.ADMIN}
        user = _add(username, role, nama_ktp, nama_samaran, nomor_hp, domicile, wishes)
        # After 90 days without use, an unverified number gets no reset link.
        user.is_verified, user.created_at = True, now() - timedelta(days=DAYS - 1)
    for number, username in enumerate(CROWD):
        role = RoleName.PASIEN if username in PATIENTS else RoleName.PENDAMPING
        # The remainder of a remainder is often small, so most people live in the first provinces.
        province = PROVINCES[number % (number % len(PROVINCES) + 1)]
        alias, phone = f"Mawar {number}", f"0812000001{number:02}"
        # The crowd gets no broadcasts, so that the outbox of a developer stays short.
        user = _add(username, role, NAMES[number], alias, phone, province, {"medical": True, "broadcast": False})
        user.is_verified = number % 4 != 1
        # More people register in recent weeks.
        user.created_at = now() - timedelta(days=DAYS * (1 - (number / len(CROWD)) ** 0.6))
    caregivers.create(person("budi").id, person("siti").id, list(Scope))
    # Person 0 is a patient, person 2 the patient's caregiver, and so on.
    linked = [user.id for user in crowd()]
    for patient_id, caregiver_id in zip(linked[::3], linked[2::3], strict=False):
        db.session.add(CaregiverLink(caregiver_id=caregiver_id, patient_id=patient_id))
    db.session.flush()


def _add(
    username: str, role: RoleName, nama_ktp: str, nama_samaran: str, nomor_hp: str, domicile: str, wishes: object
) -> User:
    data = {
        "username": username,
        "password": PASSWORD,
        "nama_ktp": nama_ktp,
        "nama_samaran": nama_samaran,
        "nomor_hp": nomor_hp,
        "domicile": domicile,
        "preferences": wishes,
    }
    return users.create(data, [role])


def person(username: str) -> User:
    return db.session.scalars(sa.select(User).where(User.username == username)).one()


def caller(username: str) -> Caller:
    user = person(username)
    return Caller(user.id, frozenset(user.role_names), uuid.uuid4(), SessionKind.USER)


def crowd() -> list[User]:
    """Return the people of the crowd in the order of `CROWD`."""
    return list(db.session.scalars(sa.select(User).where(User.username.in_(CROWD)).order_by(User.id)))
