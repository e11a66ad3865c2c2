"""Hiding a post from all but its author, and showing it again: the post, its picture, the counters above it, and who is
told.
"""

from __future__ import annotations

from app.core.database.session import db
from app.core.media import pictures
from app.forum.models import ForumReply, ForumThread
from app.forum.service import notices
from app.forum.service.counters import count_reply, count_thread
from app.forum.service.posts import Post

#: What the author reads of a post that reports have hidden.
REPORTED = "Beberapa orang melaporkan tulisan ini. Moderator akan memeriksanya."


def hide(post: Post, reason: str) -> None:
    """Hide a locked post, or change why it is hidden."""
    was_shown = post.hidden_reason is None
    post.hidden_reason = reason
    db.session.flush()
    if was_shown:
        pictures.hide(post.image)
        if isinstance(post, ForumThread):
            notices.thread_hidden(post.id)
        _count(post, -1)


def show(post: Post) -> None:
    """Show a locked post to everybody, and let go what has waited for that."""
    was_hidden = post.hidden_reason is not None
    if was_hidden:
        post.hidden_reason = None
        db.session.flush()
        pictures.show(post.image)
    if isinstance(post, ForumThread):
        notices.thread_released(post.id)
    if was_hidden:
        _count(post, 1)


def _count(post: ForumThread | ForumReply, step: int) -> None:
    if isinstance(post, ForumThread):
        count_thread(post.category_id, step)
    else:
        count_reply(post.thread_id, step)
