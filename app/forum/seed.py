"""Seed data of the forum: the categories.

Broadcasts about a thread go to people with the preference tag of the thread's category. The first category has no
tag, so the recipients of broadcasts about its threads need no tag.
"""

from __future__ import annotations

from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.forum.models import ForumCategory

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
    """Insert missing categories."""
    rows = [{"name": name, "preference_tag": tag} for name, tag in CATEGORIES]
    db.session.execute(insert(ForumCategory).values(rows).on_conflict_do_nothing(index_elements=[ForumCategory.name]))
