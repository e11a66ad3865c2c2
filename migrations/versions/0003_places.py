"""Facilities, doctors, emergency numbers and home page layouts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    op.create_table(
        "faskes",
        sa.Column("id", sa.Text(), nullable=False, comment="the places provider's identifier, or one of ours"),
        sa.Column("nama", sa.Text(), nullable=False),
        sa.Column("alamat", sa.Text(), nullable=True),
        sa.Column("lat", sa.Float(), nullable=False),
        sa.Column("lng", sa.Float(), nullable=False),
        sa.Column("jenis", sa.Text(), nullable=True),
        sa.Column("telepon", sa.Text(), nullable=True),
        sa.Column("province", sa.Text(), nullable=True),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("source", sa.Text(), server_default="db", nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("lat BETWEEN -90 AND 90 AND lng BETWEEN -180 AND 180", name=op.f("ck_faskes_position")),
        sa.CheckConstraint("source IN ('db', 'places')", name=op.f("ck_faskes_source")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_faskes")),
    )
    op.create_index("ix_faskes_position", "faskes", [sa.literal_column("point(lng, lat)")], postgresql_using="gist")
    op.create_index(
        "ix_faskes_nama", "faskes", ["nama"], postgresql_using="gin", postgresql_ops={"nama": "gin_trgm_ops"}
    )
    op.create_index("ix_faskes_created_at", "faskes", ["created_at", "id"])
    op.create_index(op.f("ix_faskes_province"), "faskes", ["province"])
    op.create_table(
        "dokter",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("nama", sa.Text(), nullable=False),
        sa.Column("spesialisasi", sa.Text(), nullable=True),
        sa.Column("telepon", sa.Text(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dokter")),
    )
    op.create_table(
        "dokter_faskes",
        sa.Column("dokter_id", sa.BigInteger(), nullable=False),
        sa.Column("faskes_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dokter_id"], ["dokter.id"], name=op.f("fk_dokter_faskes_dokter_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["faskes_id"], ["faskes.id"], name=op.f("fk_dokter_faskes_faskes_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dokter_id", "faskes_id", name=op.f("pk_dokter_faskes")),
    )
    op.create_index(op.f("ix_dokter_faskes_faskes_id"), "dokter_faskes", ["faskes_id"])
    op.create_table(
        "emergency_numbers",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("province", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_emergency_numbers")),
    )
    op.create_index("ix_emergency_numbers_province", "emergency_numbers", ["province", "id"])
    op.create_table(
        "province_configs",
        sa.Column("province", sa.Text(), nullable=False, comment="a province, or `default`"),
        sa.Column(
            "sections", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="[{id, enabled, order}]"
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("province", name=op.f("pk_province_configs")),
    )


def downgrade() -> None:
    for table in ("province_configs", "emergency_numbers", "dokter_faskes", "dokter", "faskes"):
        op.drop_table(table)
