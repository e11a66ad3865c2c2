"""What people asked to have of their own data, as a file."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_table(
        "data_exports",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False, comment="of Jakarta: a person may ask once a day"),
        sa.Column("file", sa.Text(), nullable=False, comment="name in the room of exports, also before it is there"),
        sa.Column("attempts", sa.SmallInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "next_try_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="when the sweep enqueues it, unless it is ready by then",
        ),
        sa.Column("ready_at", sa.DateTime(timezone=True), nullable=True, comment="since when the file can be fetched"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_data_exports_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_exports")),
        sa.UniqueConstraint("user_id", "day", name=op.f("uq_data_exports_user_id_day")),
    )
    op.create_index(
        "ix_data_exports_waiting", "data_exports", ["next_try_at"], postgresql_where=sa.text("ready_at IS NULL")
    )


def downgrade() -> None:
    op.drop_table("data_exports")
