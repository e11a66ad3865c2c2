"""The forum's categories."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import records
from app.forum.models import ForumCategory

CATEGORIES = sa.select(
    ForumCategory.id, ForumCategory.name, ForumCategory.preference_tag, ForumCategory.threads_count
).order_by(ForumCategory.id)


def list_all() -> list[dict[str, object]]:
    """Return all categories in the order of their ids."""
    return records(CATEGORIES)
