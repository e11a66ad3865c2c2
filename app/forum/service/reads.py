"""Reads of posts. A record is the dict of one post in a response. Records are built without the ORM, for speed.

Only the SQL expressions of this module determine which data of an author a record contains. For a post under a
pseudonym, the database does not return the author's id, picture or name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import array

from app.core.database.session import AnySelect, db, records
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
_thread = posts.alias("thread")

#: Parameters of the statements. The id of the caller is null for a request without a token.
CALLER_ID, CATEGORY_ID, ID, AFTER, SIZE, OFFSET = (
    sa.bindparam(name, type_=sa.BigInteger) for name in ("caller_id", "category_id", "id", "after", "size", "offset")
)


def author_name(use_pseudonym: sa.ColumnElement[bool]) -> sa.ColumnElement[str]:
    """Return an SQL expression for the name that a post shows. The statement must join the author from `users`."""
    return sa.case(
        (users.c.id.is_(None), DELETED_ACCOUNT),
        (use_pseudonym, sa.func.coalesce(users.c.nama_samaran, ANONYMOUS)),
        else_=users.c.nama_ktp,
    )


def is_blocked(post: sa.FromClause, by: sa.ColumnElement[Any] = CALLER_ID) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if a person has blocked the name or pseudonym that a post shows."""
    blocked = sa.select(blocks.c.blocked_id, blocks.c.use_pseudonym).where(blocks.c.user_id == by)
    return sa.func.coalesce(sa.tuple_(post.c.user_id, post.c.use_pseudonym).in_(blocked), sa.false())


def hidden_reason(post: sa.FromClause) -> sa.ColumnElement[str]:
    """Return an SQL expression for the reason that the author of a hidden post reads. It is null for other posts."""
    by_moderator = sa.select(cases.c.reason).where(cases.c.post_id == post.c.id).correlate(post)
    return sa.case(
        (post.c.hidden_by == HiddenBy.REPORTS, REPORTED),
        (post.c.hidden_by == HiddenBy.MODERATOR, by_moderator.scalar_subquery()),
    )


def _media(name: sa.ColumnElement[str | None]) -> sa.ColumnElement[str]:
    return sa.literal_column("'/media/'").concat(name)


def select_posts(post: sa.FromClause, *more: sa.ColumnElement[Any], signed_in: bool = True) -> AnySelect:
    """Return the statement that reads posts as the caller sees them. `post` is the table, or some of its rows.

    PostgreSQL plans a subquery for each column in less time than joins.
    """
    is_open = ~post.c.use_pseudonym
    author = sa.select(array([author_name(post.c.use_pseudonym), sa.case((is_open, _media(users.c.image)))]))
    author = author.where(users.c.id == post.c.user_id).correlate(post)
    category = sa.select(categories.c.name).where(categories.c.id == post.c.category_id).scalar_subquery()
    mark = sa.select(array([marks.c.is_liked, marks.c.is_saved])).correlate(post)
    mark = mark.where(marks.c.post_id == post.c.id, marks.c.user_id == CALLER_ID)
    mine: list[sa.ColumnElement[Any]] = [mark.scalar_subquery(), post.c.user_id == CALLER_ID]
    return sa.select(
        *(post.c[name] for name in _COLUMNS),
        _media(post.c.image),
        sa.case((post.c.category_id.is_not(None), category)),  # a reply needs no search
        sa.case((is_open, post.c.user_id)),
        author.scalar_subquery(),
        *(mine if signed_in else [sa.null(), sa.false()]),
        *more,
    ).select_from(post)


#: Columns of a post that `record` reads.
_COLUMNS = (
    "id", "root_id", "parent_id", "category_id", "title", "content", "use_pseudonym", "likes_count", "saves_count",
    "replies_count", "created_at", "updated_at", "hidden_by",
)  # fmt: skip


