"""Renders deliveries: the words are read from the rows after the claim and before the call.

A changed title, a withdrawn consent and an erased name reach the message by themselves. Words that exist only once,
such as a reset link, are in the delivery itself, see `sealing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import autocommit
from app.core.lib.addresses import without_contacts
from app.identity.nik import UndecryptableNik
from app.notifications.delivery import groups
from app.notifications.delivery.claims import Claimed, UndeliverableError, UnwantedError
from app.notifications.delivery.sealing import Words, unseal
from app.notifications.delivery.settlements import settle_cancelled, settle_postponed
from app.notifications.models import Channel

#: Reads the words of deliveries of one kind, by their ids. A delivery without words is not to be sent any more.
Renderer = Callable[[Sequence[Claimed]], Mapping[int, Words]]

#: Why a delivery was cancelled.
NOT_ANY_MORE = "says nothing any more"


def words_of(deliveries: Sequence[Claimed], renderers: Mapping[str, Renderer]) -> dict[int, Words]:
    """Read the words of deliveries of one kind, by their ids. A delivery that is not to be sent any more has none."""
    try:
        said = {each.id: unseal(each.sealed, each.user_id) for each in deliveries if each.sealed}
    except UndecryptableNik:
        raise UndeliverableError("its words cannot be decrypted") from None
    if rest := [each for each in deliveries if not each.sealed]:
        said.update(renderers[rest[0].kind](rest))
    return said


def by_event(renderers: Mapping[str, Renderer]) -> Renderer:
    """Return the renderer of a kind with several events. An event is in the payload, or is the type in `about_type`."""

    def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
        return {id_: words for each in deliveries for id_, words in renderers[_event(each)]([each]).items()}

    return render


def _event(delivery: Claimed) -> str:
    return str(delivery.payload.get("event") or delivery.about_type)


def by_title(
    row_id: orm.InstrumentedAttribute[int], title: orm.InstrumentedAttribute[str], announcement: str
) -> Renderer:
    """Return the renderer of messages that announce what `about_id` names by its title. The title has no contacts."""

    def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
        with autocommit() as connection:
            rows = connection.execute(
                sa.select(row_id, title).where(row_id.in_([each.about_id for each in deliveries]))
            )
            titles: dict[int | None, str] = dict(iter(rows))
        return {each.id: words(titles[each.about_id]) for each in deliveries if each.about_id in titles}

    def words(text: str) -> Words:
        return {"text": announcement.format(title=without_contacts(text)).removesuffix(": ")}

    return render


def notice(delivery: Claimed, *, text: str, title: str, body: str) -> Words:
    """Return the words of a notice for the channel of its delivery."""
    return {"text": text} if delivery.channel == Channel.MESSAGING else {"title": title, "body": body}


def render(delivery: Claimed, renderers: Mapping[str, Renderer]) -> None:
    """Set the words of a claimed delivery and of those that leave with it.

    Cancel those that are not to be sent any more. Postpone those that do not fit into the message. Raise
    `UnwantedError` if none is left.
    """
    together = delivery.together
    said = words_of(together, renderers)
    for each in together:
        each.words = said.get(each.id, {})
    left = [each for each in together if each.id in said]
    if not left:
        raise UnwantedError(NOT_ANY_MORE)
    if gone := [each for each in together if each.id not in said]:
        with _only(gone) as first:
            settle_cancelled(first, NOT_ANY_MORE)
    fitting = groups.fitting(delivery.kind, [each.words for each in left])
    if rest := [each for n, each in enumerate(left) if n not in fitting]:
        with _only(rest) as first:
            settle_postponed(first, timedelta())  # to a message of their own
    delivery.ids = tuple(each.id for n, each in enumerate(left) if n in fitting)


@contextmanager
def _only(deliveries: Sequence[Claimed]) -> Iterator[Claimed]:
    """Return the first of these deliveries, to record an outcome for them alone."""
    first = deliveries[0]
    before, first.ids = first.ids, tuple(each.id for each in deliveries)
    yield first
    first.ids = before
