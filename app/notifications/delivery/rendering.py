"""Rendering of deliveries: the worker reads the texts from the database just before it sends them.

So a changed title, a withdrawn consent or an erased name takes effect at once. A text that is stored nowhere else, such
as a reset link, is stored encrypted in the delivery, see `sealing`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db
from app.core.lib.break_links import message_title
from app.identity.field_encryption import UndecryptableField
from app.notifications.delivery.claims import Claimed, UndeliverableError, UnwantedError
from app.notifications.delivery.sealing import Words, unseal
from app.notifications.models import Channel

#: Function that returns the texts of deliveries of one kind, by delivery id. A delivery without a text must not be
#: sent.
Renderer = Callable[[Sequence[Claimed]], Mapping[int, Words]]

#: Reason stored in a delivery that is cancelled because it has no text any more.
NOT_ANY_MORE = "says nothing any more"


def words_of(deliveries: Sequence[Claimed], renderers: Mapping[str, Renderer]) -> dict[int, Words]:
    """Return the texts of deliveries of one kind, by delivery id. Omit deliveries that must not be sent any more."""
    try:
        said = {each.id: unseal(each.sealed, each.user_id) for each in deliveries if each.sealed}
    except UndecryptableField:
        raise UndeliverableError("its words cannot be decrypted") from None
    if rest := [each for each in deliveries if not each.sealed]:
        said.update(renderers[rest[0].kind](rest))
    return said


def by_event(renderers: Mapping[str, Renderer]) -> Renderer:
    """Return a renderer that chooses another renderer by the event of each delivery.

    The event is the payload's `event`, or else the payload's `about`.
    """

    def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
        return {id_: words for each in deliveries for id_, words in renderers[_event(each)]([each]).items()}

    return render


def _event(delivery: Claimed) -> str:
    return str(delivery.payload.get("event") or delivery.about_type)


def by_title(
    row_id: orm.InstrumentedAttribute[int], title: orm.InstrumentedAttribute[str], announcement: str
) -> Renderer:
    """Return a renderer that puts the title of the row `about_id` into the text `announcement`.

    The title is changed by `message_title`.
    """

    def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
        rows = db.session.execute(sa.select(row_id, title).where(row_id.in_([each.about_id for each in deliveries])))
        titles: dict[int | None, str] = dict(iter(rows))
        return {each.id: words(titles[each.about_id]) for each in deliveries if each.about_id in titles}

    def words(text: str) -> Words:
        return {"text": announcement.format(title=message_title(text)).removesuffix(": ")}

    return render


def notice(delivery: Claimed, *, text: str, title: str, body: str) -> Words:
    """Return `text` for a message, or `title` and `body` for a push, according to the channel of the delivery."""
    return {"text": text} if delivery.channel == Channel.MESSAGING else {"title": title, "body": body}


def render(delivery: Claimed, renderers: Mapping[str, Renderer]) -> None:
    """Set the texts of a claimed delivery. Raise `UnwantedError` if it has no text any more."""
    words = words_of([delivery], renderers).get(delivery.id)
    if words is None:
        raise UnwantedError(NOT_ANY_MORE)
    delivery.words = words
