"""Whose the pictures are that were stored before that was noted: they go with the person, and into their own copy.

How large they are stands in no row: as before they take no room, and 0 bytes tell them apart.
"""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"

#: By table: its column of whose picture it is.
OWNERS = {"users": "id", "forum_threads": "user_id", "forum_replies": "user_id"}

#: A person who is deleted meanwhile is waited for, and left out.
NOTED = """
INSERT INTO own_pictures (name, user_id, bytes)
SELECT named.image, person.id, 0
FROM {table} AS named JOIN users AS person ON person.id = named.{owner}
WHERE named.image IS NOT NULL
FOR KEY SHARE OF person
ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    for table, owner in OWNERS.items():
        op.execute(NOTED.format(table=table, owner=owner))


def downgrade() -> None:
    op.execute("DELETE FROM own_pictures WHERE bytes = 0")
