"""What is looked at once more before a message or push of reminders leaves."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.forms import AS_TEMPLATE
from app.notifications.models import OPEN, Delivery
from app.notifications.models import State as DeliveryState
from app.pengingat import shared_links
from app.pengingat.models import Occurrence, State
from app.pengingat.occurrences import AGAIN

#: Who heard of a dose so lately, because that had to wait, is not asked again. Less than half of the shortest span.
JUST_NOW = timedelta(minutes=4)


def check(delivery: Claimed) -> None:
    """Cancel what says nothing any more, which the call leaves out; note which links the rest has in common."""
    _cancel_closed({each.dedupe_key: each.occurrence_id for each in delivery.together if each.payload.get(AS_TEMPLATE)})
    _cancel_too_soon({_first_of(each.dedupe_key): each.dedupe_key for each in delivery.together if _asks_again(each)})
    shared_links.note(delivery)


def _cancel_closed(repeated: dict[str, int | None]) -> None:
    """Of what goes once more, as a template, by key: that whose occurrence was answered, put off or given up since."""
    if not repeated:
        return
    is_put_off = sa.func.coalesce(Occurrence.snoozed_until > sa.func.statement_timestamp(), sa.false())
    is_closed = sa.or_(Occurrence.state != State.PENDING, is_put_off)
    with unit_of_work():
        closed = set(
            db.session.scalars(sa.select(Occurrence.id).where(Occurrence.id.in_(repeated.values()), is_closed))
        )
        for key, occurrence_id in repeated.items():
            if occurrence_id in closed:
                outbox.cancel_one(key)


def _cancel_too_soon(again: dict[str, str]) -> None:
    """Of what asks again, by the key of what asked first: that of which the first has yet to leave, or just has."""
    if not again:
        return
    has_just_left = sa.and_(
        Delivery.state == DeliveryState.SENT, Delivery.settled_at > sa.func.statement_timestamp() - JUST_NOW
    )
    late = sa.select(Delivery.dedupe_key).where(
        Delivery.dedupe_key.in_(again), sa.or_(Delivery.state.in_(OPEN), has_just_left)
    )
    with unit_of_work():
        for key in db.session.scalars(late).all():
            outbox.cancel_one(again[key])


def _asks_again(delivery: Claimed) -> bool:
    return f"{AGAIN}:" in delivery.dedupe_key


def _first_of(key: str) -> str:
    return key.replace(f"{AGAIN}:", ":")
