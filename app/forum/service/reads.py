"""Reads of posts. A record is the dict of one post in a response. Records are built without the ORM, for speed.

Only the SQL expressions of this module determine which data of an author a record contains. For a post under a
pseudonym, the database does not return the author's id, picture or name.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, cast

import sqlalchemy as sa

from app.core.database.session import AnySelect, db
from app.core.errors import NotFound, Unauthorized
from app.core.web.pagination import MAX_COUNTED, Listing, TruncatedRecord, contains
from app.forum.models import Block, Case, ForumCategory, HiddenBy, Mark, Post
from app.forum.schemas import PostQuery, RepliesQuery
from app.identity.models import User

THREAD_NOT_FOUND = "Utas tidak ditemukan."
REPLY_NOT_FOUND = "Balasan tidak ditemukan."

#: Name of an author whose account is deleted.
DELETED_ACCOUNT = "Akun dihapus"
#: Name that a post under a pseudonym shows after its author has removed the pseudonym from the profile.
ANONYMOUS = "Anonim"

#: Text in place of the content of a hidden post.
HIDDEN = "[disembunyikan moderator]"
#: Text in place of the content of a post by a blocked author.
BLOCKED = "[diblokir]"

#: Reason that the author of a post reads if reports have hidden it.
REPORTED = "Beberapa orang melaporkan tulisan ini."

#: Maximum replies in the response for one thread.
MAX_REPLIES = 500

Record = dict[str, Any]

posts, marks, blocks, cases, categories, users = (
    cast(sa.Table, model.__table__) for model in (Post, Mark, Block, Case, ForumCategory, User)
)
#: The threads of replies, for lists of replies, and the case of a post.
_threads, _decided = posts.alias("threads"), cases.alias("decided")

#: Parameter with the id of the caller, or null for a request without a token.
CALLER_ID = sa.bindparam("caller_id", type_=sa.BigInteger)


def author_name(use_pseudonym: sa.ColumnElement[bool]) -> sa.ColumnElement[str]:
    """Return an SQL expression for the name that a post shows. The statement must join the author from `users`."""
    return sa.case(
        (users.c.id.is_(None), DELETED_ACCOUNT),
        (use_pseudonym, sa.func.coalesce(users.c.nama_samaran, ANONYMOUS)),
        else_=users.c.nama_ktp,
    )


def is_blocked(post: sa.FromClause, by: sa.ColumnElement[Any] = CALLER_ID) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if a person has blocked the name or pseudonym that a post shows."""
    return sa.exists().where(
        blocks.c.user_id == by,
        blocks.c.blocked_id == post.c.user_id,
        blocks.c.use_pseudonym == post.c.use_pseudonym,
    )


def hidden_reason(post: sa.FromClause) -> sa.ColumnElement[str]:
    """Return an SQL expression for the reason that the author of a hidden post reads. It is null for other posts."""
    by_moderator = sa.select(_decided.c.reason).where(_decided.c.post_id == post.c.id).scalar_subquery()
    return sa.case(
        (post.c.hidden_by == HiddenBy.REPORTS, REPORTED),
        (post.c.hidden_by == HiddenBy.MODERATOR, by_moderator),
    )


def _media(name: sa.ColumnElement[str | None]) -> sa.ColumnElement[str]:
    return sa.literal_column("'/media/'").concat(name)


def select_posts(post: sa.FromClause, *more: sa.ColumnElement[Any], joined: sa.FromClause | None = None) -> AnySelect:
    """Return the statement that reads posts as the caller sees them.

    `post` is the table of posts, or a subquery that selects some of its rows. `more` are columns of `joined`.
    """
    is_open = ~post.c.use_pseudonym
    source = (post if joined is None else joined).outerjoin(users, users.c.id == post.c.user_id)
    source = source.outerjoin(categories, categories.c.id == post.c.category_id)
    source = source.outerjoin(marks, sa.and_(marks.c.post_id == post.c.id, marks.c.user_id == CALLER_ID))
    return sa.select(
        *(post.c[name] for name in _COLUMNS),
        _media(post.c.image).label("image"),
        categories.c.name.label("category"),
        author_name(post.c.use_pseudonym).label("author"),
        sa.case((is_open, users.c.id)).label("author_id"),
        sa.case((is_open, _media(users.c.image))).label("author_image"),
        sa.func.coalesce(marks.c.is_liked, sa.false()).label("is_liked"),
        sa.func.coalesce(marks.c.is_saved, sa.false()).label("is_saved"),
        sa.func.coalesce(post.c.user_id == CALLER_ID, sa.false()).label("is_owner"),
        hidden_reason(post).label("hidden_reason"),
        is_blocked(post).label("is_blocked"),
        *more,
    ).select_from(source)


