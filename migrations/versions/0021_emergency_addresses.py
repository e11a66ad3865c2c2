"""Emergency numbers gain a web address; the mental health line has one, under the name that it got in July 2025."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

#: What administrators changed is left alone.
RENAMED = """
UPDATE emergency_numbers SET title = '{new}', url = {url}
WHERE phone = '119 ext. 8' AND title = '{old}'
"""
SEJIWA, HEALING = "Layanan Kesehatan Jiwa SEJIWA", "Layanan Kesehatan Jiwa Healing119 (dahulu SEJIWA)"


def upgrade() -> None:
    op.add_column(
        "emergency_numbers",
        sa.Column("url", sa.Text(), nullable=True, comment="where the same help is found on the web"),
    )
    op.execute(RENAMED.format(old=SEJIWA, new=HEALING, url="'https://www.healing119.id'"))


def downgrade() -> None:
    op.execute(RENAMED.format(old=HEALING, new=SEJIWA, url="NULL"))
    op.drop_column("emergency_numbers", "url")