def record(post: Sequence[Any], hidden_reason: str | None = None, *, is_blocked: bool = False) -> Record:
    """Return the record of a post from its row. The schemas `Thread` and `Reply` document it.

    `post` has the columns of `select_posts`.
    """
    (
        id_, root_id, parent_id, category_id, title, content, use_pseudonym, likes_count, saves_count,
        replies_count, created_at, updated_at, hidden_by, image, category, author_id, author, mark, is_owner,
    ) = post  # fmt: skip
    name, picture = author or (DELETED_ACCOUNT, None)
    is_liked, is_saved = mark or (False, False)
    record: Record = {
        "id": id_, "content": content, "image": image, "use_pseudonym": use_pseudonym,
        "author": {"id": author_id, "name": name, "image": picture},
        "likes_count": likes_count, "saves_count": saves_count, "is_liked": is_liked, "is_saved": is_saved,
        "is_owner": bool(is_owner), "created_at": created_at, "updated_at": updated_at,
    }  # fmt: skip
    if root_id is None:
        record["category_id"], record["category"] = category_id, {"id": category_id, "name": category}
        record["title"], record["replies_count"] = title, replies_count
    else:
        record["thread_id"], record["parent_id"], record["is_deleted"] = root_id, parent_id, content is None
        if content is None:
            record["author"] = None
    if hidden_by is not None:
        record["is_hidden"] = True
    if hidden_by is not None and is_owner:
        record["hidden_reason"] = hidden_reason
    elif hidden_by is not None or is_blocked:
        text = BLOCKED if hidden_by is None else HIDDEN
        record |= {"content": text, "image": None} | ({"title": text} if root_id is None else {})
        if is_blocked:
            record |= {"is_blocked": True, "author": {"id": None, "name": BLOCKED, "image": None}}
    return record


# --- lists ----------------------------------------------------------------------------------------------------------


@cache
def _list(
    *, threads: bool, signed_in: bool, by_category: bool, saved: bool, mine: bool, search: bool
) -> tuple[AnySelect, AnySelect]:
    """Return two statements: for one page of threads or of replies, newest first, and for the total.

    Each row of a page has the total too. Without filters, it is the sum of the counters of the categories.
    """
    rules: list[sa.ColumnElement[bool]] = [
        posts.c.root_id.is_(None) if threads else sa.and_(posts.c.root_id.is_not(None), posts.c.content.is_not(None))
    ]
    rules.append(posts.c.user_id == CALLER_ID if mine else posts.c.hidden_by.is_(None))
    if signed_in and not mine:
        rules.append(~is_blocked(posts))
    if by_category:
        rules.append(posts.c.category_id == CATEGORY_ID)
    if saved:
        rules.append(posts.c.id.in_(sa.select(marks.c.post_id).where(marks.c.user_id == CALLER_ID, marks.c.is_saved)))
    if search:
        pattern = sa.bindparam("pattern", type_=sa.Text)
        texts = (posts.c.title, posts.c.content) if threads else (posts.c.content,)
        rules.append(sa.or_(*(text.regexp_match(pattern, flags="i") for text in texts)))
    if saved or mine or search or not threads:
        counted = sa.select(posts.c.id).where(*rules).limit(MAX_COUNTED).subquery("counted")
        total = sa.select(sa.func.count()).select_from(counted)
    else:
        total = sa.select(sa.func.coalesce(sa.func.sum(categories.c.threads_count), 0))
        total = total.where(categories.c.id == CATEGORY_ID) if by_category else total
    ids = sa.select(posts.c.id).where(*rules).order_by(posts.c.id.desc()).limit(SIZE).offset(OFFSET).correlate(None)
    is_on_page = posts.c.id == sa.any_(sa.func.array(ids.scalar_subquery()))
    title = sa.select(_shown_title()).where(_thread.c.id == posts.c.root_id).scalar_subquery()
    more = (
        total.scalar_subquery().label("total"),
        hidden_reason(posts) if mine else sa.null(),
        sa.null() if threads else title,
    )
    return select_posts(posts, *more, signed_in=signed_in).where(is_on_page).order_by(posts.c.id.desc()), total


