"""Groups: reminders to one person that are due within 60 seconds are sent as one message.

Each reminder has its own row in `deliveries`. A worker claims the first row of a group and then the other rows, called
siblings. The worker sends one message for all rows, and stores the outcome in each row. A retry sends the same rows
together again, except cancelled rows. After several workers died, the rows are sent one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from app.core.database import db_time
from app.core.settings import settings
from app.notifications.models import DeliveryState, deliveries

#: Whether reminders are grouped.
IS_ON = False

#: Limits on one message: number of rows, characters of one row's sentence, and characters of all sentences. A free text
#: may have 4,096 characters, and a WhatsApp template 800. Every WhatsApp message must fit into a template, because a
#: free text may be sent again as a template.
MAX_ROWS = 10
CHARACTERS = 350
CHARACTERS_OF_ALL, CHARACTERS_OF_A_TEMPLATE = 3500, 600

#: Columns that are equal in all rows of one message. `_is_sibling` compares further properties of the rows.
SHARED = ("user_id", "queue", "kind", "unconfirmed_calls")

_span: sa.ColumnElement[object] = sa.literal_column("interval '60 seconds'")
#: Query parameters: values of a claimed row. The query finds the siblings of the row by these values.
_first = SimpleNamespace(
    **{
        name: sa.bindparam(f"first_{name}", type_=deliveries.c[name].type)
        for name in ("due_at", "worker_crashes", "claim_token", *SHARED)
    }
)


def worker_crashes_of(rows: Any) -> sa.ColumnElement[int]:
    """Return the number of workers that died while they sent a due row.

    If a due row is still claimed, its last worker died too. In this case add 1.
    """
    return rows.worker_crashes + sa.case((rows.state == DeliveryState.CLAIMED, 1), else_=0)  # type: ignore[no-any-return]


def is_first(rows: Any) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if no earlier row of the same message is due now.

    Workers claim only rows for which the condition is true. They claim the siblings of a row in the same transaction.
    Otherwise two workers could each send a part of one message.
    """
    earlier = deliveries.alias("earlier")
    return ~sa.exists().where(
        _may_join("deliveries"),
        _is_sibling(earlier, rows, worker_crashes_of(rows)),
        earlier.c.next_try_at <= db_time.now_sql(),
        _place(earlier.c) < _place(rows),
    )


def siblings() -> sa.Select[int]:
    """Return the statement that locks the siblings of a claimed row. `values_of` returns the statement's parameters."""
    sibling = deliveries.alias("sibling")
    return (
        sa.select(sibling.c.id)
        .where(_is_sibling(sibling, _first, _first.worker_crashes))
        .order_by(sibling.c.due_at, sibling.c.id)
        .limit(MAX_ROWS - 1)
        .with_for_update(skip_locked=True)
    )


def values_of(first: Mapping[str, object]) -> dict[str, object]:
    """Return the parameters of `siblings`. `claim_token` must be the token of the row's previous claim."""
    return {f"first_{name}": first[name] for name in vars(_first)}


def fitting(kind: str, words: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the indexes of the texts that fit into one message with the first text. A long sentence is sent alone.

    If each type of reminder has its own WhatsApp template, a text fits only if its type of reminder is that of the
    first text.
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
    """Return an SQL condition: a call for the row has an unknown outcome, and the row has no provider reference."""
    return sa.and_(rows.unconfirmed_calls > 0, rows.provider_ref.is_(None))


def called_with(ids: Collection[int]) -> sa.Select[int, int]:
    """Return a query of pairs of ids: the id of a given row, and the id of another row that was sent in the same call.

    The query locks these other rows. The given rows must be unsettled, see `is_unsettled`.
    """
    rows, other = deliveries.c, deliveries.alias("other")
    return (
        sa.select(rows.id, other.c.id)
        .where(
            rows.id.in_(ids),
            other.c.id != rows.id,
            _may_join(other.name),
            # It is possible that a row with the same claim was not sent in this call. Such a row has a lower
            # `unconfirmed_calls`.
            *(other.c[name] == rows[name] for name in ("user_id", "claim_token", "unconfirmed_calls")),
            *_is_within(other.c, rows),
        )
        .order_by(other.c.id)
        .with_for_update(key_share=True, of=other)
    )


def _may_join(table: str) -> sa.ColumnElement[bool]:
    """Return the condition that a row is an unsent reminder message, as in the index `ix_deliveries_beside`."""
    return sa.and_(
        sa.literal_column(f"{table}.state IN ('pending', 'claimed')"),
        sa.literal_column(f"{table}.channel = 'messaging'"),
        sa.literal_column(f"{table}.occurrence_id IS NOT NULL"),
    )


def _is_sibling(row: Any, of: Any, crashes: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if two rows belong to one message.

    Either both rows were never claimed, or they were last claimed together.
    """
    return sa.and_(
        _may_join(row.name),
        *(row.c[name] == getattr(of, name) for name in SHARED),
        worker_crashes_of(row.c) == crashes,
        row.c.claim_token.is_not_distinct_from(of.claim_token),
        sa.or_(row.c.claim_token.is_(None), row.c.next_try_at <= db_time.now_sql()),
        *_is_within(row.c, of),
        row.c.expires_at > db_time.now_sql(),
    )


def _is_within(row: Any, of: Any) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return row.due_at > of.due_at - _span, row.due_at < of.due_at + _span


def _place(rows: Any) -> sa.Tuple:
    return sa.tuple_(rows.due_at, rows.id)
