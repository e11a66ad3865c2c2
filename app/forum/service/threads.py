"""Create, read, update and delete threads."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.errors import Unauthorized
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, TruncatedRecord
from app.forum.models import ForumReply, ForumThread
from app.forum.schemas import RepliesQuery, ThreadQuery
from app.forum.service import cases, crisis, hiding, notices
from app.forum.service.counters import count_thread
from app.forum.service.crisis import Help
from app.forum.service.posts import change, check_category, check_owner, check_pseudonym, lock_thread
from app.forum.service.reads.posts import Record
from app.forum.service.reads.thread_list import read_page
from app.forum.service.reads.threads import ThreadPage, read_thread
from app.identity import own_pictures
from app.identity.sessions import Caller


def list_all(query: ThreadQuery, caller_id: int | None) -> Listing[Record]:
    """Return one page of threads, newest first.

    Raise `Unauthorized` if a caller without a token asks for own or saved threads.
    """
    if caller_id is None and (query.saved or query.mine):
        raise Unauthorized
    return read_page(query, caller_id)


def get(thread_id: int, query: RepliesQuery, caller_id: int | None) -> TruncatedRecord[Record] | ThreadPage:
    """Return a thread with the tree of its replies, or with the part of the tree that `query` selects."""
    return read_thread(thread_id, caller_id, query)


def create(data: Loaded, caller: Caller) -> Record:
    """Create a thread and the broadcast that announces it.

    The broadcast waits for a moderator if the thread has a crisis phrase.
    """
    columns = pictures.columns(data)  # decode the picture before a transaction begins
    check_pseudonym(data["use_pseudonym"], caller)
    check_category(data["category_id"])
    own_pictures.keep(caller.id, columns)
    thread = ForumThread(user_id=caller.id, **columns)
    db.session.add(thread)
    db.session.flush()
    help_ = crisis.check_post(thread)
    notices.thread_written(thread, is_held=help_ is not None)
    count_thread(thread.category_id, 1)
    return _read(thread, help_, caller)


def update(thread_id: int, data: Loaded, caller: Caller) -> Record:
    columns = pictures.columns(data)
    thread = lock_thread(thread_id)
    check_owner(thread, caller)
    check_pseudonym(data.get("use_pseudonym", False), caller)
    left_id, moves_to = thread.category_id, data.get("category_id", thread.category_id)
    if moves_to != left_id:
        check_category(moves_to)
    change(thread, columns, caller)
    is_counted = thread.hidden_reason is None
    if moves_to != left_id:
        notices.thread_changed(thread)
    help_ = crisis.check_post(thread) if data.keys() & {"title", "content", "image"} else None
    if help_ is not None:
        notices.thread_held(thread.id)
        hiding.undo_reports(thread)
    if moves_to != left_id and is_counted:
        for category_id, step in sorted([(left_id, -1), (moves_to, 1)]):
            count_thread(category_id, step)
    return _read(thread, help_, caller)


def delete(thread_id: int, caller: Caller) -> None:
    """Delete an own thread with its replies, likes, saves and pictures."""
    thread = lock_thread(thread_id)
    check_owner(thread, caller)
    remove(thread)


def remove(thread: ForumThread) -> None:
    """Delete a locked thread with its replies, likes, saves and pictures. Cancel its notices and close its cases."""
    images = sa.select(ForumReply.image).where(ForumReply.thread_id == thread.id)
    own_pictures.discard(thread.image, *db.session.scalars(images))
    notices.thread_deleted(thread.id)
    cases.close(thread)
    category_id, is_counted = thread.category_id, thread.hidden_reason is None
    db.session.delete(thread)
    db.session.flush()
    if is_counted:
        count_thread(category_id, -1)


def _read(thread: ForumThread, help_: Help | None, caller: Caller) -> Record:
    """Return the thread as its author sees it. Add the crisis help if there is any."""
    record = read_thread(thread.id, caller.id).record
    return record if help_ is None else {**record, "help": help_}
