"""What leaves as one message: the reminders of one person that fall due within 60 seconds (`REMINDER_GROUPING`).

Each stays a row of its own. A claim takes the first row, and a second statement its siblings. One call sends them, and
its outcome is that of each. So what was called together is repeated together, without what was cancelled in between.
What several workers died over is sent row by row.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from app.core.jobs import clock_jump
from app.core.settings import settings
from app.notifications.models import State, deliveries

#: Rows of one message; characters of the sentence of each, and of all, below the 4,096 that a text holds; and of all
#: where they may have to go as a template, which holds 800.
MOST = 10
CHARACTERS = 350
CHARACTERS_OF_ALL, CHARACTERS_OF_A_TEMPLATE = 3500, 600

#: What the rows of one message have in common, beside their time, their deaths and their last claim.
SHARED = ("user_id", "queue", "kind", "unknowns")

_span: sa.ColumnElement[object] = sa.literal_column("interval '60 seconds'")
#: The values of a claimed row by which its siblings are found.
_first = SimpleNamespace(
    **{
        name: sa.bindparam(f"first_{name}", type_=deliveries.c[name].type)
        for name in ("due_at", "deaths", "claim_token", *SHARED)
    }
)


def deaths_of(rows: Any) -> sa.ColumnElement[int]:
    """Return how often a worker died over a row, a lease that has ended included."""
    return rows.deaths + sa.case((rows.state == State.CLAIMED, 1), else_=0)  # type: ignore[no-any-return]


def is_first(rows: Any) -> sa.ColumnElement[bool]:
    """Return whether no row that is due now stands before this one in its message.

    A claim takes such a row alone, and its siblings in the same transaction. So two workers that claim at the same time
    do not share one message.
    """
    earlier = deliveries.alias("earlier")
    return ~sa.exists().where(
        _may_join("deliveries"),
        _is_beside(earlier, rows, deaths_of(rows)),
        earlier.c.next_try_at <= clock_jump.now_sql,
        _place(earlier.c) < _place(rows),
    )


def siblings() -> sa.Select[int]:
    """Return the statement that locks the siblings of a claimed row. Its parameters come from `values_of`."""
    sibling = deliveries.alias("sibling")
    return (
        sa.select(sibling.c.id)
        .where(_is_beside(sibling, _first, _first.deaths))
        .order_by(sibling.c.due_at, sibling.c.id)
        .limit(MOST - 1)
        .with_for_update(skip_locked=True)
    )


def values_of(first: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of `siblings`. `claim_token` is that of the claim before."""
    return {f"first_{name}": first[name] for name in vars(_first)}


def fitting(kind: str, words: Sequence[Mapping[str, Any]]) -> set[int]:
    """Which of these, by their places, fit into one message with the first. A long sentence goes alone.

    Where each type of reminder has a template of its own and all of them together none, those of its type.
    """
    if not words[1:]:
        return {0}
    parts = [each["parts"] for each in words]
    is_whatsapp = settings.follows_whatsapp_hours
    if is_whatsapp and kind not in dict(settings.whatsapp_templates):
        places = [n for n, part in enumerate(parts) if part["tipe"] == parts[0]["tipe"]]
    else:
        places = list(range(len(parts)))
    short = [n for n in places if len(parts[n]["sentence"]) <= CHARACTERS]
    places = short if short[:1] == [0] else []
    most = CHARACTERS_OF_A_TEMPLATE if is_whatsapp else CHARACTERS_OF_ALL
    lengths = accumulate(len(parts[n]["sentence"]) for n in places)
    return {0, *(n for n, length in zip(places, lengths, strict=True) if length <= most)}


def is_unsettled(rows: Any) -> sa.ColumnElement[bool]:
    """Whether a row was called without its outcome being known, so that it has no name of the provider's yet."""
    return sa.and_(rows.unknowns > 0, rows.provider_ref.is_(None))


def called_with(ids: Collection[int]) -> sa.Select[int, int]:
    """Each of these unsettled rows beside one that the same call told of, which is held."""
    rows, other = deliveries.c, deliveries.alias("other")
    return (
        sa.select(rows.id, other.c.id)
        .where(
            rows.id.in_(ids),
            other.c.id != rows.id,
            _may_join(other.name),
            # What was left out of the call has been called less often.
            *(other.c[name] == rows[name] for name in ("user_id", "claim_token", "unknowns")),
            *_is_within(other.c, rows),
        )
        .order_by(other.c.id)
        .with_for_update(key_share=True, of=other)
    )


def _may_join(table: str) -> sa.ColumnElement[bool]:
    """Whether a row may share its message, as reminders do. In the index's own words."""
    return sa.and_(
        sa.literal_column(f"{table}.state IN ('pending', 'claimed')"),
        sa.literal_column(f"{table}.channel = 'messaging'"),
        sa.literal_column(f"{table}.occurrence_id IS NOT NULL"),
    )


def _is_beside(row: Any, of: Any, deaths: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Whether two rows are of one message: both never tried, or last tried together."""
    return sa.and_(
        _may_join(row.name),
        *(row.c[name] == getattr(of, name) for name in SHARED),
        deaths_of(row.c) == deaths,
        row.c.claim_token.is_not_distinct_from(of.claim_token),
        sa.or_(row.c.claim_token.is_(None), row.c.next_try_at <= clock_jump.now_sql),
        *_is_within(row.c, of),
        row.c.expires_at > clock_jump.now_sql,
    )


def _is_within(row: Any, of: Any) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return row.due_at > of.due_at - _span, row.due_at < of.due_at + _span


def _place(rows: Any) -> sa.Tuple:
    return sa.tuple_(rows.due_at, rows.id)
