"""The four people with demo logins, and a link between a caregiver and a patient."""

from __future__ import annotations

import uuid
from datetime import timedelta

import sqlalchemy as sa

from app.caregivers import service as caregivers
from app.core.database.session import db
from app.core.lib import local_time
from app.identity import users
from app.identity.care import Scope
from app.identity.models import RoleName, SessionKind, User
from app.identity.sessions import Caller
from app.kategori.models import Kategori

PASSWORD = "rahasia123"

PEOPLE = (
    ("superadmin", RoleName.SUPERADMIN, "Sri Wahyuni", "Anggrek", "081200000001", "DKI Jakarta"),
    ("admin", RoleName.ADMIN, "Agus Santoso", "Kenanga", "081200000002", "DKI Jakarta"),
    ("siti", RoleName.PASIEN, "Siti Aminah", "Melati", "081234567890", "Jawa Barat"),
    ("budi", RoleName.PENDAMPING, "Budi Hartono", "Elang", "081298765432", "Jawa Barat"),
)
LOGINS = tuple(person[0] for person in PEOPLE)


def fill() -> None:
    for username, role, nama_ktp, nama_samaran, nomor_hp, domicile in PEOPLE:
        if not users.username_exists(username):
            user = users.create(
                {
                    "username": username,
                    "password": PASSWORD,
                    "nama_ktp": nama_ktp,
                    "nama_samaran": nama_samaran,
                    "nomor_hp": nomor_hp,
                    "domicile": domicile,
                    "preferences": {
                        "medical": True,
                        "mental_health": True,
                        "religion": ["islam"],
                        "moderation": role == RoleName.ADMIN,
                    },
                },
                [role],
            )
            user.is_verified = True
            # Set the registration of these four people before all others, so that the chart of new users has no peak
            # today.
            user.created_at = local_time.now() - timedelta(days=91)
    caregivers.create(person("budi").id, person("siti").id, list(Scope))
    for name in ("Gizi", "Penyakit Kronis", "Kesehatan Mental", "Ibu dan Anak"):
        if not db.session.scalar(sa.select(sa.exists().where(Kategori.nama_kategori == name))):
            db.session.add(Kategori(nama_kategori=name))
    db.session.flush()


def person(username: str) -> User:
    return db.session.scalars(sa.select(User).where(User.username == username)).one()


def caller(username: str) -> Caller:
    user = person(username)
    return Caller(user.id, frozenset(user.role_names), uuid.uuid4(), SessionKind.USER)
