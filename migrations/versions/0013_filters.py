"""Indexes of the lists' filters and searches. Each is built while the table goes on being written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

#: By name: the table, and what is indexed.
TRIGRAMS = {
    "ix_forum_threads_searched": ("forum_threads", ["title", "content"]),
    "ix_komunitas_searched": ("komunitas", ["nama", "deskripsi"]),
    "ix_articles_title": ("articles", ["title"]),
    "ix_videos_searched": ("videos", ["title", "channel_title"]),
    "ix_dokter_searched": ("dokter", ["nama", "spesialisasi"]),
    "ix_faskes_alamat": ("faskes", ["alamat"]),
}
TREES = {
    "ix_users_nama_ktp": ("users", [sa.text("lower(nama_ktp)"), "id"]),
    "ix_users_is_verified": ("users", ["is_verified", "created_at", "id"]),
    "ix_komunitas_province": ("komunitas", ["province"]),
    "ix_videos_channel_id": ("videos", ["channel_id"]),
    "ix_dokter_created_at": ("dokter", ["created_at", "id"]),
    "ix_dokter_spesialisasi": ("dokter", [sa.text("lower(spesialisasi)")]),
    "ix_faskes_jenis": ("faskes", ["jenis"]),
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        # Waiting for other transactions here makes nobody wait.
        op.execute("SET lock_timeout = 0")
        for name, (table, columns) in {**TRIGRAMS, **TREES}.items():
            is_trigram = name in TRIGRAMS
            # What an upgrade that was ended in its middle has left is there, and invalid.
            op.drop_index(name, table_name=table, if_exists=True, postgresql_concurrently=True)
            op.create_index(
                name,
                table,
                columns,
                postgresql_concurrently=True,
                postgresql_using="gin" if is_trigram else "btree",
                postgresql_ops=dict.fromkeys(columns, "gin_trgm_ops") if is_trigram else {},
            )
        op.execute("RESET lock_timeout")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        for name, (table, _) in {**TRIGRAMS, **TREES}.items():
            op.drop_index(name, table_name=table, if_exists=True, postgresql_concurrently=True)
