"""Reads of threads: statements built and prepared once, whose rows become plain records without ORM and marshmallow.

Each function takes the connection, so that a writer can show what it has not committed yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypedDict

import orjson
import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import AnySelect
from app.core.errors import NotFound
from app.core.web.pagination import MAX_UNPAGED, KeysetListing, Listing, Partial, contains
from app.core.web.search import has_trigram, like, like_among_newest
from app.forum.models import ForumCategory, ForumThread, ThreadMark
from app.forum.schemas import RepliesQuery, ThreadQuery
from app.forum.service.reads.posts import (
    CALLER_ID,
    THREAD_NOT_FOUND,
    Columns,
    Post,
    author_columns,
    caller_columns,
    conceal,
    concealing_columns,
    is_listed,
    media_path,
)
from app.forum.service.reads.replies import FEW_REPLIES, Reply, Tree, read_all, read_first
from app.forum.service.reads.replies import read_page as read_reply_page
from app.identity.models import User
from app.identity.sessions import SESSION, Reader

#: Page sizes that clients ask for; the first page of each has a prepared statement of its own.
USUAL_SIZES = frozenset({10, 20, 25, 50, 100, MAX_UNPAGED})


#: How a text is looked for: by the index, or, where it is too short for that, among the newest threads.
TextSearch = Literal["trigrams", "newest"]

#: So many matches are counted, and so many of the newest threads looked through for a text that is too short for the
#: index: contents are long, and anybody may search.
MOST_SEARCHED = 1_000


class CategoryName(TypedDict):
    id: int
    name: str


class ThreadRow(Post):
    """A thread in a list."""

    category_id: int
    category: CategoryName
    title: str
    replies_count: int


class Thread(ThreadRow):
    replies: list[Reply]


class CutThread(Thread):
    """A thread where replies are left out."""

    replies_truncated: bool


@dataclass(frozen=True)
class ThreadPage(Listing[Reply]):
    """A thread with one page of the replies to itself, each with all below it."""

    thread: Thread

    @property
    def body(self) -> Thread:
        return self.thread


def _columns(thread: type[ForumThread], *, signed_in: bool) -> Columns:
    return [
        thread.id, thread.category_id, ForumCategory.name, thread.title, thread.content, media_path(thread.image),
        thread.use_pseudonym, *author_columns(thread), thread.likes_count, thread.saves_count, thread.replies_count,
        *caller_columns(thread, ThreadMark, signed_in=signed_in),
        as_text(thread.created_at), as_text(thread.updated_at),
    ]  # fmt: skip


def _record(row: Sequence[Any]) -> ThreadRow:
    (
        id_, category_id, category, title, content, image, use_pseudonym, author_id, author, author_image,
        likes, saves, replies, is_liked, is_saved, is_owner, created_at, updated_at,
    ) = row  # fmt: skip
    return {
        "id": id_,
        "category_id": category_id,
        "category": {"id": category_id, "name": category},
        "title": title,
        "content": content,
        "image": image,
        "use_pseudonym": use_pseudonym,
        "author": {"id": author_id, "name": author, "image": author_image},
        "likes_count": likes,
        "saves_count": saves,
        "replies_count": replies,
        "is_liked": is_liked,
        "is_saved": is_saved,
        "is_owner": is_owner,
        "created_at": rfc3339(created_at),
        "updated_at": rfc3339(updated_at),
    }


def _joined(thread: type[ForumThread], source: sa.FromClause, *, signed_in: bool) -> sa.FromClause:
    """`source`, which holds `thread`, with its category, its author and the caller's mark."""
    source = source.outerjoin(ForumCategory, ForumCategory.id == thread.category_id)
    source = source.outerjoin(User, User.id == thread.user_id)
    if signed_in:
        own_mark = sa.and_(ThreadMark.thread_id == thread.id, ThreadMark.user_id == CALLER_ID)
        source = source.outerjoin(ThreadMark, own_mark)
    return source


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
    rules = is_listed(ForumThread, signed_in=signed_in)
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
    source = _joined(thread, counted.outerjoin(page, sa.true()), signed_in=signed_in)
    return (
        sa.select(*_columns(thread, signed_in=signed_in), next(iter(counted.c)))
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


def select_thread(*, signed_in: bool) -> AnySelect:
    source = _joined(ForumThread, sa.inspect(ForumThread).local_table, signed_in=signed_in)
    columns = [
        *_columns(ForumThread, signed_in=signed_in),
        *concealing_columns(ForumThread, signed_in=signed_in),
    ]
    return sa.select(*columns).select_from(source).where(ForumThread.id == sa.bindparam("id", type_=sa.BigInteger))


@cache
def prepared_page(*, first: int | None, signed_in: bool, search: TextSearch | None, **kinds: bool) -> PreparedStatement:
    statement = select_page(first=first, signed_in=signed_in, search=search, **kinds)
    return _prepared(statement, signed_in=signed_in, plans_by_values=search is not None)


@cache
def prepared_thread(*, signed_in: bool) -> PreparedStatement:
    return _prepared(select_thread(signed_in=signed_in), signed_in=signed_in)


def _prepared(statement: AnySelect, *, signed_in: bool, plans_by_values: bool = False) -> PreparedStatement:
    """The statement; for a reader who is signed in, its last column tells whether their session still lives."""
    if signed_in:
        statement = statement.add_columns(SESSION.scalar_subquery())
    return PreparedStatement(statement, plans_by_values=plans_by_values)


def _ask(
    statement: PreparedStatement, connection: sa.Connection, values: Mapping[str, object], reader: Reader | None
) -> list[tuple[Any, ...]]:
    """The statement's rows for `reader`; `Unauthorized` when their session has ended."""
    if reader is None:
        return statement.rows(connection, values)
    rows = statement.rows(connection, {**values, **reader.session_values, "caller_id": reader.id})
    if rows:
        reader.confirm(rows[0][-1])
    else:
        reader.ask()
    return [row[:-1] for row in rows]


def read_page(connection: sa.Connection, query: ThreadQuery, reader: Reader | None) -> Listing[ThreadRow]:
    """One page of threads, newest first, and how many there are in all."""
    page = query.page
    statement = prepared_page(
        first=page.size if page.offset == 0 and page.size in USUAL_SIZES else None,
        by_category=query.category_id is not None,
        before=query.before is not None,
        saved=query.saved,
        mine=query.mine,
        search=query.q and ("trigrams" if has_trigram(query.q) else "newest"),
        signed_in=reader is not None,
    )
    values: dict[str, object] = {
        "category_id": query.category_id,
        "before": query.before,
        "size": page.size,
        "offset": page.offset,
    }
    if query.q:
        values["pattern"] = contains(query.q)
    rows = _ask(statement, connection, values, reader)
    records = [_record(row[:-1]) for row in rows if row[0] is not None]
    total = int(rows[0][-1])
    if query.before is None:
        return Listing(records, total, page)
    return KeysetListing(records, total, page, before=records[-1]["id"] if len(records) == page.size else None)


def read_thread(connection: sa.Connection, thread_id: int, reader: Reader | None) -> Partial[Thread]:
    """A thread with the tree of its replies, or of the first of them. `NotFound` without one."""
    thread = _read_row(connection, thread_id, reader)
    caller_id = reader.id if reader else None
    if thread["replies_count"] <= FEW_REPLIES and (all_of_them := read_all(connection, thread_id, caller_id)):
        return Partial({**thread, "replies": all_of_them.roots})
    return _with_replies(thread, read_first(connection, thread_id, caller_id, bytes_used=_size(thread)))


def read_part(
    connection: sa.Connection, thread_id: int, query: RepliesQuery, reader: Reader | None
) -> Partial[Thread] | ThreadPage:
    """A thread with the part of its replies that `query` asks for. `NotFound` without one."""
    thread = _read_row(connection, thread_id, reader)
    caller_id = reader.id if reader else None
    if not query.replies:
        return Partial({**thread, "replies": []})
    if query.after is not None or query.page is None:
        first = 0 if query.after is None else query.after + 1
        return _with_replies(
            thread, read_first(connection, thread_id, caller_id, first=first, bytes_used=_size(thread))
        )
    tree, total = read_reply_page(connection, thread_id, caller_id, query.page, bytes_used=_size(thread))
    return ThreadPage(tree.roots, total, query.page, thread=_with_replies(thread, tree).record)


def _read_row(connection: sa.Connection, thread_id: int, reader: Reader | None) -> ThreadRow:
    rows = _ask(prepared_thread(signed_in=reader is not None), connection, {"id": thread_id}, reader)
    if not rows:
        raise NotFound(THREAD_NOT_FOUND)
    *row, hidden_reason, is_blocked = rows[0]
    record = _record(row)
    if hidden_reason is not None or is_blocked:
        conceal(record, hidden_reason, is_blocked)
    return record


def _with_replies(thread: ThreadRow, tree: Tree) -> Partial[Thread]:
    if tree.last_id is None:
        return Partial({**thread, "replies": tree.roots})
    part: CutThread = {**thread, "replies": tree.roots, "replies_truncated": True}
    return Partial(part, after=tree.last_id)


def _size(thread: ThreadRow) -> int:
    """Bytes of a response that says that it is cut, without its replies."""
    return len(orjson.dumps({**thread, "replies": [], "replies_truncated": True}))
