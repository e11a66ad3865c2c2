"""Sending of web pushes: `fan_out` adds a delivery for each of a person's browsers, and `send` sends to one browser.

A browser is verified if it subscribed with an access token of its user.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

import orjson
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import dependents, sessions
from app.identity.models import LoginSession
from app.notifications import outbox
from app.notifications.delivery import claims, sealing
from app.notifications.delivery.claims import Claimed, UndeliverableError, UnwantedError
from app.notifications.models import Channel
from app.providers import webpush
from app.providers.http import ProviderError
from app.push.models import PushSubscription

#: Content of a reminder for an unverified browser. Only verified browsers of the person get the text of the reminder.
NEUTRAL = {"title": "Pengingat", "body": "Anda punya pengingat"}

#: Fields of a delivery's content that are sent to a browser.
SHOWN = ("title", "body", "url", "actions", "token")

REMINDER = "reminder"
#: Kind of a push from `POST /push/send`, a route that needs no token. Unverified browsers get such a push too.
ANYBODYS = "push"
#: Kinds of pushes for which an unverified browser gets the text `NEUTRAL` instead of the real text. Apart from these
#: kinds, an unverified browser gets only pushes of the kind `ANYBODYS`.
HINTED_AT = frozenset({REMINDER, "stock", "alert"})
UNPROVEN = "not proven to be the person's"
OTHER_TTL_S = 86400

#: Kinds of pushes without personal text. A verified browser gets these pushes even after its session has expired.
IMPERSONAL = frozenset({"moderation"})

_subscriptions = PushSubscription.__table__.c


_of_user = sa.bindparam("of_user", type_=sa.BigInteger)
#: Query that returns the subscription with this `id`, and the state of its session and its user. `of_user` is the user
#: of a delivery. This user's messages go to one receiver: the user, or the user's guardian. `is_receivers` is true if
#: the subscription belongs to this receiver.
_subscription = (
    sa.select(
        _subscriptions.user_id,
        _subscriptions.endpoint,
        _subscriptions.p256dh,
        _subscriptions.auth,
        _subscriptions.is_verified,
        sa.func.clock_timestamp().label("now"),
        sa.or_(_subscriptions.session_id.is_(None), sessions.IS_ALIVE).label("is_signed_in"),
        (_subscriptions.user_id == dependents.receiver_of(_of_user)).label("is_receivers"),
    )
    .outerjoin(LoginSession, LoginSession.id == _subscriptions.session_id)
    .where(_subscriptions.id == sa.bindparam("id"))
)


def fan_out(delivery: Claimed) -> None:
    """Add one delivery for each push subscription of the person who receives this message.

    A second call for the same message adds no duplicates. Each push reads its own text when it is sent.
    """
    is_receivers = _subscriptions.user_id == dependents.receiver_of(delivery.user_id)
    with unit_of_work():
        ids = db.session.scalars(sa.select(_subscriptions.id).where(is_receivers))
        outbox.send(*(_to_subscription(delivery, subscription_id) for subscription_id in ids))


def _to_subscription(delivery: Claimed, subscription_id: int) -> outbox.NewDelivery:
    return outbox.NewDelivery(
        kind=delivery.kind,
        channel=Channel.PUSH,
        dedupe_key=f"{delivery.dedupe_key}:{subscription_id}",
        payload=delivery.payload,
        words=sealing.unseal(delivery.sealed, delivery.user_id) if delivery.sealed else None,
        due_at=delivery.due_at,
        expires_at=delivery.expires_at,
        user_id=delivery.user_id,
        target=str(subscription_id),
        queue=delivery.queue,
    )


def send(delivery: Claimed) -> str | None:
    """Send one push to one browser. Return the push service's reference.

    A verified browser whose session has expired is treated as unverified. If the push service reports that the
    subscription has ended, the subscription is deleted. Raise `UndeliverableError` if the browser now belongs to
    another person.
    """
    subscription_id = int(delivery.target or 0)
    row = db.session.execute(_subscription, {"id": subscription_id, "of_user": delivery.user_id}).one_or_none()
    if row is None or (delivery.user_id is not None and not row.is_receivers):
        raise UndeliverableError("unsubscribed")
    is_reminder = delivery.kind == REMINDER
    content: Mapping[str, object] = {name: delivery.words[name] for name in SHOWN if delivery.words.get(name)}
    is_proven = row.is_verified and (row.is_signed_in or delivery.kind in IMPERSONAL)
    if not is_proven and delivery.kind != ANYBODYS:
        if delivery.kind not in HINTED_AT:
            raise UnwantedError(UNPROVEN)
        content = NEUTRAL
    left_s = int((delivery.expires_at - row.now).total_seconds())
    try:
        client = webpush.client()
    except webpush.NotConfiguredError:
        raise UndeliverableError("no VAPID keys") from None
    claims.begin(delivery)
    delivery.words = content
    try:
        ref = client.send(
            webpush.Subscription(row.endpoint, row.p256dh, row.auth),
            orjson.dumps(content),
            ttl_s=max(0, left_s) if is_reminder else OTHER_TTL_S,
            urgency="high" if is_reminder else "normal",
            topic=topic_of(delivery),
        )
    except ProviderError as error:
        if webpush.is_gone(error):
            with unit_of_work():
                db.session.execute(sa.delete(PushSubscription).where(_subscriptions.id == subscription_id))
        raise
    return ref


def topic_of(delivery: Claimed) -> str:
    """Return a topic of 32 characters for the push service. All attempts to send a delivery have the same
    topic.

    Because of the topic, a browser shows a repeated push only once.
    """
    digest = hashlib.sha256(delivery.dedupe_key.encode()).digest()[:24]
    return base64.urlsafe_b64encode(digest).decode()
