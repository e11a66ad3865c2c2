"""Hide a post from everybody except its author, and show it again.

The functions also hide or show the post's picture and broadcast, and update the counter of its category or thread.
`hold_picture` hides only the picture, until a moderator decides about the post.
"""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.media import pictures
from app.forum.models import ForumCase, ForumReply, ForumThread, HiddenBy
from app.forum.service import notices
from app.forum.service.counters import count_reply, count_thread
from app.forum.service.posts import Post

#: Reason that the author reads if reports have hidden the post before a moderator has seen it.
REPORTED = "Beberapa orang melaporkan tulisan ini."


def hide(case: ForumCase, post: Post, by: HiddenBy, reason: str) -> None:
    """Hide a locked post. If it is hidden already, change the reason that its author reads."""
    was_shown = post.hidden_reason is None
    case.hidden_by, post.hidden_reason, post.image_is_held = by, reason, False
    db.session.flush()
    if was_shown:
        pictures.hide(post.image)
        if isinstance(post, ForumThread):
            notices.thread_hidden(post.id)
        _count(post, -1)


def show(case: ForumCase, post: Post) -> None:
    """Show a locked post and its picture to everybody, and allow its broadcast to be sent."""
    was_hidden = post.hidden_reason is not None
    if was_hidden or post.image_is_held:
        pictures.show(post.image)
    case.hidden_by, post.hidden_reason, post.image_is_held = None, None, False
    db.session.flush()
    if isinstance(post, ForumThread):
        notices.thread_released(post.id)
    if was_hidden:
        _count(post, 1)


def hold_picture(post: Post) -> None:
    """Hide the picture of a locked post from everybody until a moderator calls `hide` or `show` for the post."""
    if post.image is not None:
        post.image_is_held = True
        db.session.flush()
        pictures.hide(post.image)


def undo_reports(post: Post) -> None:
    """Show a locked post again if reports have hidden it. The post's picture and broadcast stay hidden."""
    which = ForumCase.reply_id == post.id if isinstance(post, ForumReply) else _is_of_thread(post)
    undone = sa.update(ForumCase).where(which, ForumCase.hidden_by == HiddenBy.REPORTS).values(hidden_by=None)
    if db.session.scalar(undone.returning(ForumCase.id)) is not None:
        post.hidden_reason = None
        db.session.flush()
        _count(post, 1)


def _is_of_thread(thread: ForumThread) -> sa.ColumnElement[bool]:
    return sa.and_(ForumCase.thread_id == thread.id, ForumCase.reply_id.is_(None))


def _count(post: ForumThread | ForumReply, step: int) -> None:
    if isinstance(post, ForumThread):
        count_thread(post.category_id, step)
    else:
        count_reply(post.thread_id, step)
