"""Seed data of the forum: categories, crisis phrases and emergency phrases.

Broadcasts about a thread go to people with the preference tag of the thread's category. The first category has no
tag, so the recipients of broadcasts about its threads need no tag.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.forum.models import CrisisPhrase, ForumCategory, PhraseKind
from app.forum.service.crisis_matcher import plain
from app.forum.service.crisis_phrases import CRISIS, EMERGENCY

CATEGORIES: tuple[tuple[str, str | None], ...] = (
    ("Umum", None),
    ("Medis", "medical"),
    ("Kesehatan Mental", "mental_health"),
    ("Islam", "islam"),
    ("Kristen", "kristen"),
    ("Katolik", "katolik"),
    ("Hindu", "hindu"),
    ("Buddha", "buddha"),
    ("Konghucu", "konghucu"),
    ("Kepercayaan Lain", "other_belief"),
)


def seed() -> None:
    """Insert missing categories. Insert all phrases of a kind if the table has no phrase of this kind.

    The kinds are crisis and emergency. Existing phrases stay unchanged, because administrators may have deleted some
    phrases on purpose.
    """
    rows = [{"name": name, "preference_tag": tag} for name, tag in CATEGORIES]
    db.session.execute(insert(ForumCategory).values(rows).on_conflict_do_nothing(index_elements=[ForumCategory.name]))
    seeded = set(db.session.scalars(sa.select(CrisisPhrase.kind).distinct()))
    phrases = [
        {"phrase": phrase, "words": plain(phrase), "kind": kind}
        for kind, texts in ((PhraseKind.CRISIS, CRISIS), (PhraseKind.EMERGENCY, EMERGENCY))
        if kind not in seeded
        for phrase in texts
    ]
    if phrases:
        db.session.execute(insert(CrisisPhrase).values(phrases).on_conflict_do_nothing())
