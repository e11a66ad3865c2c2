"""Second factors of administrators."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.create_table(
        "second_factors",
        sa.Column("user_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("secret", sa.Text, nullable=False, comment="encrypted as NIK are"),
        sa.Column("recovery_hashes", ARRAY(sa.Text), nullable=False, comment="keyed hash of each code not used yet"),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), comment="null: it is not asked for yet"),
        sa.Column(
            "last_counter",
            sa.BigInteger,
            server_default=sa.text("0"),
            nullable=False,
            comment="the step of the code used last",
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
    )


def downgrade() -> None:
    op.drop_table("second_factors")