#: Columns of a post that the record takes unchanged, and those from which `record` derives fields.
_COLUMNS = (
    "id", "root_id", "parent_id", "category_id", "title", "content", "use_pseudonym", "likes_count", "saves_count",
    "replies_count", "created_at", "updated_at", "hidden_by",
)  # fmt: skip


def record(row: sa.Row[Any]) -> Record:
    """Return the record of a post, as the schemas `Thread` and `Reply` of `app.forum.schemas` document it."""
    post: Record = row._asdict()
    thread_id, parent_id, category = post.pop("root_id"), post.pop("parent_id"), post.pop("category")
    post["author"] = {"id": post.pop("author_id"), "name": post["author"], "image": post.pop("author_image")}
    is_hidden = post.pop("hidden_by") is not None
    reason, is_blocked_ = post.pop("hidden_reason"), post.pop("is_blocked")
    if thread_id is None:
        post["category"] = {"id": post["category_id"], "name": category}
    else:
        for name in ("category_id", "title", "replies_count"):
            del post[name]
        is_deleted = post["content"] is None
        post |= {"thread_id": thread_id, "parent_id": parent_id, "is_deleted": is_deleted}
        if is_deleted:
            post["author"] = None
    if is_hidden:
        post["is_hidden"] = True
    if is_hidden and post["is_owner"]:
        post["hidden_reason"] = reason
    elif is_hidden or is_blocked_:
        text = HIDDEN if is_hidden else BLOCKED
        post |= {"content": text, "image": None} | ({"title": text} if "title" in post else {})
        if is_blocked_:
            post |= {"is_blocked": True, "author": {"id": None, "name": BLOCKED, "image": None}}
    return post


# --- lists ----------------------------------------------------------------------------------------------------------


@cache
def _list(*, threads: bool, by_category: bool, saved: bool, mine: bool, search: bool) -> AnySelect:
    """Return the statement for one page of threads or of replies, newest first, with the total in each row.

    Without filters, the total is the sum of the counters of the categories. An empty page has one row, for the total.
    """
    rules: list[sa.ColumnElement[bool]] = [
        posts.c.root_id.is_(None) if threads else sa.and_(posts.c.root_id.is_not(None), posts.c.content.is_not(None))
    ]
    rules += [posts.c.user_id == CALLER_ID] if mine else [posts.c.hidden_by.is_(None), ~is_blocked(posts)]
    if by_category:
        rules.append(posts.c.category_id == sa.bindparam("category_id", type_=sa.BigInteger))
    if saved:
        mark = marks.alias("saved")
        is_saved = sa.select(mark.c.post_id).where(mark.c.user_id == CALLER_ID, mark.c.is_saved)
        rules.append(posts.c.id.in_(is_saved))
    if search:
        pattern = sa.bindparam("pattern", type_=sa.Text)
        texts = (posts.c.title, posts.c.content) if threads else (posts.c.content,)
        rules.append(sa.or_(*(text.regexp_match(pattern, flags="i") for text in texts)))
    if saved or mine or search or not threads:
        counted = sa.select(posts.c.id).where(*rules).limit(MAX_COUNTED).subquery("counted")
        total = sa.select(sa.func.count().label("total")).select_from(counted).subquery("total")
    else:
        counters = sa.select(sa.func.coalesce(sa.func.sum(categories.c.threads_count), 0).label("total"))
        if by_category:
            counters = counters.where(categories.c.id == sa.bindparam("category_id", type_=sa.BigInteger))
        total = counters.subquery("total")
    page = sa.select(posts).where(*rules).order_by(posts.c.id.desc()).limit(sa.bindparam("size", type_=sa.Integer))
    page_ = page.offset(sa.bindparam("offset", type_=sa.BigInteger)).subquery("page")
    joined: sa.FromClause = total.outerjoin(page_, sa.true())
    more: list[sa.ColumnElement[Any]] = [total.c.total]
    if not threads:
        joined = joined.outerjoin(_threads, _threads.c.id == page_.c.root_id)
        more.append(_shown_title().label("thread"))
    return select_posts(page_, *more, joined=joined).order_by(page_.c.id.desc())


