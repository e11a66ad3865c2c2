"""What is known of the numbers that messages go to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

MOMENTS = {
    "last_inbound_at": "when its owner last wrote to us",
    "refused_at": (
        "since when the provider has been saying that nobody is there; null: it does not, or somebody was since"
    ),
    "probed_at": "when one message was tried on a number that counts as invalid; it is tried once",
    "wrong_at": "when somebody there said that the number is not the person's",
    "silent_at": "since when messages have been accepted and none arrived, while those of others did",
}


def upgrade() -> None:
    op.create_table(
        "phone_numbers",
        sa.Column("phone", sa.Text(), nullable=False, comment="E.164"),
        *(
            sa.Column(name, sa.DateTime(timezone=True), nullable=True, comment=comment)
            for name, comment in MOMENTS.items()
        ),
        sa.PrimaryKeyConstraint("phone", name=op.f("pk_phone_numbers")),
    )
    # What is invalid already has been refused: a week later it is tried like any other.
    op.execute(
        "INSERT INTO phone_numbers (phone, refused_at) "
        "SELECT phone, phone_invalid_at FROM users WHERE phone IS NOT NULL AND phone_invalid_at IS NOT NULL"
    )


def downgrade() -> None:
    op.drop_table("phone_numbers")
