"""People, roles, sessions, caregiver links and content categories."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "kategori",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("nama_kategori", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_kategori")),
    )
    op.create_index("uq_kategori_nama_kategori", "kategori", [sa.literal_column("lower(nama_kategori)")], unique=True)
    op.create_table(
        "roles",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_editable", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_roles")),
    )
    op.create_index("uq_roles_name", "roles", [sa.literal_column("lower(name)")], unique=True)
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("nama_ktp", sa.Text(), nullable=False),
        sa.Column("nama_samaran", sa.Text(), nullable=True),
        sa.Column("nomor_hp", sa.Text(), nullable=True, comment="as sent"),
        sa.Column("phone", sa.Text(), nullable=True, comment="nomor_hp in E.164; login matches it, messages go to it"),
        sa.Column(
            "phone_invalid_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the messaging provider called the number invalid; cleared when it changes",
        ),
        sa.Column("nik", sa.Text(), nullable=True, comment="AES-256-GCM, see app.identity.nik"),
        sa.Column("domicile", sa.Text(), nullable=True),
        sa.Column(
            "preferences", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True, comment="as sent"
        ),
        sa.Column(
            "preference_tags",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="what broadcasts are filtered by, flattened from preferences",
        ),
        sa.Column("accepts_broadcasts", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("is_verified", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )
    op.create_index("ix_users_created_at", "users", ["created_at", "id"], unique=False)
    op.create_index("ix_users_domicile", "users", ["domicile"], unique=False)
    op.create_index("uq_users_email", "users", [sa.literal_column("lower(email)")], unique=True)
    op.create_index("uq_users_phone", "users", ["phone"], unique=True)
    op.create_index("uq_users_username", "users", [sa.literal_column("lower(username)")], unique=True)
    op.create_table(
        "caregiver_links",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("caregiver_id", sa.BigInteger(), nullable=False),
        sa.Column("patient_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("caregiver_id <> patient_id", name=op.f("ck_caregiver_links_two_people")),
        sa.ForeignKeyConstraint(
            ["caregiver_id"], ["users.id"], name=op.f("fk_caregiver_links_caregiver_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["patient_id"], ["users.id"], name=op.f("fk_caregiver_links_patient_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_caregiver_links")),
        sa.UniqueConstraint("caregiver_id", "patient_id", name=op.f("uq_caregiver_links_caregiver_id_patient_id")),
    )
    op.create_index(op.f("ix_caregiver_links_patient_id"), "caregiver_links", ["patient_id"], unique=False)
    op.create_table(
        "password_resets",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False, comment="SHA-256 of the code in the link"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_password_resets_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_password_resets")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_password_resets_token_hash")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("refresh_hash", sa.Text(), nullable=True, comment="SHA-256 of the refresh token"),
        sa.Column("last_used_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("refresh_hash", name=op.f("uq_sessions_refresh_hash")),
    )
    op.create_index(op.f("ix_sessions_user_id"), "sessions", ["user_id"], unique=False)
    op.create_table(
        "user_roles",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("role_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["role_id"], ["roles.id"], name=op.f("fk_user_roles_role_id"), ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_roles_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "role_id", name=op.f("pk_user_roles")),
    )
    op.create_index(op.f("ix_user_roles_role_id"), "user_roles", ["role_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_user_roles_role_id"), table_name="user_roles")
    op.drop_table("user_roles")
    op.drop_index(op.f("ix_sessions_user_id"), table_name="sessions")
    op.drop_table("sessions")
    op.drop_table("password_resets")
    op.drop_index(op.f("ix_caregiver_links_patient_id"), table_name="caregiver_links")
    op.drop_table("caregiver_links")
    op.drop_index("uq_users_username", table_name="users")
    op.drop_index("uq_users_phone", table_name="users")
    op.drop_index("uq_users_email", table_name="users")
    op.drop_index("ix_users_domicile", table_name="users")
    op.drop_index("ix_users_created_at", table_name="users")
    op.drop_table("users")
    op.drop_index("uq_roles_name", table_name="roles")
    op.drop_table("roles")
    op.drop_index("uq_kategori_nama_kategori", table_name="kategori")
    op.drop_table("kategori")