def _shown_title() -> sa.ColumnElement[str]:
    """Return an SQL expression for the title of a reply's thread. Titles of hidden and blocked threads are replaced."""
    is_own = sa.func.coalesce(_thread.c.user_id == CALLER_ID, sa.false())
    return sa.case(
        (_thread.c.hidden_by.is_not(None) & ~is_own, HIDDEN),
        (is_blocked(_thread), BLOCKED),
        else_=_thread.c.title,
    )


def list_posts(query: PostQuery, caller_id: int | None, *, threads: bool) -> Listing[Record]:
    """Return one page of threads or replies, newest first. Without `saved` and `mine`, replies are the saved ones.

    Raise `Unauthorized` if a caller without a token asks for own or saved posts.
    """
    if caller_id is None and (query.saved or query.mine):
        raise Unauthorized
    page = query.page
    statement, count = _list(
        threads=threads,
        signed_in=caller_id is not None,
        by_category=query.category_id is not None,
        saved=query.saved or not (threads or query.mine),
        mine=query.mine,
        search=bool(query.q),
    )
    values = {"caller_id": caller_id, "category_id": query.category_id, "pattern": contains(query.q or "")}
    rows = db.session.execute(statement, {**values, "size": page.size, "offset": page.offset}).all()
    total: int = rows[0].total if rows else (page.offset and db.session.scalar(count, values)) or 0
    listed = []
    for *post, _, reason, title in rows:
        each = record(post, reason)
        each["content"] = page.cut(each["content"])
        if not threads:
            each["thread"] = {"id": each["thread_id"], "title": title}
        listed.append(each)
    return Listing(listed, total, page)


def list_categories() -> list[Record]:
    """Return all categories in the order of their ids."""
    return records(_CATEGORIES)


_CATEGORIES = sa.select(categories).order_by(categories.c.id)


# --- one thread -----------------------------------------------------------------------------------------------------

_replies = sa.select(posts).where(posts.c.root_id == ID, posts.c.id > AFTER).order_by(posts.c.id).limit(SIZE)
_page = sa.union_all(sa.select(posts).where(posts.c.id == ID, posts.c.root_id.is_(None)), _replies).subquery("page")
#: A thread, and after it its replies.
_THREAD = select_posts(_page, hidden_reason(_page), is_blocked(_page)).order_by(_page.c.id)


def get_thread(thread_id: int, query: RepliesQuery, caller_id: int | None) -> TruncatedRecord[Record]:
    """Return a thread with the tree of its first replies, or with those after the reply `query.after`."""
    size = MAX_REPLIES + 1 if query.replies else 0  # one more than fit shows that replies are left out
    values = {"id": thread_id, "caller_id": caller_id, "after": query.after, "size": size}
    rows = db.session.execute(_THREAD, values).all()
    if not rows:
        raise NotFound(THREAD_NOT_FOUND)
    thread, *replies = [record(post, reason, is_blocked=blocked) for *post, reason, blocked in rows]
    thread["replies"] = _tree(replies[:MAX_REPLIES])
    if len(replies) <= MAX_REPLIES:
        return TruncatedRecord(thread)
    thread["replies_truncated"] = True
    return TruncatedRecord(thread, after=replies[MAX_REPLIES - 1]["id"])


def get_reply(thread_id: int, reply_id: int, caller_id: int) -> Record:
    """Return a reply with the replies below it, as far as they are among the next `MAX_REPLIES` of the thread."""
    thread = get_thread(thread_id, RepliesQuery(after=reply_id - 1), caller_id).record
    reply: Record = thread["replies"][0]
    return reply | ({"replies_truncated": True} if "replies_truncated" in thread else {})


def _tree(replies: Iterable[Record]) -> list[Record]:
    """Put each reply into its parent. A reply whose parent is not among the replies is on the first level.

    One pass is enough, because a parent has a smaller id than its replies.
    """
    roots: list[Record] = []
    below: dict[int | None, list[Record]] = {}
    for reply in replies:
        reply["replies"] = below[reply["id"]] = []
        below.get(reply["parent_id"], roots).append(reply)
    return roots
