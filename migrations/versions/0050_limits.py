"""Networks from which people have logged in, and caregivers whom a patient has removed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"

_person = {"ondelete": "CASCADE"}


def upgrade() -> None:
    op.create_table(
        "login_networks",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("network_hash", sa.Text(), nullable=False, comment="of the address's /24, or /64 of IPv6"),
        sa.Column("last_login_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_login_networks_user_id", **_person),
        sa.PrimaryKeyConstraint("user_id", "network_hash", name="pk_login_networks"),
    )
    op.create_index("ix_login_networks_last_login_at", "login_networks", ["last_login_at"])
    op.create_table(
        "caregiver_cuts",
        sa.Column("patient_id", sa.BigInteger(), nullable=False),
        sa.Column("caregiver_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["patient_id"], ["users.id"], name="fk_caregiver_cuts_patient_id", **_person),
        sa.ForeignKeyConstraint(["caregiver_id"], ["users.id"], name="fk_caregiver_cuts_caregiver_id", **_person),
        sa.PrimaryKeyConstraint("patient_id", "caregiver_id", name="pk_caregiver_cuts"),
    )
    op.create_index("ix_caregiver_cuts_caregiver_id", "caregiver_cuts", ["caregiver_id"])


def downgrade() -> None:
    op.drop_table("caregiver_cuts")
    op.drop_table("login_networks")
