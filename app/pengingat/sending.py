"""What is looked at once more before a message or push of reminders leaves."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import autocommit, db, unit_of_work
from app.identity.models import PHONE_IS_PROVEN, User
from app.notifications import outbox
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.forms import AS_TEMPLATE
from app.notifications.models import OPEN, Delivery, Receipt
from app.notifications.models import State as DeliveryState
from app.pengingat import shared_links
from app.pengingat.models import Occurrence, State
from app.pengingat.occurrences import AGAIN
from app.pengingat.texts import UNPROVEN

#: A dose whose message left so lately, because it was late, is not asked about again. Below half of the shortest span.
JUST_NOW = timedelta(minutes=4)


def check(delivery: Claimed) -> None:
    """Cancel what says nothing any more, which the call leaves out; take the words of the rest that are right now, and
    note which links they have in common."""
    _cancel_closed({each.dedupe_key: each.occurrence_id for each in delivery.together if _may_be_overtaken(each)})
    _cancel_too_soon({_first_of(each.dedupe_key): each.dedupe_key for each in delivery.together if _asks_again(each)})
    _use_careful_words([each for each in delivery.together if UNPROVEN in each.words])
    shared_links.note(delivery)


def _may_be_overtaken(delivery: Claimed) -> bool:
    """Whether it was put into the outbox beside an answer that cancels what it finds there: what goes once more, as a
    template, and a push to one browser."""
    return bool(delivery.payload.get(AS_TEMPLATE)) or delivery.target is not None


def _cancel_closed(overtaken: dict[str, int | None]) -> None:
    """Of these, by key: that whose occurrence was answered, put off or given up since. What was missed can still be
    done."""
    if not overtaken:
        return
    is_put_off = sa.func.coalesce(Occurrence.snoozed_until > sa.func.statement_timestamp(), sa.false())
    is_closed = sa.or_(Occurrence.state.not_in((State.PENDING, State.MISSED)), is_put_off)
    with autocommit() as connection:
        closed = set(
            connection.scalars(sa.select(Occurrence.id).where(Occurrence.id.in_(overtaken.values()), is_closed))
        )
    if not closed:
        return
    with unit_of_work():
        for key, occurrence_id in overtaken.items():
            if occurrence_id in closed:
                outbox.cancel_one(key)


def _cancel_too_soon(again: dict[str, str]) -> None:
    """Of what asks again, by the key of what asked first: that of which the first just left, or leaves now instead."""
    if not again:
        return
    now = sa.func.statement_timestamp()
    has_just_left = sa.and_(
        Delivery.state == DeliveryState.SENT,
        Delivery.settled_at > now - JUST_NOW,
        Delivery.receipt.is_distinct_from(Receipt.FAILED),
    )
    can_leave = sa.and_(Delivery.state.in_(OPEN), Delivery.expires_at > now)
    late = sa.select(Delivery).where(Delivery.dedupe_key.in_(again), sa.or_(has_just_left, can_leave))
    with unit_of_work():
        for first in db.session.scalars(late.with_for_update(key_share=True)).all():
            outbox.cancel_one(again[first.dedupe_key])
            if first.state == DeliveryState.PENDING:  # it may have been waiting for its next attempt
                first.next_try_at = now


def _use_careful_words(deliveries: list[Claimed]) -> None:
    """To a number that is not proven, say it without the web addresses that the person wrote."""
    if not deliveries:
        return
    is_proven = sa.select(PHONE_IS_PROVEN).where(User.id == deliveries[0].user_id)
    with autocommit() as connection:
        if connection.scalar(is_proven):
            return
    for each in deliveries:
        careful = each.words[UNPROVEN]
        if isinstance(careful, dict):
            each.words = {**each.words, **careful}


def _asks_again(delivery: Claimed) -> bool:
    return f"{AGAIN}:" in delivery.dedupe_key


def _first_of(key: str) -> str:
    return key.replace(f"{AGAIN}:", ":")
