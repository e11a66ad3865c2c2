"""Articles, videos, communities, and what people saved of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "videos",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("video_id", sa.Text(), nullable=False, comment="the platform's id"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.Text(), nullable=True),
        sa.Column("channel_title", sa.Text(), nullable=True),
        sa.Column("thumbnail", sa.Text(), nullable=True, comment="an address that the platform itself gave"),
        sa.Column("duration", sa.Text(), nullable=True, comment="ISO 8601"),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_videos")),
        sa.UniqueConstraint("video_id", name=op.f("uq_videos_video_id")),
    )
    op.create_table(
        "articles",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True, comment="canonical, see app.core.lib.urls"),
        sa.Column("content", sa.Text(), nullable=False, comment="sanitised HTML"),
        sa.Column("kategori_id", sa.BigInteger(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["kategori_id"], ["kategori.id"], name=op.f("fk_articles_kategori_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_articles")),
        sa.UniqueConstraint("url", name=op.f("uq_articles_url")),
    )
    op.create_index(op.f("ix_articles_kategori_id"), "articles", ["kategori_id"], unique=False)
    op.create_table(
        "komunitas",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("nama", sa.Text(), nullable=False),
        sa.Column("deskripsi", sa.Text(), nullable=True),
        sa.Column("kategori_id", sa.BigInteger(), nullable=True),
        sa.Column("link", sa.Text(), nullable=True),
        sa.Column("kontak", sa.Text(), nullable=True),
        sa.Column("province", sa.Text(), nullable=True),
        sa.Column("image", sa.Text(), nullable=True, comment="name in the media store"),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["kategori_id"], ["kategori.id"], name=op.f("fk_komunitas_kategori_id"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_komunitas")),
    )
    op.create_index(op.f("ix_komunitas_kategori_id"), "komunitas", ["kategori_id"], unique=False)
    op.create_table(
        "saved_articles",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False, comment="canonical, see app.core.lib.urls"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("saved", sa.Boolean(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_saved_articles_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "url", name=op.f("pk_saved_articles")),
    )
    op.create_index("ix_saved_articles_user_id_saved_at", "saved_articles", ["user_id", "saved_at"], unique=False)
    op.create_table(
        "saved_videos",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("video_id", sa.Text(), nullable=False, comment="the platform's id"),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("channel_title", sa.Text(), nullable=True),
        sa.Column("thumbnail", sa.Text(), nullable=True, comment="an address that the platform itself gave"),
        sa.Column("saved", sa.Boolean(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_saved_videos_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "video_id", name=op.f("pk_saved_videos")),
    )
    op.create_index("ix_saved_videos_user_id_saved_at", "saved_videos", ["user_id", "saved_at"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_saved_videos_user_id_saved_at", table_name="saved_videos")
    op.drop_table("saved_videos")
    op.drop_index("ix_saved_articles_user_id_saved_at", table_name="saved_articles")
    op.drop_table("saved_articles")
    op.drop_index(op.f("ix_komunitas_kategori_id"), table_name="komunitas")
    op.drop_table("komunitas")
    op.drop_index(op.f("ix_articles_kategori_id"), table_name="articles")
    op.drop_table("articles")
    op.drop_table("videos")
