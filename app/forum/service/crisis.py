"""Help for authors who write that they want to die. A list of phrases detects their posts.

The author gets the numbers of crisis lines. Moderators get an urgent case. Nobody else is notified.
Reports by other people never hide such a post. The post's picture stays hidden and the post's broadcast stays unsent
until a moderator decides.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import sqlalchemy as sa

from app.core.database.session import db, get_locked_or_404, map_constraint_errors
from app.core.errors import Conflict, ValidationFailed
from app.core.web.pagination import Listing, Search, containing, paginate
from app.emergency import service as emergency
from app.emergency.service import CrisisNumber
from app.forum.models import CrisisPhrase, ForumThread, PhraseKind
from app.forum.service import cases, crisis_matcher, hiding
from app.forum.service.posts import Post
from app.identity.models import User

PHRASE_NOT_FOUND = "Frasa tidak ditemukan."
CONSTRAINTS = {"uq_crisis_phrases_words": Conflict("Frasa ini sudah ada.", code="phrase_taken")}

TITLE = "Anda tidak sendirian"
TEXT = (
    "Terima kasih sudah bercerita. Anda tidak harus menanggungnya sendiri. "
    "Bicaralah sekarang dengan orang yang Anda percaya, atau hubungi salah satu nomor di bawah ini."
)
EMERGENCY_TEXT = "Ini balasan otomatis. Kalau keadaannya darurat, telepon 119 sekarang."


class Help(TypedDict):
    title: str
    text: str
    phones: list[CrisisNumber]
    url: str


def kind_of(*texts: str) -> Literal["crisis", "emergency"] | None:
    """Return the kind of phrase that the texts contain, or None. If they contain both kinds, return "crisis"."""
    rows = db.session.execute(sa.select(CrisisPhrase.phrase, CrisisPhrase.kind)).all()
    if crisis_matcher.contains_phrase((row.phrase for row in rows if row.kind == PhraseKind.CRISIS), *texts):
        return "crisis"
    if crisis_matcher.contains_phrase((row.phrase for row in rows if row.kind == PhraseKind.EMERGENCY), *texts):
        return "emergency"
    return None


def help_for(domicile: str | None) -> Help:
    return {"title": TITLE, "text": TEXT, "phones": emergency.in_crisis(domicile), "url": emergency.CRISIS_URL}


def help_lines(domicile: str | None) -> str:
    """Return the crisis help as the text of a chat message."""
    help_ = help_for(domicile)
    lines = [
        ": ".join(filter(None, (phone["phone"], phone["title"]))) + (f", {phone['url']}" if phone["url"] else "")
        for phone in help_["phones"]
    ]
    return "\n".join([f"{help_['title']}. {help_['text']}", *lines])


def emergency_lines(domicile: str | None) -> str:
    """Return the chat's reply to a medical emergency, with the ambulance number of the person's province."""
    own = emergency.own_ambulance(domicile)
    return EMERGENCY_TEXT if own is None else f"{EMERGENCY_TEXT}\nAmbulans di {domicile}: {own['phone']}"


def check_post(post: Post) -> Help | None:
    """Return help for the author if the post has a crisis phrase, else None. The post must be locked.

    If the post has a crisis phrase, open an urgent case, and hide the picture until a moderator decides.
    If this function returns help for a changed post, the caller must also call `hiding.undo_reports`.
    """
    texts = (post.title, post.content) if isinstance(post, ForumThread) else (post.content or "",)
    if kind_of(*texts) != "crisis":
        return None
    case, is_new = cases.of_post(post)
    case.is_crisis = True
    cases.request_review(case, is_new=is_new, is_urgent=True)
    hiding.hold_picture(post)
    domicile = db.session.scalar(sa.select(User.domicile).where(User.id == post.user_id))
    return help_for(domicile)


def list_phrases(search: Search) -> Listing[CrisisPhrase]:
    query = sa.select(CrisisPhrase).order_by(CrisisPhrase.id.desc())
    if search.q:
        query = query.where(containing(search.q, CrisisPhrase.phrase))
    return paginate(query, search.page)


def create_phrase(phrase: str, kind: str) -> CrisisPhrase:
    """Create a phrase.

    Raise `ValidationFailed` if the phrase is too general, and `Conflict` if another phrase has the same plain words.
    """
    plain = crisis_matcher.plain(phrase)
    if crisis_matcher.is_too_general(plain):
        raise ValidationFailed({"phrase": ["terlalu umum."]})
    row = CrisisPhrase(phrase=phrase, words=plain, kind=kind)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(row)
    return row


def delete_phrase(phrase_id: int) -> None:
    db.session.delete(get_locked_or_404(CrisisPhrase, phrase_id, PHRASE_NOT_FOUND))
