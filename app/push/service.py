"""Web push subscriptions of browsers, and pushes that `POST /push/send` sends to a person's browsers."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db, map_constraint_errors
from app.core.errors import (
    AppError,
    Conflict,
    Forbidden,
    NotFound,
    PayloadTooLarge,
    ProviderFailed,
    Unauthorized,
    ValidationFailed,
)
from app.core.settings import settings
from app.core.web.fields import Loaded
from app.identity import dependents, sessions, users
from app.identity.models import PRIVILEGED
from app.identity.sessions import Caller
from app.notifications import outbox
from app.notifications.models import Channel
from app.providers import webpush
from app.push import transport
from app.push.models import PushSubscription

#: Maximum number of subscriptions of a person. If there are more, unverified subscriptions are deleted first, and then
#: the oldest.
MAX_PER_USER = 10

NOT_FOUND = "Langganan tidak ditemukan."
VERIFIED = "Perangkat ini sudah terhubung dengan sebuah akun. Masuk dulu untuk menggantinya."
CONSTRAINTS: dict[str, AppError] = {
    "fk_push_subscriptions_user_id": ValidationFailed({"user_id": ["tidak dikenal."]}),
    "fk_push_subscriptions_session_id": sessions.ended(),
}


def public_key() -> str:
    if settings.vapid_public_key is None:
        raise ProviderFailed("Notifikasi web belum diatur.", code="provider_not_configured")
    return settings.vapid_public_key


def subscribe(data: Loaded, caller: Caller | None) -> tuple[PushSubscription, bool]:
    """Store a browser's subscription, or replace the owner and the keys of an existing one.

    If `caller` is set, the subscription is verified, and is deleted with the caller's session. If `caller` is None, the
    subscription is unverified, and its owner is the `user_id` of the request. Raise `Conflict` if `caller` is None and
    the existing subscription is verified. Return the subscription, and whether it is new.
    """
    owner_id = caller.id if caller else data["user_id"]
    # Lock the owner, so that concurrent requests count each other's subscriptions for `MAX_PER_USER`. Lock the owner
    # before the subscription, because the deletion of a person locks in this order.
    if caller is not None:
        users.lock_own(caller.id)
    elif owner_id is not None:
        users.lock(owner_id)
    values = {
        "p256dh": data["keys"]["p256dh"],
        "auth": data["keys"]["auth"],
        "user_id": owner_id,
        "session_id": caller.session_id if caller else None,
        "is_verified": caller is not None,
    }
    with map_constraint_errors(CONSTRAINTS):
        row = db.session.execute(
            insert(PushSubscription)
            .values(endpoint=data["endpoint"], **values)
            .on_conflict_do_update(
                index_elements=["endpoint"],
                set_={**values, "updated_at": sa.func.statement_timestamp()},
                where=sa.true() if caller else ~PushSubscription.is_verified,
            )
            .returning(PushSubscription.id, sa.literal_column("xmax = 0", sa.Boolean).label("is_new"))
        ).one_or_none()
    if row is None:
        raise Conflict(VERIFIED, code="subscription_verified")
    subscription = db.session.get_one(PushSubscription, row.id, populate_existing=True)
    if owner_id is not None:
        _delete_surplus(owner_id)
    return subscription, row.is_new


def unsubscribe(endpoint: str) -> None:
    """Delete the subscription with this endpoint. The endpoint is enough: no access token is needed.

    Raise `NotFound` if there is no such subscription.
    """
    result = db.session.execute(sa.delete(PushSubscription).where(PushSubscription.endpoint == endpoint))
    if not result.rowcount:  # type: ignore[attr-defined]  # a DELETE's result counts rows
        raise NotFound(NOT_FOUND)


def send(data: Loaded, caller: Caller | None) -> dict[str, int]:
    """Add a delivery for each browser of a person. If the person is a dependent, use the caregiver's browsers instead.

    Return the number of deliveries as `queued`. The title and the body are sent unchanged. With `PUSH_SEND=admin`, only
    administrators may send.
    """
    is_admin = caller is not None and caller.has(*PRIVILEGED)
    if settings.push_send == "admin" and not is_admin:
        raise Forbidden if caller else Unauthorized
    payload = {name: value for name, value in data["payload"].items() if value is not None}
    if len(orjson.dumps(payload)) > webpush.MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(f"Isi notifikasi maksimal {webpush.MAX_PAYLOAD_BYTES} byte.")
    url = data["payload"]["url"]
    if url is not None and not is_own_url(url) and not (is_admin and url.startswith("https://")):
        raise ValidationFailed({"payload": {"url": ["isi dengan jalur atau alamat di situs ini."]}})
    # Use the clock of the database, because a push could expire too early if the clock of a web server were wrong.
    expiry = sa.func.statement_timestamp() + timedelta(seconds=transport.OTHER_TTL_S)
    subscriptions = db.session.execute(
        sa.select(PushSubscription.id, expiry).where(
            PushSubscription.user_id == dependents.receiver_of(data["user_id"])
        )
    ).all()
    batch = uuid4().hex
    outbox.send(
        *(
            outbox.NewDelivery(
                kind=transport.ANYBODYS,
                channel=Channel.PUSH,
                dedupe_key=f"push:{batch}:{subscription_id}",
                words=payload,
                expires_at=expires_at,
                user_id=data["user_id"],
                target=str(subscription_id),
            )
            for subscription_id, expires_at in subscriptions
        )
    )
    return {"sent": 0, "failed": 0, "removed": 0, "queued": len(subscriptions)}


def is_own_url(url: str) -> bool:
    """Return whether a URL is a path or an address under `FRONTEND_URL`. A push must not open another website."""
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


def _delete_surplus(user_id: int) -> None:
    """Delete the person's subscriptions above `MAX_PER_USER`, first the unverified ones, then the oldest."""
    surplus = (
        sa.select(PushSubscription.id)
        .where(PushSubscription.user_id == user_id)
        .order_by(PushSubscription.is_verified.desc(), PushSubscription.updated_at.desc(), PushSubscription.id.desc())
        .offset(MAX_PER_USER)
    )
    db.session.execute(
        sa.delete(PushSubscription).where(PushSubscription.id.in_(surplus)).execution_options(synchronize_session=False)
    )
