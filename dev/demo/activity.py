"""Demo activity logs of ninety days, and demo audit entries of administrators."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from random import Random

import orjson

from app.core.database.session import db
from app.core.lib.local_time import JAKARTA, now, today
from app.identity.audit import AuditAction
from app.identity.models import AuditEntry
from app.logs import jobs as logs
from dev.demo import people
from dev.demo.people import person

#: Log records: type, name, screen, description.
EVENTS = (
    ("screen", "buka_beranda", "Beranda", "Membuka beranda"),
    ("click", "buka_utas", "Forum", "Membuka utas"),
    ("screen", "buka_artikel", "Artikel", "Membaca artikel"),
    ("screen", "putar_video", "Video", "Menonton video senam"),
    ("screen", "cari_faskes", "Faskes", "Mencari fasilitas terdekat"),
    ("click", "obat_diminum", "Pengingat", "Menandai obat sudah diminum"),
)
ACTS: tuple[tuple[AuditAction, str, dict[str, object]], ...] = (
    (AuditAction.EXPORT, "export:users", {"format": "xlsx"}),
    (AuditAction.NIK_READ, "user:{id}", {}),
    (AuditAction.USER_CHANGED, "user:{id}", {"is_verified": True}),
    (AuditAction.ROLES_CHANGED, "user:{id}", {"given": ["pendamping"], "taken": []}),
)


def fill() -> None:
    chance = Random("activity")  # a fixed seed, so that the same records are created each time
    records = sorted(_records(chance), key=lambda record: str(record["created_at"]))
    logs.store({f"demo-{number}": orjson.dumps(record).decode() for number, record in enumerate(records)})
    actors = [person("superadmin").id, person("admin").id]
    for number, user in enumerate(people.crowd()):
        action, subject, details = ACTS[number % len(ACTS)]
        moment = now() - timedelta(days=people.DAYS * (1 - number / len(people.CROWD)))
        entry = AuditEntry(actor_id=actors[number % 2], action=action, subject=subject.format(id=user.id))
        entry.details, entry.ip, entry.created_at = details, "198.51.100.7", moment
        db.session.add(entry)
    db.session.flush()


def _records(chance: Random) -> Iterator[dict[str, object]]:
    """Yield the log records of each day. People have no records before their registration. Weekends have fewer."""
    everybody = [*map(person, people.LOGINS), *people.crowd()]
    for day in (today() - timedelta(days=ago) for ago in range(people.DAYS, -1, -1)):
        share = 0.35 if day.weekday() >= 5 else 0.5
        for user in everybody:
            begin = datetime.combine(day, time(5), JAKARTA) + timedelta(minutes=chance.randint(0, 16 * 60))
            if chance.random() < share and user.created_at < begin < now():
                yield from _session(user.id, begin, chance)


def _session(user_id: int, begin: datetime, chance: Random) -> Iterator[dict[str, object]]:
    for event_type, event_name, screen, description in chance.choices(EVENTS, k=chance.randint(1, 5)):
        yield {
            "log": "user",
            "user_id": user_id,
            "event_type": event_type,
            "event_name": event_name,
            "screen_name": screen,
            "activity_description": description,
            "session_id": f"demo-{user_id}-{begin:%j}",
            "remote_ip": "203.0.113.7",
            "user_agent": "Android 15; Chrome 141",
            "extra": {},
            "created_at": begin.isoformat(),
        }
        begin = min(begin + timedelta(seconds=chance.randint(5, 240)), now())
