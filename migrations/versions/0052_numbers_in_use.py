"""Moves of phone numbers between accounts, and the time of a number's last known use.

Settled deliveries are kept for 30 days, so evidence of older use is missing. If an account has had its number for
longer, assume that the number was in use until 30 days ago.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from app.core.database.migrations import fill

revision = "0052"
down_revision = "0051"

#: Last known use of a number: messages to its account that arrived, and messages from the number.
KNOWN = """
    GREATEST(
        (SELECT max(COALESCE(receipt_at, settled_at)) FROM deliveries
         WHERE user_id = users.id AND channel = 'messaging' AND state = 'sent' AND receipt IS DISTINCT FROM 'failed'
         AND kind NOT IN ('phone_code', 'phone_move')),
        (SELECT max(received_at) FROM inbound WHERE inbound.phone = users.phone AND kind = 'message'
         AND outcome NOT LIKE '%verify%' AND outcome NOT LIKE '%reset')
    )
"""
TOOK_AT = "COALESCE(phone_changed_at, users.created_at)"
FILL = """
    INSERT INTO phone_numbers (phone, used_at)
    SELECT phone, used_at FROM (
        SELECT users.phone, {used_at} AS used_at FROM users LEFT JOIN phone_numbers ON phone_numbers.phone = users.phone
        WHERE users.phone IS NOT NULL AND phone_numbers.used_at IS NULL AND {which}
    ) AS numbers
    WHERE used_at IS NOT NULL
    LIMIT :batch
    ON CONFLICT (phone) DO UPDATE SET used_at = excluded.used_at
"""


def upgrade() -> None:
    op.execute("ALTER TABLE phone_numbers DROP COLUMN IF EXISTS silent_at")
    for column in ("wrong_codes smallint NOT NULL DEFAULT 0", "stopped_at timestamptz", "used_at timestamptz"):
        op.execute(f"ALTER TABLE phone_numbers ADD COLUMN IF NOT EXISTS {column}")
    op.execute("ALTER TABLE phone_verifications ADD COLUMN IF NOT EXISTS asked_at timestamptz")
    for column, comment in (
        ("phone_numbers.wrong_codes", "codes sent to the number since wrong_at"),
        (
            "phone_numbers.stopped_at",
            "when the number ended reminders while its person had not proven it; null: MULAI or a proof came since",
        ),
        ("phone_numbers.used_at", "when its owner last answered or received anything but a proof, to the day"),
        (
            "phone_verifications.asked_at",
            "when the proof succeeded and the number was asked whether it moves; null: not proven, or not asked",
        ),
    ):
        op.execute(f"COMMENT ON COLUMN {column} IS '{comment}'")
    op.create_index(op.f("ix_phone_verifications_phone"), "phone_verifications", ["phone"], if_not_exists=True)
    op.create_table(
        "phone_moves",
        sa.Column("phone", sa.Text(), nullable=False, comment="E.164"),
        sa.Column("nomor_hp", sa.Text(), nullable=False, comment="as the former holder sent it"),
        sa.Column("from_user_id", sa.BigInteger(), nullable=False),
        sa.Column("to_user_id", sa.BigInteger(), comment="null: the move was taken back"),
        sa.Column("verified_at", sa.DateTime(timezone=True), comment="phone_verified_at of the former holder"),
        sa.Column("nomor_hp_before", sa.Text(), comment="the number that the new holder had until the move"),
        sa.Column("moved_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("phone", name=op.f("pk_phone_moves")),
        sa.ForeignKeyConstraint(
            ["from_user_id"], ["users.id"], name=op.f("fk_phone_moves_from_user_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["to_user_id"], ["users.id"], name=op.f("fk_phone_moves_to_user_id"), ondelete="CASCADE"
        ),
        if_not_exists=True,
    )
    for name in ("from_user_id", "to_user_id", "moved_at"):
        op.create_index(op.f(f"ix_phone_moves_{name}"), "phone_moves", [name], if_not_exists=True)
    # If a number was reported as wrong after it was verified, remove the verification. Otherwise remove the report.
    op.execute(
        "UPDATE users SET phone_verified_at = NULL FROM phone_numbers"
        " WHERE phone_numbers.phone = users.phone AND wrong_at >= phone_verified_at"
    )
    op.execute(
        "UPDATE phone_numbers SET wrong_at = NULL FROM users"
        " WHERE phone_numbers.phone = users.phone AND phone_verified_at IS NOT NULL AND wrong_at IS NOT NULL"
    )
    may_have = f"GREATEST({KNOWN}, now() - interval '30 days')"
    fill(FILL.format(used_at=may_have, which=f"{TOOK_AT} < now() - interval '30 days'"))
    fill(FILL.format(used_at=KNOWN, which=f"{TOOK_AT} >= now() - interval '30 days'"))


def downgrade() -> None:
    op.drop_table("phone_moves")
    op.drop_index(op.f("ix_phone_verifications_phone"), "phone_verifications")
    op.drop_column("phone_verifications", "asked_at")
    for name in ("used_at", "stopped_at", "wrong_codes"):
        op.drop_column("phone_numbers", name)
    op.add_column(
        "phone_numbers",
        sa.Column(
            "silent_at",
            sa.DateTime(timezone=True),
            comment="since when messages have been accepted and none arrived, while those of others did",
        ),
    )
