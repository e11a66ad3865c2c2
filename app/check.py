"""`flask check`: tests of everything that an installation needs.

Each item of the result is either ready or has a task for the operator. The tests only read. An item with optional parts
that are turned off counts as ready. The text of such an item lists these parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa
from psycopg2.errors import UndefinedColumn, UndefinedTable
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.database import db_time, migrations
from app.core.database.engines import UNLIMITED, direct
from app.core.database.session import db
from app.core.errors import AppError
from app.core.jobs import queue
from app.core.lib import local_time
from app.core.media import pictures, storage
from app.core.operations import health
from app.core.settings import extensions, settings
from app.identity.models import PRIVILEGED, Role, user_roles
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import SECURITY_NOTICE, Inbound
from app.notifications.senders import report
from app.pengingat.types.registry import TYPES
from app.privacy.service.delivery_labels import TITLES
from app.providers import messaging
from app.providers.http import ProviderError
from config import near_names, risks

Answer = TypeVar("Answer")

#: Minimum versions. The service is tested with these versions.
POSTGRESQL, REDIS = 150000, 7
#: Maximum accepted difference in seconds between the clock of this machine and the clock of PostgreSQL.
CLOCK_TOLERANCE_S = 5
#: Minimum free space on a disk, in bytes.
FREE_BYTES = 500 * 2**20
#: Kinds of messages that may go to people who have not written for 24 hours. WhatsApp requires a template for such
#: messages.
TEMPLATES = (
    "reminder",
    "stock",
    "alert",
    SECURITY_NOTICE,
    "broadcast",
    "forum_reply",
    "post_moderated",
)
REMINDER_TEMPLATES = tuple(f"pengingat_{tipe}" for tipe in TYPES)


@dataclass(frozen=True)
class Finding:
    item: str
    ready: bool
    #: Task for the operator if the item is not ready. For a ready item: the optional parts that are turned off, or "".
    todo: str


class NotReadyError(Exception):
    """Error: an item of the check is not ready. The message is the operator's task."""


def findings(problems: list[str], env: Mapping[str, str]) -> Iterator[Finding]:
    """Run all checks in order. `problems` are the invalid settings from `Config.read(env)`."""
    wrong = {problem.partition(" ")[0] for problem in problems}
    for item, (needed, check) in ITEMS.items():
        if unset := sorted(wrong.intersection(needed)):
            yield Finding(item, ready=False, todo=f"Needs {' and '.join(unset)}, see settings.")
            continue
        try:
            finding = Finding(item, ready=True, todo=check(problems, env))
        except Exception as error:  # noqa: BLE001  # an error in one item must not hide the others
            finding = Finding(item, ready=False, todo=_words(error))
            db.session.remove()  # its connection may be broken
        yield finding


def _words(error: Exception) -> str:
    name = type(getattr(error, "orig", None) or error).__name__
    match error:
        case NotReadyError() | migrations.OlderDatabaseError():
            return str(error)
        case AppError():
            return error.message
        case DBAPIError(orig=UndefinedTable() | UndefinedColumn()):
            return "Needs the migrations."
        case ProviderError():
            return f"The provider: {error.reason}"
        case OperationalError():
            return f"{name}: is PostgreSQL running, and is DATABASE_URL right?"
        case RedisError():
            return f"{name}: is Redis running, and is REDIS_URL right?"
        case _:
            return f"{name}."


# --- the checks, one function for each item ---------------------------------------------------------------------------


def _settings(problems: list[str], env: Mapping[str, str]) -> str:
    if problems:
        raise NotReadyError(" | ".join(problems))
    return " ".join(near_names(env))


def _database(*_: object) -> str:
    with direct({**UNLIMITED, "statement_timeout": "5000"}).connect() as connection:
        version = connection.scalar(sa.text("SELECT current_setting('server_version_num')::int"))
    if not isinstance(version, int) or version < POSTGRESQL:
        raise NotReadyError(f"PostgreSQL {POSTGRESQL // 10000} or newer is needed.")
    health.check_database()  # the ORM connects to DATABASE_POOLER_URL, if set
    return ""


