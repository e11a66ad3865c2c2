"""Help for somebody who writes that they want to die, and the phrases by which that is known.

The author is told where to find help, and moderators look at the post soon. Nothing is hidden, nothing scored, and
nobody else is told.
"""

from __future__ import annotations

from typing import TypedDict

import sqlalchemy as sa

from app.core.database.session import db, get_locked_or_404, translating
from app.core.errors import Conflict, ValidationFailed
from app.core.web.pagination import Listing, Search, contains, paginate
from app.core.web.search import like
from app.emergency import service as emergency
from app.emergency.service import CrisisNumber
from app.forum.models import CrisisPhrase, ForumThread
from app.forum.service import cases, words
from app.forum.service.posts import Post
from app.identity.models import User

PHRASE_NOT_FOUND = "Frasa tidak ditemukan."
CONSTRAINTS = {"uq_crisis_phrases_words": Conflict("Frasa ini sudah ada.", code="phrase_taken")}

TITLE = "Anda tidak sendirian"
TEXT = (
    "Terima kasih sudah bercerita. Bila Anda ingin menyakiti diri, bicaralah sekarang dengan orang yang Anda percaya. "
    "Anda juga dapat menelepon salah satu nomor di bawah ini."
)


class Help(TypedDict):
    """Where somebody in danger finds help."""

    title: str
    text: str
    phones: list[CrisisNumber]
    url: str


def look_at(post: Post) -> Help | None:
    """Help for the author of a locked post that holds a crisis phrase, and an urgent case of it; else None."""
    texts = (post.title, post.content) if isinstance(post, ForumThread) else (post.content or "",)
    if not words.finds(db.session.scalars(sa.select(CrisisPhrase.phrase)), *texts):
        return None
    case, is_new = cases.of_post(post)
    cases.ask(case, is_new=is_new, is_urgent=True)
    domicile = db.session.scalar(sa.select(User.domicile).where(User.id == post.user_id))
    return {"title": TITLE, "text": TEXT, "phones": emergency.in_crisis(domicile), "url": emergency.CRISIS_URL}


def list_phrases(search: Search) -> Listing[CrisisPhrase]:
    """The phrases, the latest first."""
    query = sa.select(CrisisPhrase).order_by(CrisisPhrase.id.desc())
    if search.q:
        query = query.where(like(contains(search.q), CrisisPhrase.phrase))
    return paginate(query, search.page)


def create_phrase(text: str) -> CrisisPhrase:
    """A new phrase; `Conflict` when there is one of the same words."""
    plain = words.plain(text)
    if words.says_too_little(plain):
        raise ValidationFailed({"phrase": ["terlalu umum."]})
    phrase = CrisisPhrase(phrase=text, words=plain)
    with translating(CONSTRAINTS):
        db.session.add(phrase)
    return phrase


def delete_phrase(phrase_id: int) -> None:
    db.session.delete(get_locked_or_404(CrisisPhrase, phrase_id, PHRASE_NOT_FOUND))
