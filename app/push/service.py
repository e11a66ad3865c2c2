"""Web push subscriptions, and pushes to a person's browsers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db, translating
from app.core.errors import NotFound, PayloadTooLarge, ProviderFailed, ValidationFailed
from app.core.lib import clock
from app.core.settings import settings
from app.notifications import outbox
from app.notifications.models import Channel
from app.providers import webpush
from app.push import transport
from app.push.models import PushSubscription

#: Subscriptions of one person; the oldest goes, a claimed one before a proven one.
MOST_A_USER = 10

UNKNOWN_USER = ValidationFailed({"user_id": ["tidak dikenal."]}, "Pengguna tidak dikenal.")


def public_key() -> str:
    if settings.vapid_public_key is None:
        raise ProviderFailed("Notifikasi web belum diatur.", code="provider_not_configured")
    return settings.vapid_public_key


def subscribe(
    *, endpoint: str, keys: dict[str, str], user_id: int | None, caller_id: int | None
) -> tuple[PushSubscription, bool]:
    """Store a browser's subscription, or give a known one its new owner and keys; returns it and whether it is new.

    With a token it belongs to the token's owner and is proven; `user_id` alone is a claim.
    """
    if not webpush.may_be_endpoint(endpoint, settings):
        raise ValidationFailed({"endpoint": ["harus alamat https publik dari layanan push."]})
    owner = caller_id or user_id
    values = {
        "p256dh": keys["p256dh"],
        "auth": keys["auth"],
        "user_id": owner,
        "is_verified": caller_id is not None,
        "refusals": 0,
    }
    with translating({"fk_push_subscriptions_user_id": UNKNOWN_USER}):
        stored: Any = db.session.execute(
            insert(PushSubscription)
            .values(endpoint=endpoint, **values)
            .on_conflict_do_update(
                index_elements=["endpoint"], set_={**values, "updated_at": sa.func.statement_timestamp()}
            )
            .returning(PushSubscription.id, sa.literal_column("xmax = 0").label("is_new"))
        ).one()
    row = db.session.get_one(PushSubscription, stored.id, populate_existing=True)
    if owner is not None:
        _keep_newest(owner)
    return row, stored.is_new


def unsubscribe(endpoint: str) -> None:
    """Forget a subscription; knowing its address is the right to do so."""
    gone = db.session.execute(sa.delete(PushSubscription).where(PushSubscription.endpoint == endpoint))
    if not gone.rowcount:  # type: ignore[attr-defined]  # a DELETE's result counts rows
        raise NotFound("Langganan tidak ditemukan.")


def send(*, user_id: int, payload: dict[str, Any]) -> dict[str, int]:
    """Hand a push for each of a person's subscriptions to the worker; nobody's, unknown or not, are zeros."""
    content = {name: value for name, value in payload.items() if value is not None}
    if len(orjson.dumps(content)) > webpush.MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(f"Isi notifikasi paling besar {webpush.MAX_PAYLOAD_BYTES} byte.")
    if (url := content.get("url")) is not None and not is_own_url(url):
        raise ValidationFailed({"payload": {"url": ["harus berupa jalur atau alamat di situs ini."]}})
    ids = db.session.scalars(sa.select(PushSubscription.id).where(PushSubscription.user_id == user_id)).all()
    now, batch = clock.now(), uuid4().hex
    outbox.add_all(
        [
            outbox.Draft(
                kind="push",
                channel=Channel.PUSH,
                dedupe_key=f"push:{batch}:{subscription_id}",
                payload=content,
                due_at=now,
                expires_at=now + timedelta(seconds=transport.OTHER_TTL_S),
                user_id=user_id,
                target=str(subscription_id),
            )
            for subscription_id in ids
        ]
    )
    return {"sent": 0, "failed": 0, "removed": 0, "queued": len(ids)}


def is_own_url(url: str) -> bool:
    """A path, or an address under `FRONTEND_URL`: a push must not lead to a stranger's page."""
    if any(ord(character) <= 32 for character in url) or "\\" in url:
        return False
    if url.startswith("/"):
        return not url.startswith("//")
    try:
        sent, own = urlsplit(url), urlsplit(settings.frontend_url)
    except ValueError:
        return False
    prefix = own.path.rstrip("/")
    return (sent.scheme, sent.netloc) == (own.scheme, own.netloc) and (
        not prefix or sent.path == prefix or sent.path.startswith(prefix + "/")
    )


def _keep_newest(user_id: int) -> None:
    surplus = (
        sa.select(PushSubscription.id)
        .where(PushSubscription.user_id == user_id)
        .order_by(PushSubscription.is_verified.desc(), PushSubscription.updated_at.desc(), PushSubscription.id.desc())
        .offset(MOST_A_USER)
    )
    db.session.execute(
        sa.delete(PushSubscription).where(PushSubscription.id.in_(surplus)).execution_options(synchronize_session=False)
    )
