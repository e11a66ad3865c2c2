"""Demo activity logs of ninety days, and demo audit entries of administrators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from random import Random
from typing import Any

import orjson
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import JAKARTA, now, today
from app.identity.audit import AuditAction
from app.identity.models import AuditEntry, User
from app.logs import jobs as logs
from app.logs.models import ActivityLog
from dev.demo import crowd
from dev.demo.people import LOGINS, person

FIRST_SESSION = "demo-0"

#: Log records: type, name, screen, description.
EVENTS = (
    ("screen", "buka_beranda", "Beranda", "Membuka beranda"),
    ("screen", "buka_forum", "Forum", "Membaca forum"),
    ("click", "buka_utas", "Forum", "Membuka utas"),
    ("click", "suka_utas", "Forum", "Menyukai utas"),
    ("screen", "buka_artikel", "Artikel", "Membaca artikel"),
    ("click", "simpan_artikel", "Artikel", "Menyimpan artikel"),
    ("screen", "putar_video", "Video", "Menonton video senam"),
    ("screen", "cari_faskes", "Faskes", "Mencari fasilitas terdekat"),
    ("click", "obat_diminum", "Pengingat", "Menandai obat sudah diminum"),
    ("screen", "buka_pengingat", "Pengingat", "Melihat pengingat hari ini"),
    ("screen", "buka_profil", "Profil", "Membuka profil"),
    ("click", "telepon_darurat", "Darurat", "Menghubungi nomor darurat"),
)
WEIGHTS = (18, 12, 10, 5, 10, 3, 5, 4, 14, 14, 3, 1)
AGENTS = ("Android 15; Chrome 141", "Android 13; Chrome 139", "iPhone; Safari 19", "Windows; Edge 141")

#: Days between two actions of administrators in the audit log.
ACT_EVERY_DAYS = 1.5
ACTS: tuple[tuple[AuditAction, str, Mapping[str, object]], ...] = (
    (AuditAction.EXPORT, "export:users", {"format": "xlsx"}),
    (AuditAction.EXPORT, "export:activity-logs", {"format": "csv"}),
    (AuditAction.EXPORT, "export:domicile", {"format": "pdf"}),
    (AuditAction.NIK_READ, "user:{id}", {}),
    (AuditAction.PSEUDONYM_READ, "user:{id}", {}),
    (AuditAction.USER_CHANGED, "user:{id}", {"is_verified": True}),
    (AuditAction.ROLES_CHANGED, "user:{id}", {"given": ["pendamping"], "taken": []}),
    (AuditAction.DELETED, "articles/{id}", {}),
)


def fill() -> None:
    if db.session.scalar(sa.select(sa.exists().where(ActivityLog.session_id == FIRST_SESSION))):
        return
    records = sorted(_records(Random("activity")), key=lambda record: str(record["created_at"]))
    logs.store({f"demo-{n}": orjson.dumps(record).decode() for n, record in enumerate(records)})
    _add_audit_entries(Random("audit"))


def _records(chance: Random) -> Iterator[Mapping[str, object]]:
    """Yield the log records of each day. People have no records before their registration. Weekends have fewer."""
    wanted = User.username.in_([*LOGINS, *crowd.usernames()])
    people = db.session.execute(sa.select(User.id, User.created_at).where(wanted).order_by(User.id)).all()
    session = 0
    for ago in range(crowd.DAYS, -1, -1):
        day = today() - timedelta(days=ago)
        share = 0.35 if day.weekday() >= 5 else 0.5
        for user_id, joined in people:
            begin = datetime.combine(day, time(5), JAKARTA) + timedelta(minutes=chance.randint(0, 16 * 60))
            if chance.random() < share and joined < begin < now():
                yield from _session(f"demo-{session}", user_id, begin, chance)
                session += 1


def _session(name: str, user_id: int, begin: datetime, chance: Random) -> Iterator[Mapping[str, object]]:
    agent, address = chance.choice(AGENTS), f"203.0.113.{chance.randint(1, 254)}"
    for event_type, event_name, screen, description in chance.choices(EVENTS, WEIGHTS, k=chance.randint(1, 5)):
        yield {
            "log": "user",
            "user_id": user_id,
            "event_type": event_type,
            "event_name": event_name,
            "screen_name": screen,
            "activity_description": description,
            "session_id": name,
            "remote_ip": address,
            "user_agent": agent,
            "extra": {},
            "created_at": begin.isoformat(),
        }
        begin = min(begin + timedelta(seconds=chance.randint(5, 240)), now())


def _add_audit_entries(chance: Random) -> None:
    people = crowd.ids()
    admins = [person("superadmin").id, person("admin").id, *people[:2]]
    rows: list[dict[str, Any]] = []
    for number in range(int(crowd.DAYS / ACT_EVERY_DAYS)):
        action, subject, details = chance.choice(ACTS)
        id_ = chance.choice(people[2:])
        moment = now() - timedelta(days=crowd.DAYS - number * ACT_EVERY_DAYS - chance.random())
        rows.append(
            {
                "actor_id": chance.choice(admins),
                "action": action,
                "subject": subject.format(id=id_),
                "details": details,
                "ip": f"198.51.100.{chance.randint(1, 20)}",
                "created_at": moment,
            }
        )
    db.session.execute(sa.insert(AuditEntry), sorted(rows, key=lambda row: row["created_at"]))
