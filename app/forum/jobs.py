"""Periodic jobs of the forum.

One job deletes old texts from moderation cases. Another job moves pictures that a killed process has not
moved.
"""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.media import pictures
from app.forum.models import CaseState, ForumCase, ForumReply, ForumThread

#: Time for which a moderation case keeps the text of a post that a moderator deleted.
#: Moderators need the text if the author asks for the reason.
KEEP_DELETED = timedelta(days=180)


def delete_old_case_texts() -> None:
    """Delete the texts in old moderation cases.

    A case is old if a moderator deleted its post more than `KEEP_DELETED` ago. The case keeps the decision and the
    reason.
    """
    with unit_of_work():
        db.session.execute(
            sa.update(ForumCase)
            .where(
                ForumCase.state == CaseState.DELETED,
                ForumCase.content.is_not(None),
                ForumCase.decided_at < sa.func.now() - KEEP_DELETED,
            )
            .values(title=None, content=None, use_pseudonym=None)
            .execution_options(synchronize_session=False)
        )


def place_pictures() -> None:
    """Move each picture of a moderated post to the public or to the hidden store, as the post's row requires.

    A process may have been killed after it committed a decision and before it moved the picture.
    Also delete hidden pictures that no moderated post uses. The posts of these pictures were deleted.
    """
    # List the hidden pictures before the query of the posts. A picture is hidden after the commit of its post's row,
    # so the query finds the row of each listed picture.
    stored_as_hidden = {name for name, _ in pictures.hidden().names()}
    with unit_of_work():
        is_hidden = {row.image: row.is_hidden for row in db.session.execute(_PICTURES_OF_CASES)}
        for name, must_be_hidden in is_hidden.items():
            if must_be_hidden:
                # Hide the picture even if the hidden store already has it. The public store may still have a copy if a
                # process was killed.
                pictures.hide(name)
        for name in stored_as_hidden:
            if name not in is_hidden:
                pictures.discard(name)
            elif not is_hidden[name]:
                pictures.show(name)


def _pictures_of(
    post: type[ForumThread] | type[ForumReply], is_its_case: sa.ColumnElement[bool]
) -> sa.Select[str | None, bool]:
    is_hidden = sa.or_(post.hidden_reason.is_not(None), post.image_is_held)
    return (
        sa.select(post.image, is_hidden.label("is_hidden")).join(ForumCase, is_its_case).where(post.image.is_not(None))
    )


_PICTURES_OF_CASES = sa.union_all(
    _pictures_of(ForumThread, sa.and_(ForumCase.thread_id == ForumThread.id, ForumCase.reply_id.is_(None))),
    _pictures_of(ForumReply, ForumCase.reply_id == ForumReply.id),
)