def _migrations(*_: object) -> str:
    migrations.check()
    if not db.session.scalar(sa.select(sa.exists(sa.select(Role.id)))):
        raise NotReadyError("Run `flask seed`.")
    return ""


def _redis(*_: object) -> str:
    redis = queue.connection()
    redis.set("check:nothing", 1, xx=True)  # does not change Redis, but fails if Redis refuses writes
    info = redis.info()
    version = str(info["redis_version"])
    if int(version.partition(".")[0]) < REDIS:
        raise NotReadyError(f"Redis {REDIS} or newer is needed.")
    if info.get("maxmemory_policy", "noeviction") != "noeviction":
        raise NotReadyError("Set `maxmemory-policy noeviction`, or Redis removes what waits in the queue.")
    return "" if info.get("aof_enabled") else "Left out: `appendonly yes`, so the queue does not survive a restart."


def _media(*_: object) -> str:
    store = pictures.store()
    if not isinstance(store, storage.FolderStore):
        next(iter(store.names()), None)
        return ""
    folder = next(path for path in (store.root, *store.root.parents) if path.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise NotReadyError(f"{folder} cannot be written to by this user, see MEDIA_ROOT.")
    if _free_bytes(folder) < FREE_BYTES:
        raise NotReadyError(f"The disk of {folder} is full.")
    return ""


def _free_bytes(folder: Path) -> int:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def _sender(*_: object) -> str:
    if settings.messaging_provider == "outbox":
        return f"Left out: {report.NOT_SENT}"
    found = messaging.client().health()
    if found is not None and found.problem is not None:
        raise NotReadyError(f"{settings.messaging_provider} says: {found.problem}")
    if problem := _if_reachable(report.problem):
        raise NotReadyError(f"{problem}; one message a minute is tried until it works.")
    return ""


def _if_reachable(read: Callable[[], Answer]) -> Answer | None:
    """Return the result of a database query.

    Return None if the database is unavailable, because another item reports this.
    """
    try:
        return read()
    except (DBAPIError, PoolTimeoutError):
        db.session.remove()
        return None


def _webhooks(*_: object) -> str:
    match settings.messaging_provider:
        case "fonnte":
            secrets = {"FONNTE_WEBHOOK_TOKEN": settings.fonnte_webhook_token}
        case "whatsapp_cloud":
            names = ("whatsapp_app_secret", "whatsapp_verify_token")
            secrets = {name.upper(): getattr(settings, name) for name in names}
        case _:
            return "Not needed without a provider."
    unset = [name for name, value in secrets.items() if value is None]
    if len(unset) == len(secrets):
        return f"Left out: {' and '.join(unset)}, so no receipt and no answer comes in."
    needed = {"PUBLIC_URL": settings.public_url, "MESSAGING_NUMBER": settings.messaging_number}
    if unset := unset + [name for name, value in needed.items() if value is None]:
        raise NotReadyError(f"Set {' and '.join(unset)}.")
    if _if_reachable(_has_come_in) is not False:
        return ""
    return "Nothing has come in yet: enter the addresses at the provider, then write to our number."


def _has_come_in() -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(Inbound.provider == settings.messaging_provider))))


def _templates(*_: object) -> str:
    if settings.messaging_provider != "whatsapp_cloud":
        return "Not needed: WhatsApp Cloud alone has templates."
    names = dict(settings.whatsapp_templates)
    if unknown := names.keys() - {*TITLES, *TEMPLATES, *REMINDER_TEMPLATES}:
        raise NotReadyError(f"WHATSAPP_TEMPLATES names what is no kind of message: {', '.join(sorted(unknown))}.")
    if "reminder" not in names and not names.keys() >= set(REMINDER_TEMPLATES):
        raise NotReadyError("WHATSAPP_TEMPLATES names none for `reminder`: who has not written for 24 hours gets none.")
    missing = [kind for kind in TEMPLATES[1:] if kind not in names]
    return f"Left out: {', '.join(missing)}, which reach only who wrote within 24 hours." if missing else ""


