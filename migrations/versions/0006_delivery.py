"""Reminders, push subscriptions, broadcasts, activity logs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "activity_logs",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column(
            "event_id", sa.Uuid(), nullable=False, comment="given when it was accepted; ingested twice, it is one row"
        ),
        sa.Column("log", sa.Text(), nullable=False, comment="user or admin: the route that it came by"),
        sa.Column("user_id", sa.BigInteger(), nullable=True, comment="of the token, where a good one was sent"),
        sa.Column("event_type", sa.Text(), nullable=True),
        sa.Column("event_name", sa.Text(), nullable=True),
        sa.Column("screen_name", sa.Text(), nullable=True),
        sa.Column("activity_description", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("user_ip", sa.Text(), nullable=True, comment="as the client says"),
        sa.Column("remote_ip", sa.Text(), nullable=True, comment="as we saw it"),
        sa.Column("user_agent", sa.Text(), nullable=True),
        sa.Column("extra", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, comment="when it was accepted"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_activity_logs")),
        sa.UniqueConstraint("event_id", name=op.f("uq_activity_logs_event_id")),
    )
    op.create_index("ix_activity_logs_created_at", "activity_logs", ["created_at", "id"], unique=False)
    op.create_index("ix_activity_logs_user_id", "activity_logs", ["user_id", "id"], unique=False)
    op.create_table(
        "broadcast_pace",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_broadcast_pace")),
    )
    op.create_table(
        "broadcasts",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False, comment="forum_thread, article or video"),
        sa.Column(
            "subject", sa.Text(), nullable=False, comment="what it tells of, as in forum_thread:5; announced once"
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column(
            "preference_tag", sa.Text(), nullable=True, comment="only people with this preference; null: everybody"
        ),
        sa.Column("except_user_id", sa.BigInteger(), nullable=True, comment="who wrote it"),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False, comment="after the random delay"),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column(
            "cursor",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="the last user that a page has reached",
        ),
        sa.Column("recipients", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_broadcasts")),
        sa.UniqueConstraint("subject", name=op.f("uq_broadcasts_subject")),
    )
    op.create_index(
        "ix_broadcasts_open", "broadcasts", ["starts_at"], unique=False, postgresql_where=sa.text("state = 'open'")
    )
    op.create_table(
        "log_day_users",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", "user_id", name=op.f("pk_log_day_users")),
    )
    op.create_table(
        "log_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("events", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("active_users", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_log_days")),
    )
    op.create_table(
        "broadcast_days",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_broadcast_days_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "day", name=op.f("pk_broadcast_days")),
    )
    op.create_index(op.f("ix_broadcast_days_day"), "broadcast_days", ["day"], unique=False)
    op.create_table(
        "push_subscriptions",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("p256dh", sa.Text(), nullable=False, comment="the browser's public key, base64url"),
        sa.Column("auth", sa.Text(), nullable=False, comment="the browser's shared secret, base64url"),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column(
            "is_verified",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="made with the person's own token; otherwise the person is a claim",
        ),
        sa.Column(
            "refusals",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="times in a row that our keys did not fit",
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_push_subscriptions_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_push_subscriptions")),
        sa.UniqueConstraint("endpoint", name=op.f("uq_push_subscriptions_endpoint")),
    )
    op.create_index(op.f("ix_push_subscriptions_user_id"), "push_subscriptions", ["user_id"], unique=False)
    op.create_table(
        "reminders",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("tipe", sa.Text(), nullable=False),
        sa.Column("judul", sa.Text(), nullable=False),
        sa.Column(
            "waktu", sa.DateTime(timezone=True), nullable=False, comment="as sent; what obat shows is the next dose"
        ),
        sa.Column("timezone", sa.Text(), nullable=False, comment="IANA"),
        sa.Column("details", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column(
            "plan",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="the schedule in wall times, see app.pengingat.schedule",
        ),
        sa.Column(
            "active_from",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="when the schedule was last set; nothing before is an occurrence of it",
        ),
        sa.Column(
            "planned_until",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="up to here the occurrences are in the outbox",
        ),
        sa.Column(
            "done_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="the occurrence after the one that is done; from then on it is not done any more",
        ),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_reminders_user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reminders")),
    )
    op.create_index(op.f("ix_reminders_planned_until"), "reminders", ["planned_until"], unique=False)
    op.create_index("ix_reminders_user_id", "reminders", ["user_id", "id"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_reminders_user_id", table_name="reminders")
    op.drop_index(op.f("ix_reminders_planned_until"), table_name="reminders")
    op.drop_table("reminders")
    op.drop_index(op.f("ix_push_subscriptions_user_id"), table_name="push_subscriptions")
    op.drop_table("push_subscriptions")
    op.drop_index(op.f("ix_broadcast_days_day"), table_name="broadcast_days")
    op.drop_table("broadcast_days")
    op.drop_table("log_days")
    op.drop_table("log_day_users")
    op.drop_index("ix_broadcasts_open", table_name="broadcasts", postgresql_where=sa.text("state = 'open'"))
    op.drop_table("broadcasts")
    op.drop_table("broadcast_pace")
    op.drop_index("ix_activity_logs_user_id", table_name="activity_logs")
    op.drop_index("ix_activity_logs_created_at", table_name="activity_logs")
    op.drop_table("activity_logs")
