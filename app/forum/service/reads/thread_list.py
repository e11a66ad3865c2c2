"""The list of threads: one statement for each kind of page, prepared once, with how many there are in all."""

from __future__ import annotations

from functools import cache
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.prepared import PreparedStatement
from app.core.database.session import AnySelect
from app.core.web.pagination import MAX_UNPAGED, KeysetListing, Listing, contains
from app.core.web.search import has_trigram, like, like_among_newest
from app.forum.models import ForumCategory, ForumThread, ThreadMark
from app.forum.schemas import ThreadQuery
from app.forum.service.reads.posts import CALLER_ID, is_listed
from app.forum.service.reads.threads import (
    ThreadRow,
    joined_threads,
    thread_columns,
    thread_record,
)

#: Page sizes that clients ask for; the first page of each has a prepared statement of its own.
USUAL_SIZES = frozenset({10, 20, 25, 50, 100, MAX_UNPAGED})

#: How a text is looked for: by the index, or, where it is too short for that, among the newest threads.
TextSearch = Literal["trigrams", "newest"]

#: So many matches are counted, and so many of the newest threads looked through for a text that is too short for the
#: index: contents are long, and anybody may search.
MOST_SEARCHED = 1_000


def select_page(
    *,
    by_category: bool,
    before: bool,
    saved: bool,
    mine: bool,
    signed_in: bool,
    search: TextSearch | None = None,
    first: int | None = None,
) -> AnySelect:
    """One statement for a page and the total: the page is cut first, and people are joined to its rows alone.

    `first` writes the size of a first page into the statement: the plan of a page of any size would be one for tens of
    thousands of rows.

    The total is the last column. It comes from the categories' counters where nothing personal is asked, and counts the
    newest matches alone where a text is looked for; of those whom the reader has blocked the counters know nothing.
    Its row is there also when the page is empty.
    """
    rules = is_listed(ForumThread, signed_in=signed_in and not mine)  # nobody can block themselves
    matching = sa.select(ForumThread.__table__)
    if by_category:
        rules.append(ForumThread.category_id == sa.bindparam("category_id", type_=sa.BigInteger))
    if mine:
        rules.append(ForumThread.user_id == CALLER_ID)
    if saved:
        mark = orm.aliased(ThreadMark)
        matching = matching.join(mark, mark.thread_id == ForumThread.id)
        rules += [mark.user_id == CALLER_ID, mark.is_saved]
    if search is not None:
        rules.append(_matches(search))
        newest = matching.with_only_columns(ForumThread.id, maintain_column_froms=True).where(*rules)
        newest = newest.order_by(ForumThread.id.desc()).limit(sa.literal_column(str(MOST_SEARCHED), sa.Integer))
        total = sa.select(sa.func.count()).select_from(newest.subquery("counted"))
    elif mine or saved:
        total = matching.with_only_columns(sa.func.count(), maintain_column_froms=True).where(*rules)
    else:
        total = sa.select(sa.func.coalesce(sa.func.sum(ForumCategory.threads_count), 0))
        if by_category:
            total = total.where(ForumCategory.id == sa.bindparam("category_id", type_=sa.BigInteger))
    if before:
        rules.append(ForumThread.id < sa.bindparam("before", type_=sa.BigInteger))
    cut = matching.where(*rules).order_by(ForumThread.id.desc())
    if first is None:
        cut = cut.limit(sa.bindparam("size", type_=sa.Integer)).offset(sa.bindparam("offset", type_=sa.BigInteger))
    else:
        cut = cut.limit(sa.literal_column(str(first), sa.Integer))
    page = cut.subquery("page")
    thread = orm.aliased(ForumThread, page)
    counted = total.subquery("total")
    source = joined_threads(thread, counted.outerjoin(page, sa.true()), signed_in=signed_in)
    return (
        sa.select(*thread_columns(thread, signed_in=signed_in), next(iter(counted.c)))
        .select_from(source)
        .order_by(thread.id.desc())
    )


def _matches(search: TextSearch) -> sa.ColumnElement[bool]:
    """In title or content, and nowhere else: whoever writes under a pseudonym is not to be found by their name."""
    pattern = sa.bindparam("pattern", type_=sa.Text)
    if search == "trigrams":
        return like(pattern, ForumThread.title, ForumThread.content)
    return like_among_newest(
        pattern, ForumThread.title, ForumThread.content, newest_by=ForumThread.id, most=MOST_SEARCHED
    )


@cache
def prepared_page(*, first: int | None, signed_in: bool, search: TextSearch | None, **kinds: bool) -> PreparedStatement:
    statement = select_page(first=first, signed_in=signed_in, search=search, **kinds)
    return PreparedStatement(statement, plans_by_values=search is not None)


def read_page(connection: sa.Connection, query: ThreadQuery, caller_id: int | None) -> Listing[ThreadRow]:
    """One page of threads, newest first, and how many there are in all."""
    page = query.page
    statement = prepared_page(
        first=page.size if page.offset == 0 and page.size in USUAL_SIZES else None,
        by_category=query.category_id is not None,
        before=query.before is not None,
        saved=query.saved,
        mine=query.mine,
        search=query.q and ("trigrams" if has_trigram(query.q) else "newest"),
        signed_in=caller_id is not None,
    )
    values: dict[str, object] = {
        "caller_id": caller_id,
        "category_id": query.category_id,
        "before": query.before,
        "size": page.size,
        "offset": page.offset,
    }
    if query.q:
        values["pattern"] = contains(query.q)
    rows = statement.rows(connection, values)
    records = [thread_record(row[:-1]) for row in rows if row[0] is not None]
    total = int(rows[0][-1])
    if query.before is None:
        return Listing(records, total, page)
    return KeysetListing(records, total, page, before=records[-1]["id"] if len(records) == page.size else None)