def _push(*_: object) -> str:
    return "" if settings.vapid_private_key else "Left out: VAPID_PRIVATE_KEY, so no browser gets a push."


def _public_url(*_: object) -> str:
    if settings.public_url is None:
        if settings.is_production:
            raise NotReadyError("Set PUBLIC_URL: without it no message has a link to answer by.")
        return "Left out: PUBLIC_URL, so no message has a link to answer by."
    if settings.is_production:
        for name in ("public_url", "frontend_url"):
            if not getattr(settings, name).startswith("https://"):
                raise NotReadyError(f"{name.upper()} must begin with https://.")
    return ""


def _clock(*_: object) -> str:
    away_s = (local_time.now() - db_time.now()).total_seconds()
    problems = [f"this machine's clock is {abs(away_s):.0f} s {'ahead of' if away_s > 0 else 'behind'} PostgreSQL's"]
    problems = (problems if abs(away_s) > CLOCK_TOLERANCE_S else []) + delivery_metrics.missing_processes()
    if problems:
        raise NotReadyError("; ".join(problems) + ".")
    return ""


def _console(*_: object) -> str:
    somebody = sa.select(user_roles).join(Role).where(Role.name.in_(PRIVILEGED))
    if not db.session.scalar(sa.select(somebody.exists())):
        raise NotReadyError("Nobody is an administrator: `flask users create ... --role superadmin`.")
    return "" if settings.has_console else "Left out: CONSOLE=on, so administrators have no page at /console."


def _defaults(_: object, env: Mapping[str, str]) -> str:
    """Report risky settings. The item is ready if the operator has set each risky value explicitly."""
    risky = risks(extensions()["config"])
    by_default = [line for name, line in risky.items() if name not in env]
    if settings.is_production and settings.superadmin_database_url is None:
        by_default.append("SUPERADMIN_DATABASE_URL, the role of the SQL console: deploy/sql-role.sql makes one")
    if by_default:
        raise NotReadyError(f"Choose, and write each choice into the settings: {'; '.join(by_default)}.")
    return f"On purpose: {'; '.join(risky.values())}." if risky else ""


Check = Callable[[list[str], Mapping[str, str]], str]

_DATABASE = ("DATABASE_URL", "DATABASE_POOLER_URL")
_RISKY = ("PROFILE_REAUTH", "ADMIN_OTP", "SUPERADMIN_SQL_MODE", "PHONE_VERIFICATION", "PUSH_SEND")
_MESSAGING = ("MESSAGING_PROVIDER", "MESSAGING_TOKEN", "MESSAGING_SENDER_ID", "MESSAGING_URL")

#: Check functions by item, with the settings that each function needs. A function returns the optional parts that are
#: turned off.
ITEMS: dict[str, tuple[tuple[str, ...], Check]] = {
    "settings": ((), _settings),
    "database": (_DATABASE, _database),
    "migrations": (_DATABASE, _migrations),
    "redis": (("REDIS_URL",), _redis),
    "media": (("MEDIA_ROOT", "MEDIA_S3_BUCKET"), _media),
    "sender": (_MESSAGING, _sender),
    "webhooks": ((*_MESSAGING, "FONNTE_WEBHOOK_TOKEN", "MESSAGING_NUMBER", "PUBLIC_URL"), _webhooks),
    "templates": (("MESSAGING_PROVIDER", "WHATSAPP_TEMPLATES"), _templates),
    "push": (("VAPID_PRIVATE_KEY", "VAPID_PUBLIC_KEY", "VAPID_SUBJECT"), _push),
    "public_url": (("PUBLIC_URL", "FRONTEND_URL"), _public_url),
    "clock": ((*_DATABASE, "REDIS_URL"), _clock),
    "console": ((*_DATABASE, "CONSOLE"), _console),
    "defaults": ((*_RISKY, "SUPERADMIN_DATABASE_URL"), _defaults),
}
