"""The list of threads. Each combination of filters has its own statement, which also returns the total."""

from __future__ import annotations

from functools import cache
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import AnySelect
from app.core.web.pagination import KeysetListing, Listing, contains
from app.core.web.search import has_trigram, like, like_among_newest
from app.forum.models import ForumCategory, ForumThread, ThreadMark
from app.forum.schemas import ThreadQuery
from app.forum.service.reads.posts import CALLER_ID, Record, is_listed, select_fields
from app.forum.service.reads.threads import joined_threads, read_threads, thread_fields

#: Kinds of text search: with the trigram index, or in the newest threads only. The second kind is for texts that are
#: too short for the index.
TextSearch = Literal["trigrams", "newest"]

#: Maximum number of matches that a search counts. A search for a short text reads only this number of threads, newest
#: first. Searches must be cheap, because threads are long and anybody may search without a token.
MAX_SEARCHED = 1_000


@cache
def select_page(
    *, by_category: bool, before: bool, saved: bool, mine: bool, search: TextSearch | None = None
) -> AnySelect:
    """Return the statement for one page of threads. The column `total` has the number of matches.

    With `search`, `total` is at most `MAX_SEARCHED`. Without `search`, `saved` and `mine`, `total` is the sum of the
    categories' counters, which also count threads of blocked authors. An empty page still has one row, for `total`.
    """
    rules = is_listed(ForumThread, mine=mine)
    matching = sa.select(ForumThread.__table__)
    if by_category:
        rules.append(ForumThread.category_id == sa.bindparam("category_id", type_=sa.BigInteger))
    if saved:
        mark = orm.aliased(ThreadMark)
        matching = matching.join(mark, mark.thread_id == ForumThread.id)
        rules += [mark.user_id == CALLER_ID, mark.is_saved]
    if search is not None:
        rules.append(_matches(search))
        newest = matching.with_only_columns(ForumThread.id, maintain_column_froms=True).where(*rules)
        newest = newest.order_by(ForumThread.id.desc()).limit(sa.literal_column(str(MAX_SEARCHED), sa.Integer))
        total = sa.select(sa.func.count()).select_from(newest.subquery("counted"))
    elif mine or saved:
        total = matching.with_only_columns(sa.func.count(), maintain_column_froms=True).where(*rules)
    else:
        total = sa.select(sa.func.coalesce(sa.func.sum(ForumCategory.threads_count), 0))
        if by_category:
            total = total.where(ForumCategory.id == sa.bindparam("category_id", type_=sa.BigInteger))
    if before:
        rules.append(ForumThread.id < sa.bindparam("before", type_=sa.BigInteger))
    cut = matching.where(*rules).order_by(ForumThread.id.desc()).limit(sa.bindparam("size", type_=sa.Integer))
    page = cut.offset(sa.bindparam("offset", type_=sa.BigInteger))
    part, counted = page.subquery("page"), total.subquery("total")
    thread = orm.aliased(ForumThread, part)
    fields = {**thread_fields(thread), "total": next(iter(counted.c))}
    source = joined_threads(thread, counted.outerjoin(part, sa.true()))
    return select_fields(fields, source).order_by(thread.id.desc())


def _matches(search: TextSearch) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if the title or the content matches the search pattern.

    Names of authors are not searched, because a search for a name must not find posts under a pseudonym.
    """
    pattern = sa.bindparam("pattern", type_=sa.Text)
    if search == "trigrams":
        return like(pattern, ForumThread.title, ForumThread.content)
    return like_among_newest(
        pattern, ForumThread.title, ForumThread.content, newest_by=ForumThread.id, most=MAX_SEARCHED
    )


def read_page(query: ThreadQuery, caller_id: int | None) -> Listing[Record]:
    """Return one page of threads, newest first, with the total."""
    page = query.page
    statement = select_page(
        by_category=query.category_id is not None,
        before=query.before is not None,
        saved=query.saved,
        mine=query.mine,
        search=query.q and ("trigrams" if has_trigram(query.q) else "newest"),
    )
    values = {
        "caller_id": caller_id,
        "category_id": query.category_id,
        "before": query.before,
        "pattern": contains(query.q or ""),
        "size": page.size,
        "offset": page.offset,
    }
    threads, total = read_threads(statement, values)
    for thread in threads:
        thread["content"] = page.cut(thread["content"])
    if query.before is None:
        return Listing(threads, total, page)
    before = threads[-1]["id"] if len(threads) == page.size else None
    return KeysetListing(threads, total, page, before=before)
