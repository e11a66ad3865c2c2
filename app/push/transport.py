"""How deliveries become pushes: one to a person becomes one to each of their browsers, and each of those is sent."""

from __future__ import annotations

import base64
import hashlib
import logging
from typing import Any

import orjson
import sqlalchemy as sa

from app.core.database.session import autocommit, db, unit_of_work
from app.core.lib import clock
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed, UndeliverableError
from app.notifications.models import Channel, State, deliveries
from app.providers import webpush
from app.providers.http import ProviderError
from app.push.models import PushSubscription

logger = logging.getLogger(__name__)

#: Someone's own reminder is told to nobody but their own, proven browsers.
NEUTRAL = {"title": "Pengingat", "body": "Anda punya pengingat"}

REMINDER = "reminder"
REMINDER_TTL_S = 3600
OTHER_TTL_S = 86400

#: Our keys were refused so often: the subscription was made for others.
MOST_REFUSALS = 2

_subscriptions = PushSubscription.__table__.c
_subscription = sa.select(
    _subscriptions.endpoint,
    _subscriptions.p256dh,
    _subscriptions.auth,
    _subscriptions.is_verified,
    _subscriptions.refusals,
).where(_subscriptions.id == sa.bindparam("id"))


def fan_out(found: Claimed) -> None:
    """One delivery for each subscription that the person has now. Done twice, it adds nothing."""
    with unit_of_work():
        still_wanted = db.session.scalar(
            sa.select(deliveries.c.id)
            .where(
                deliveries.c.id == found.id,
                deliveries.c.claim_token == found.claim_token,
                deliveries.c.state == State.CLAIMED,
            )
            .with_for_update()  # a cancellation comes before, or finds the children
        )
        if still_wanted is None:
            return
        ids = db.session.scalars(sa.select(_subscriptions.id).where(_subscriptions.user_id == found.user_id))
        outbox.add_all([_to_subscription(found, subscription_id) for subscription_id in ids])


def _to_subscription(found: Claimed, subscription_id: int) -> outbox.Draft:
    return outbox.Draft(
        kind=found.kind,
        channel=Channel.PUSH,
        dedupe_key=f"{found.dedupe_key}:{subscription_id}",
        payload=found.payload,
        due_at=found.due_at,
        expires_at=found.expires_at,
        user_id=found.user_id,
        target=str(subscription_id),
        subject=found.subject,
        queue=found.queue,
    )


def send(found: Claimed) -> str | None:
    """Send one push; a subscription that is gone, or that our keys do not fit twice, is deleted."""
    subscription_id = int(found.target or 0)
    with autocommit() as connection:
        row = connection.execute(_subscription, {"id": subscription_id}).one_or_none()
    if row is None:
        raise UndeliverableError("unsubscribed")
    is_reminder = found.kind == REMINDER
    content = {name: found.payload[name] for name in ("title", "body", "url") if found.payload.get(name)}
    if is_reminder and not row.is_verified:
        content = NEUTRAL
    left_s = int((found.expires_at - clock.now()).total_seconds())
    try:
        ref = webpush.client().send(
            webpush.Subscription(row.endpoint, row.p256dh, row.auth),
            orjson.dumps(content),
            ttl_s=max(0, min(REMINDER_TTL_S, left_s)) if is_reminder else OTHER_TTL_S,
            urgency="high" if is_reminder else "normal",
            topic=topic_of(found),
        )
    except ProviderError as error:
        _note_refusal(subscription_id, error)
        raise
    except webpush.NotConfiguredError:
        raise UndeliverableError("no VAPID keys") from None
    if row.refusals:
        _change(_subscriptions.id == subscription_id, refusals=0)
    return ref


def topic_of(found: Claimed) -> str:
    """The same for every attempt of one delivery and no other, so that a push sent twice is shown once."""
    digest = hashlib.sha256(found.dedupe_key.encode()).digest()[:24]
    return base64.urlsafe_b64encode(digest).decode()


def _note_refusal(subscription_id: int, error: ProviderError) -> None:
    if webpush.is_gone(error):
        _delete(subscription_id)
    elif webpush.is_key_mismatch(error):
        _change(_subscriptions.id == subscription_id, refusals=_subscriptions.refusals + 1)
        if _delete(subscription_id, _subscriptions.refusals >= MOST_REFUSALS):
            logger.warning(
                "a subscription whose keys are not ours was deleted", extra={"subscription": subscription_id}
            )


def _change(*where: sa.ColumnElement[bool], **values: Any) -> None:
    with unit_of_work():
        db.session.execute(
            sa.update(PushSubscription).where(*where).values(**values).execution_options(synchronize_session=False)
        )


def _delete(subscription_id: int, *where: sa.ColumnElement[bool]) -> bool:
    with unit_of_work():
        result = db.session.execute(
            sa.delete(PushSubscription)
            .where(_subscriptions.id == subscription_id, *where)
            .execution_options(synchronize_session=False)
        )
        return bool(result.rowcount)  # type: ignore[attr-defined]
