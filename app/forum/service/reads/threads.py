"""The forum's reads: statements built once, rows turned into plain records without ORM and marshmallow.

Here alone is decided what an answer tells of an author, in SQL: under a pseudonym no id, picture or name leaves the
database. Each function takes the connection, so that a writer can show what it has not committed yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from app.core.database.prepared import PreparedStatement, as_text, rfc3339
from app.core.database.session import autocommit
from app.core.errors import NotFound, Unauthorized
from app.core.web.pagination import MAX_UNPAGED, KeysetListing, Listing
from app.forum.models import ForumCategory, ForumReply, ForumThread, ReplyMark, ThreadMark
from app.forum.schemas import ThreadQuery
from app.identity.models import User

Record = dict[str, Any]

NO_THREAD = "Utas tidak ditemukan."
NO_REPLY = "Balasan tidak ditemukan."

#: Shown in place of an author whose account is gone, and of a pseudonym that is no more.
GONE = "Akun dihapus"
NAMELESS = "Anonim"

ME = sa.bindparam("me", type_=sa.BigInteger)


def _address(image: Any) -> Any:
    return sa.literal_column("'/media/'").concat(image)


def _author(post: Any) -> list[Any]:
    """Columns of the author as everybody may see them: id, name, image."""
    open_name = sa.not_(post.use_pseudonym)
    name = sa.case(
        (User.id.is_(None), GONE),
        (post.use_pseudonym, sa.func.coalesce(User.nama_samaran, NAMELESS)),
        else_=User.nama_ktp,
    )
    return [sa.case((open_name, User.id)), name, sa.case((open_name, _address(User.image)))]


def _own(post: Any, mark: Any, *, signed_in: bool) -> list[Any]:
    """Columns of what the post is to the caller: is_liked, is_saved, is_owner."""
    if not signed_in:
        return [sa.literal_column("false")] * 3
    return [
        sa.func.coalesce(mark.is_liked, sa.false()),
        sa.func.coalesce(mark.is_saved, sa.false()),
        sa.func.coalesce(post.user_id == ME, sa.false()),
    ]


# --- categories -----------------------------------------------------------------------------------------------------

_CATEGORIES = PreparedStatement(
    sa.select(ForumCategory.id, ForumCategory.name, ForumCategory.preference_tag, ForumCategory.threads_count).order_by(
        ForumCategory.id
    )
)


def categories(connection: sa.Connection) -> list[Record]:
    """All categories, in the order that they were seeded in."""
    return [
        {"id": id_, "name": name, "preference_tag": tag, "threads_count": count}
        for id_, name, tag, count in _CATEGORIES.rows(connection)
    ]


#: Pages that clients ask for; each has a prepared statement of its own.
USUAL_SIZES = frozenset({10, 20, 25, 50, 100, MAX_UNPAGED})

# --- threads --------------------------------------------------------------------------------------------------------


def _thread_columns(thread: Any, *, signed_in: bool) -> list[Any]:
    return [
        thread.id, thread.category_id, ForumCategory.name, thread.title, thread.content, _address(thread.image),
        thread.use_pseudonym, *_author(thread), thread.likes_count, thread.saves_count, thread.replies_count,
        *_own(thread, ThreadMark, signed_in=signed_in), as_text(thread.created_at), as_text(thread.updated_at),
    ]  # fmt: skip


def _thread(row: Sequence[Any]) -> Record:
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


def _with_people(thread: Any, source: Any, *, signed_in: bool) -> Any:
    source = source.outerjoin(ForumCategory, ForumCategory.id == thread.category_id)
    source = source.outerjoin(User, User.id == thread.user_id)
    if signed_in:
        mine = sa.and_(ThreadMark.thread_id == thread.id, ThreadMark.user_id == ME)
        source = source.outerjoin(ThreadMark, mine)
    return source


def _page(
    *, by_category: bool, before: bool, saved: bool, mine: bool, signed_in: bool, first: int | None = None
) -> sa.Select[Any]:
    """One statement for a page and the total: the page is cut first, and people are joined to its rows alone.

    `first` writes the size of a first page into the statement: the plan of a page of any size would be one for tens of
    thousands of rows.

    The total comes from the categories' counters where nothing personal is asked. Its row stands also when the page
    is empty.
    """
    rules: list[Any] = []
    found = sa.select(ForumThread.__table__)
    if by_category:
        rules.append(ForumThread.category_id == sa.bindparam("category_id", type_=sa.BigInteger))
    if mine:
        rules.append(ForumThread.user_id == ME)
    if saved:
        mark = sa.orm.aliased(ThreadMark)
        found = found.join(mark, mark.thread_id == ForumThread.id)
        rules += [mark.user_id == ME, mark.is_saved]
    if mine or saved:
        total = found.with_only_columns(sa.func.count(), maintain_column_froms=True).where(*rules)
    else:
        total = sa.select(sa.func.coalesce(sa.func.sum(ForumCategory.threads_count), 0))
        if by_category:
            total = total.where(ForumCategory.id == sa.bindparam("category_id", type_=sa.BigInteger))
    if before:
        rules.append(ForumThread.id < sa.bindparam("before", type_=sa.BigInteger))
    cut = found.where(*rules).order_by(ForumThread.id.desc())
    if first is None:
        cut = cut.limit(sa.bindparam("size", type_=sa.Integer)).offset(sa.bindparam("offset", type_=sa.BigInteger))
    else:
        cut = cut.limit(sa.literal_column(str(first), sa.Integer))
    page = cut.subquery("page")
    counted = total.subquery("total")
    source = _with_people(page.c, counted.outerjoin(page, sa.true()), signed_in=signed_in)
    return (
        sa.select(*_thread_columns(page.c, signed_in=signed_in), next(iter(counted.c)))
        .select_from(source)
        .order_by(page.c.id.desc())
    )


@cache
def _hot_page(*, first: int | None, **kinds: bool) -> PreparedStatement:
    return PreparedStatement(_page(first=first, **kinds))


def list_threads(query: ThreadQuery, me: int | None) -> Listing[Record]:
    """One page of threads, newest first; `me` is the caller. `Unauthorized` for nobody's own or saved threads."""
    if me is None and (query.saved or query.mine):
        raise Unauthorized
    with autocommit() as connection:
        return threads(connection, query, me)


