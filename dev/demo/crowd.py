"""Fifty-six more demo people (the crowd), for the tables, maps and charts of administrators.

These people have registered in the last ninety days. Except for these times, their data is the same in each
installation. The modules `conversations`, `reminders` and `activity` add threads, reminders and logs of these people.
All these people have the password of the demo.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity import passwords, phones, preferences, users
from app.identity.care import CaregiverLink
from app.identity.models import Role, RoleName, User, user_roles
from dev.demo.people import PASSWORD

#: Days of demo history before today.
DAYS = 90

NAMES = (
    "Dewi Lestari", "Rina Puspita", "Ahmad Fauzi", "Agung Prasetyo", "Ayu Wulandari", "Bambang Susilo", "Cahya Ningrum",
    "Danang Wibowo", "Desi Ratnasari", "Eko Purnomo", "Endang Sulastri", "Fajar Ramadhan", "Fitri Handayani",
    "Galih Saputra", "Gita Permata", "Hadi Kusuma", "Hana Safitri", "Hendra Wijaya", "Ida Rosida", "Imam Hidayat",
    "Indah Kartika", "Irfan Maulana", "Jaya Kurniawan", "Kartini Sari", "Kevin Sitorus", "Komang Artana", "Lia Amelia",
    "Lukman Hakim", "Made Sukarta", "Maria Tambunan", "Maya Anggraini", "Nanda Pratiwi", "Nur Aini", "Ni Luh Ayu",
    "Oki Firmansyah", "Putri Maharani", "Rahmat Siregar", "Ratih Kumala", "Rizky Aditya", "Rudi Tanoto",
    "Samuel Rumbiak", "Sari Melati", "Sinta Dewanti", "Slamet Riyadi", "Sulaiman Daud", "Teguh Santosa",
    "Theresia Manu", "Tika Rahayu", "Titin Suryani", "Umar Said", "Vina Oktaviani", "Wahyu Nugraha", "Wulan Sekar",
    "Yanti Marlina", "Yusuf Habibi", "Zahra Nabila",
)  # fmt: skip

PSEUDONYMS = ("Mawar", "Cempaka", "Merpati", "Kamboja", "Rajawali", "Teratai", "Bangau", "Dahlia", "Seruni", "Kutilang")

#: Relative frequency of each province among these people.
PROVINCES = {
    "Jawa Barat": 11, "DKI Jakarta": 8, "Jawa Timur": 8, "Jawa Tengah": 7, "Banten": 4, "DI Yogyakarta": 3, "Bali": 3,
    "Sumatera Utara": 3, "Sulawesi Selatan": 2, "Sumatera Selatan": 2, "Lampung": 1, "Aceh": 1, "Kalimantan Timur": 1,
    "Nusa Tenggara Timur": 1, "Papua": 1,
}  # fmt: skip

BELIEFS = ("islam", "islam", "islam", "kristen", "katolik", "hindu")

LINKS = 18


def fill() -> None:
    if users.username_exists(usernames()[0]):
        return
    chance = Random("crowd")  # a fixed seed, so that the same people are created each time
    people = _add_people(chance)
    _add_links(people, chance)


def usernames() -> list[str]:
    return [name.lower().replace(" ", ".") for name in NAMES]


def ids() -> list[int]:
    """Return the ids of the demo people, in the order of `NAMES`."""
    by_name = dict(db.session.execute(sa.select(User.username, User.id).where(User.username.in_(usernames()))).all())
    return [by_name[username] for username in usernames()]


def roles_of(number: int) -> tuple[RoleName, ...]:
    """Return the roles of the person with this number.

    The first two people are administrators. Among the others there are two patients for each caregiver. Some people are
    both patient and caregiver.
    """
    if number < 2:
        return (RoleName.ADMIN,)
    if number % 19 == 0:
        return (RoleName.PASIEN, RoleName.PENDAMPING)
    return (RoleName.PENDAMPING,) if number % 3 == 2 else (RoleName.PASIEN,)


def _add_people(chance: Random) -> list[int]:
    password_hash = passwords.hash_password(PASSWORD)  # one hash for all people, because a hash takes 0.05 s
    provinces = chance.choices(list(PROVINCES), list(PROVINCES.values()), k=len(NAMES))
    rows = []
    for number, (name, username, joined) in enumerate(zip(NAMES, usernames(), _moments(chance), strict=True)):
        nomor_hp = f"0812000001{number:02}"
        wishes = {"medical": True, "mental_health": number % 3 == 0, "religion": [chance.choice(BELIEFS)]}
        # These people get no broadcasts. Otherwise each new forum thread of a developer would send a broadcast to all
        # of them.
        wishes["broadcast"] = False
        rows.append(
            {
                "username": username,
                "email": f"{username}@contoh.id" if number % 4 else None,
                "password_hash": password_hash,
                "nama_ktp": name,
                "nama_samaran": f"{PSEUDONYMS[number % len(PSEUDONYMS)]} {number}" if number % 5 else None,
                "nomor_hp": nomor_hp,
                "phone": phones.normalise(nomor_hp),
                "is_staff": RoleName.ADMIN in roles_of(number),
                "domicile": provinces[number] if number % 11 else None,
                "preferences": wishes,
                "preference_tags": preferences.tags(wishes),
                "accepts_broadcasts": preferences.broadcast_choice(wishes) is not False,
                "is_verified": number % 4 != 1,
                "created_at": joined,
                "updated_at": joined,
            }
        )
    people = list(db.session.scalars(sa.insert(User).returning(User.id, sort_by_parameter_order=True), rows))
    role_ids = {name: id_ for id_, name in db.session.execute(sa.select(Role.id, Role.name))}
    held = [
        {"user_id": id_, "role_id": role_ids[role]} for number, id_ in enumerate(people) for role in roles_of(number)
    ]
    db.session.execute(sa.insert(user_roles), held)
    return people


def _moments(chance: Random) -> list[datetime]:
    """Return the people's registration times, oldest first. More people register in recent weeks."""
    latest = now() - timedelta(hours=2)
    days = sorted((DAYS * (1 - chance.random() ** 0.6) for _ in NAMES), reverse=True)
    return [latest - timedelta(days=day, hours=chance.random() * 8) for day in days]


def _add_links(people: Sequence[int], chance: Random) -> None:
    caregivers = [id_ for number, id_ in enumerate(people) if roles_of(number) == (RoleName.PENDAMPING,)]
    patients = [id_ for number, id_ in enumerate(people) if roles_of(number) == (RoleName.PASIEN,)]
    pairs = zip(chance.choices(caregivers, k=LINKS), chance.sample(patients, LINKS), strict=True)
    moments = sorted(now() - timedelta(days=chance.random() * 20) for _ in range(LINKS))
    rows = [
        {"caregiver_id": caregiver, "patient_id": patient, "created_at": moment}
        for (caregiver, patient), moment in zip(pairs, moments, strict=True)
    ]
    db.session.execute(sa.insert(CaregiverLink), rows)
