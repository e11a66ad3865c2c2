"""Create, update and delete threads and replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import assign, db
from app.core.errors import Conflict, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.forum.models import MAX_DEPTH, Case, ForumCategory, Mark, Post
from app.forum.schemas import RepliesQuery
from app.forum.service import crisis, notices
from app.forum.service.locks import count, count_thread, lock, lock_own
from app.forum.service.reads import Record, get_reply, get_thread
from app.identity import own_pictures
from app.identity.models import User
from app.identity.sessions import Caller
from app.notifications.broadcasts import service as broadcasts


def create_thread(data: Loaded, caller: Caller) -> Record:
    """Create a thread and the broadcast that announces it."""
    columns = pictures.columns(data)  # decode the picture before a transaction begins
    _check_pseudonym(data["use_pseudonym"], caller)
    category = _category(data["category_id"])
    thread = _insert(Post(user_id=caller.id, **columns), columns)
    tag = category.preference_tag
    broadcasts.announce(notices.about(thread), preference_tag=tag, except_user_id=caller.id)
    help_ = crisis.check_post(thread)
    count(thread, 1)
    return _read(thread, help_)


def create_reply(thread_id: int, data: Loaded, caller: Caller) -> Record:
    """Create a reply to a thread or to one of its replies, and notify the thread's author."""
    columns = pictures.columns(data)
    _check_pseudonym(data["use_pseudonym"], caller)
    thread = lock(thread_id, is_thread=True)
    _check_shown(thread)
    place = _place(thread_id, data["parent_id"])
    reply = _insert(Post(root_id=thread_id, user_id=caller.id, **{**columns, **place}), columns)
    count(reply, 1)
    help_ = crisis.check_post(reply)
    notices.reply_written(thread, reply)
    return _read(reply, help_)


def update(post_id: int, data: Loaded, caller: Caller, *, is_thread: bool) -> Record:
    """Change the caller's own post. A replaced or removed picture is deleted after the commit."""
    columns = pictures.columns(data)
    post = lock_own(post_id, caller, is_thread=is_thread)
    _check_pseudonym(data.get("use_pseudonym", False), caller)
    before_id, is_counted = post.category_id, post.hidden_by is None
    is_moved = data.get("category_id", before_id) != before_id
    if is_moved:
        broadcasts.retag(notices.about(post), _category(data["category_id"]).preference_tag)
    own_pictures.keep(caller.id, columns, replaces=post.image)
    assign(post, {**columns, "updated_at": sa.func.now()})
    help_ = crisis.check_post(post) if data.keys() & {"title", "content"} else None
    if is_moved and is_counted:
        for category_id, step in sorted([(before_id, -1), (post.category_id, 1)]):
            count_thread(category_id, step)
    return _read(post, help_)


def delete(post_id: int, caller: Caller, *, is_thread: bool) -> None:
    remove(lock_own(post_id, caller, is_thread=is_thread))


def remove(post: Post) -> None:
    """Delete a locked thread with everything that belongs to it, or a reply.

    A reply with replies below it stays as a stub. Its thread is locked too, so nobody can reply before the commit.
    """
    if post.hidden_by is None:
        count(post, -1)
    if post.root_id is None:
        own_pictures.discard(post.image, *db.session.scalars(sa.select(Post.image).where(Post.root_id == post.id)))
        broadcasts.withdraw(notices.about(post))
        db.session.delete(post)
        db.session.flush()
        return
    own_pictures.discard(post.image)
    for model in (Mark, Case):
        db.session.execute(sa.delete(model).where(model.post_id == post.id))
    post.content = post.image = post.user_id = post.hidden_by = None
    post.likes_count = post.saves_count = 0
    db.session.flush()
    _prune(post.id)


def _prune(reply_id: int | None) -> None:
    """Delete a stub if no reply is below it. Then check its parent in the same way."""
    below = orm.aliased(Post)
    while reply_id is not None:
        is_empty = Post.content.is_(None), ~sa.exists().where(below.parent_id == Post.id)
        gone = sa.delete(Post).where(Post.id == reply_id, *is_empty).returning(Post.parent_id)
        reply_id = db.session.scalar(gone.execution_options(synchronize_session=False))


def _insert(post: Post, columns: Mapping[str, object]) -> Post:
    db.session.add(post)
    db.session.flush()
    own_pictures.keep(cast(int, post.user_id), columns)
    return post


def _read(post: Post, help_: Record | None) -> Record:
    """Return the post as its author sees it. Add the crisis help if there is any."""
    author_id = cast(int, post.user_id)
    if post.root_id is None:
        read = get_thread(post.id, RepliesQuery(), author_id).record
    else:
        read = get_reply(post.root_id, post.id, author_id)
    return read if help_ is None else {**read, "help": help_}


def _check_pseudonym(use_pseudonym: bool, caller: Caller) -> None:
    """Raise `ValidationFailed` if the caller asks for a pseudonym but has none in their profile."""
    if use_pseudonym and not db.session.scalar(sa.select(User.nama_samaran).where(User.id == caller.id)):
        raise ValidationFailed({"use_pseudonym": ["membutuhkan nama samaran di profil."]})


def _category(category_id: int) -> ForumCategory:
    category = db.session.get(ForumCategory, category_id)
    if category is None:
        raise ValidationFailed({"category_id": ["tidak dikenal."]})
    return category


def _check_shown(post: Post) -> None:
    if post.hidden_by is not None:
        raise Conflict("Tulisan ini disembunyikan moderator.", code="post_hidden")


def _place(thread_id: int, parent_id: int | None) -> dict[str, int | None]:
    """Return `parent_id` and `depth` of a new reply, and lock its parent.

    If the chosen parent is on the last level, use the parent of the chosen parent instead.
    """
    if parent_id is None:
        return {"parent_id": None, "depth": 1}
    parent = db.session.get(Post, parent_id, with_for_update={"key_share": True}, populate_existing=True)
    if parent is None or parent.root_id != thread_id or parent.content is None:
        raise ValidationFailed({"parent_id": ["tidak ada di utas ini."]})
    _check_shown(parent)
    if parent.depth < MAX_DEPTH:
        return {"parent_id": parent.id, "depth": parent.depth + 1}
    db.session.execute(sa.select(Post.id).where(Post.id == parent.parent_id).with_for_update(key_share=True))
    return {"parent_id": parent.parent_id, "depth": MAX_DEPTH}