def threads(connection: sa.Connection, query: ThreadQuery, me: int | None) -> Listing[Record]:
    """One page of threads, newest first, and how many there are in all."""
    page = query.page
    statement = _hot_page(
        first=page.size if page.offset == 0 and page.size in USUAL_SIZES else None,
        by_category=query.category_id is not None,
        before=query.before is not None,
        saved=query.saved,
        mine=query.mine,
        signed_in=me is not None,
    )
    values = {"category_id": query.category_id, "before": query.before, "me": me}
    limits: dict[str, int | None] = {"size": page.size, "offset": page.offset}
    rows = statement.rows(connection, values | limits)
    records = [_thread(row[:-1]) for row in rows if row[0] is not None]
    total = int(rows[0][-1])
    if query.before is None:
        return Listing(records, total, page)
    return KeysetListing(records, total, page, before=records[-1]["id"] if len(records) == page.size else None)


def _one(*, signed_in: bool) -> sa.Select[Any]:
    source = _with_people(ForumThread, sa.inspect(ForumThread).local_table, signed_in=signed_in)
    columns = _thread_columns(ForumThread, signed_in=signed_in)
    return sa.select(*columns).select_from(source).where(ForumThread.id == sa.bindparam("id", type_=sa.BigInteger))


@cache
def _hot_one(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(_one(signed_in=signed_in))


def thread(connection: sa.Connection, thread_id: int, me: int | None) -> Record:
    """A thread with the tree of its replies, oldest first on every level."""
    rows = _hot_one(signed_in=me is not None).rows(connection, {"id": thread_id, "me": me})
    if not rows:
        raise NotFound(NO_THREAD)
    record = _thread(rows[0])
    record["replies"] = _tree(connection, thread_id, me)
    return record


# --- replies --------------------------------------------------------------------------------------------------------


def _replies(*, signed_in: bool) -> sa.Select[Any]:
    source = sa.inspect(ForumReply).local_table.outerjoin(User, User.id == ForumReply.user_id)
    if signed_in:
        source = source.outerjoin(ReplyMark, sa.and_(ReplyMark.reply_id == ForumReply.id, ReplyMark.user_id == ME))
    return (
        sa.select(
            ForumReply.id, ForumReply.parent_id, ForumReply.content, _address(ForumReply.image),
            ForumReply.use_pseudonym, *_author(ForumReply), ForumReply.likes_count, ForumReply.saves_count,
            *_own(ForumReply, ReplyMark, signed_in=signed_in), ForumReply.is_deleted,
            as_text(ForumReply.created_at), as_text(ForumReply.updated_at),
        )
        .select_from(source)
        .where(
            ForumReply.thread_id == sa.bindparam("thread_id", type_=sa.BigInteger),
            ForumReply.id >= sa.bindparam("first", type_=sa.BigInteger),
        )
        .order_by(ForumReply.id)
    )  # fmt: skip


@cache
def _hot_replies(*, signed_in: bool) -> PreparedStatement:
    return PreparedStatement(_replies(signed_in=signed_in))


def reply(connection: sa.Connection, thread_id: int, reply_id: int, me: int | None) -> Record:
    """A reply with all below it."""
    return _tree(connection, thread_id, me, first=reply_id)[0]


def _tree(connection: sa.Connection, thread_id: int, me: int | None, *, first: int = 0) -> list[Record]:
    """The replies of a thread from the id `first` on. A reply is younger than its parent, so one pass is enough."""
    values = {"thread_id": thread_id, "first": first, "me": me}
    nodes: dict[int, list[Record]] = {}
    roots: list[Record] = []
    for (
        id_, parent_id, content, image, use_pseudonym, author_id, author, author_image, likes, saves,
        is_liked, is_saved, is_owner, is_deleted, created_at, updated_at,
    ) in _hot_replies(signed_in=me is not None).rows(connection, values):  # fmt: skip
        below: list[Record] = []
        nodes[id_] = below
        nodes.get(parent_id, roots).append(
            {
                "id": id_,
                "thread_id": thread_id,
                "parent_id": parent_id,
                "content": content,
                "image": image,
                "use_pseudonym": use_pseudonym,
                "author": None if is_deleted else {"id": author_id, "name": author, "image": author_image},
                "likes_count": likes,
                "saves_count": saves,
                "is_liked": is_liked,
                "is_saved": is_saved,
                "is_owner": is_owner,
                "is_deleted": is_deleted,
                "created_at": rfc3339(created_at),
                "updated_at": rfc3339(updated_at),
                "replies": below,
            }
        )
    return roots
