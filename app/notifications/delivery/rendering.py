"""What a delivery says is made when it leaves, from the rows as they are at that moment.

A changed title, a withdrawn consent and an erased name reach the message by themselves. What exists only once, such as
a reset link, lies in the outbox encrypted until it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta

from app.notifications.delivery import groups
from app.notifications.delivery.claims import Claimed, UnwantedError
from app.notifications.delivery.sealing import Words, unseal
from app.notifications.delivery.settlements import settle_cancelled, settle_postponed
from app.notifications.models import Channel

#: Reads what deliveries of one kind say now, by their ids. One that says nothing any more is left out.
Renderer = Callable[[Sequence[Claimed]], Mapping[int, Words]]

#: Why a delivery was cancelled.
NOT_ANY_MORE = "says nothing any more"


def words_of(deliveries: Sequence[Claimed], renderers: Mapping[str, Renderer]) -> dict[int, Words]:
    """Read what deliveries of one kind say now, by their ids. What says nothing any more is left out."""
    said = {each.id: unseal(each.sealed, each.user_id) for each in deliveries if each.sealed}
    if rest := [each for each in deliveries if not each.sealed]:
        said.update(renderers[rest[0].kind](rest))
    return said


def by_event(renderers: Mapping[str, Renderer]) -> Renderer:
    """Return the renderer of a kind that tells of several events: by their name, or the type of what each is about."""

    def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
        return {id_: words for each in deliveries for id_, words in renderers[_event(each)]([each]).items()}

    return render


def _event(delivery: Claimed) -> str:
    return str(delivery.payload.get("event") or delivery.about_type)


def notice(delivery: Claimed, *, text: str, title: str, body: str) -> Words:
    """Return what a message or a push of a notice says."""
    return {"text": text} if delivery.channel == Channel.MESSAGING else {"title": title, "body": body}


def render(delivery: Claimed, renderers: Mapping[str, Renderer]) -> None:
    """Let a claimed delivery, and what leaves with it, say what holds now.

    What says nothing any more is cancelled, and what does not fit into the message waits for one of its own. Raise
    `UnwantedError` if nothing is left.
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
    """Let an outcome be recorded for these alone."""
    first = deliveries[0]
    before, first.ids = first.ids, tuple(each.id for each in deliveries)
    yield first
    first.ids = before
