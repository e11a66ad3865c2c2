"""Help for authors who write that they want to die. A list of phrases detects their posts.

The author gets the numbers of crisis lines. Moderators get an urgent case. Nobody else is notified.
Reports by other people never hide such a post. The post's broadcast stays unsent until a moderator decides.
"""

from __future__ import annotations

from typing import Literal

import sqlalchemy as sa

from app.core.database.session import db
from app.emergency import service as emergency
from app.forum.models import HiddenBy, Post
from app.forum.service import moderation
from app.forum.service.crisis_matcher import contains_phrase
from app.forum.service.crisis_phrases import CRISIS, EMERGENCY
from app.forum.service.reads import Record
from app.identity.models import User

TITLE = "Anda tidak sendirian"
TEXT = (
    "Terima kasih sudah bercerita. Anda tidak harus menanggungnya sendiri. "
    "Bicaralah sekarang dengan orang yang Anda percaya, atau hubungi salah satu nomor di bawah ini."
)
EMERGENCY_TEXT = "Ini balasan otomatis. Kalau keadaannya darurat, telepon 119 sekarang."


def kind_of(*texts: str) -> Literal["crisis", "emergency"] | None:
    """Return the kind of phrase that the texts contain, or None. If they contain both kinds, return "crisis"."""
    if contains_phrase(CRISIS, *texts):
        return "crisis"
    return "emergency" if contains_phrase(EMERGENCY, *texts) else None


def help_for(domicile: str | None) -> Record:
    """Return the help for a person. The schema `Help` documents it."""
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


def check_post(post: Post) -> Record | None:
    """Return help for the author if the post has a crisis phrase, else None. The post must be locked.

    If the post has a crisis phrase, open an urgent case, and show the post again if reports have hidden it.
    """
    if not contains_phrase(CRISIS, post.title or "", post.content or ""):
        return None
    case, is_new = moderation.of_post(post)
    case.is_crisis = True
    moderation.request_review(case, post, is_new=is_new, is_urgent=True)
    if post.hidden_by == HiddenBy.REPORTS:
        moderation.set_hidden(case, post, None)
    return help_for(db.session.scalar(sa.select(User.domicile).where(User.id == post.user_id)))