def _shown_title() -> sa.ColumnElement[str]:
    """Return an SQL expression for the title of a reply's thread. Titles of hidden and blocked threads are replaced."""
    is_own = sa.func.coalesce(_threads.c.user_id == CALLER_ID, sa.false())
    return sa.case(
        (_threads.c.hidden_by.is_not(None) & ~is_own, HIDDEN),
        (is_blocked(_threads), BLOCKED),
        else_=_threads.c.title,
    )


def list_posts(query: PostQuery, caller_id: int | None, *, threads: bool) -> Listing[Record]:
    """Return one page of threads or replies, newest first. Without `saved` and `mine`, replies are the saved ones.

    Raise `Unauthorized` if a caller without a token asks for own or saved posts.
    """
    if caller_id is None and (query.saved or query.mine):
        raise Unauthorized
    page = query.page
    statement = _list(
        threads=threads,
        by_category=query.category_id is not None,
        saved=query.saved or not (threads or query.mine),
        mine=query.mine,
        search=bool(query.q),
    )
    values = {"caller_id": caller_id, "category_id": query.category_id, "pattern": contains(query.q or "")}
    rows = db.session.execute(statement, {**values, "size": page.size, "offset": page.offset}).all()
    records = [record(row) for row in rows if row.id is not None]
    for each in records:
        del each["total"]
        each["content"] = page.cut(each["content"])
        if not threads:
            each["thread"] = {"id": each["thread_id"], "title": each["thread"]}
    return Listing(records, rows[0].total, page)


def list_categories() -> list[Record]:
    """Return all categories in the order of their ids."""
    return [dict(row) for row in db.session.execute(sa.select(categories).order_by(categories.c.id)).mappings()]


# --- one thread -----------------------------------------------------------------------------------------------------


@cache
def _thread() -> AnySelect:
    is_wanted = posts.c.id == sa.bindparam("id", type_=sa.BigInteger), posts.c.root_id.is_(None)
    return select_posts(posts).where(*is_wanted)


@cache
def _replies() -> AnySelect:
    """Return the statement for a thread's replies, with one more than fit, which shows that replies are left out."""
    in_thread = posts.c.root_id == sa.bindparam("id", type_=sa.BigInteger)
    part = sa.select(posts).where(in_thread, posts.c.id > sa.bindparam("after", type_=sa.BigInteger))
    page = part.order_by(posts.c.id).limit(MAX_REPLIES + 1).subquery("page")
    return select_posts(page).order_by(page.c.id)


def get_thread(thread_id: int, query: RepliesQuery, caller_id: int | None) -> TruncatedRecord[Record]:
    """Return a thread with the tree of its first replies, or with those after the reply `query.after`."""
    row = db.session.execute(_thread(), {"id": thread_id, "caller_id": caller_id}).one_or_none()
    if row is None:
        raise NotFound(THREAD_NOT_FOUND)
    thread = record(row) | {"replies": []}
    if not query.replies:
        return TruncatedRecord(thread)
    thread["replies"], last_id = _read_tree(thread_id, query.after, caller_id)
    if last_id is not None:
        thread["replies_truncated"] = True
    return TruncatedRecord(thread, after=last_id)


def get_reply(thread_id: int, reply_id: int, caller_id: int) -> Record:
    """Return a reply with the replies below it, as far as they are among the next `MAX_REPLIES` of the thread."""
    roots, last_id = _read_tree(thread_id, reply_id - 1, caller_id)
    return roots[0] if last_id is None else {**roots[0], "replies_truncated": True}


def _read_tree(thread_id: int, after: int, caller_id: int | None) -> tuple[list[Record], int | None]:
    """Return the tree of a thread's replies with ids above `after`, and the last id if replies are left out.

    A reply whose parent is not in the tree is on the first level.
    """
    rows = db.session.execute(_replies(), {"id": thread_id, "after": after, "caller_id": caller_id}).all()
    replies = [record(row) | {"replies": []} for row in rows[:MAX_REPLIES]]
    return _tree(replies), replies[-1]["id"] if len(rows) > MAX_REPLIES else None


def _tree(replies: Iterable[Record]) -> list[Record]:
    """Put each reply into its parent. One pass is enough, because a parent has a smaller id than its replies."""
    roots: list[Record] = []
    below: dict[int | None, list[Record]] = {}
    for reply in replies:
        below.get(reply["parent_id"], roots).append(reply)
        below[reply["id"]] = reply["replies"]
    return roots
