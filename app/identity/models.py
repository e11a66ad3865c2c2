"""Tables of people, roles, login sessions, verifications of phone numbers, own pictures and the audit log."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column, query_expression, relationship

from app.core.database.personal import SECRET, Custom, Delete, Personal, Rows
from app.core.database.session import Base, Created, Timestamps, trigrams


class RoleName(StrEnum):
    """The roles that the seed creates. The access rules of routes use only these roles."""

    SUPERADMIN = "superadmin"
    ADMIN = "admin"
    PENDAMPING = "pendamping"
    PASIEN = "pasien"


#: Order in which `role` names one of several roles. Clients compare `role` with "admin".
MAIN_ROLES = (RoleName.ADMIN, RoleName.SUPERADMIN, RoleName.PENDAMPING, RoleName.PASIEN)
#: Roles that people can choose for themselves at registration or in their profile.
SELF_SERVICE = frozenset({RoleName.PASIEN, RoleName.PENDAMPING})
#: Roles with access to other people's data. Their sessions are short, and they can have a second factor.
PRIVILEGED = frozenset({RoleName.ADMIN, RoleName.SUPERADMIN})

user_roles = sa.Table(
    "user_roles",
    Base.metadata,
    sa.Column("user_id", sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    # With RESTRICT, a request to delete a role that somebody has fails with status 409.
    sa.Column("role_id", sa.ForeignKey("roles.id", ondelete="RESTRICT"), primary_key=True, index=True),
    info={"personal": Personal(of=("user_id",), export=Rows(), erase=Delete())},
)


class Role(Base):
    __tablename__ = "roles"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    is_editable: Mapped[bool] = mapped_column(server_default=sa.true())

    __table_args__ = (sa.Index("uq_roles_name", sa.text("lower(name)"), unique=True),)


#: Columns that administrators can search. The pseudonym is left out, because a search would reveal its owner.
SEARCHED = ("username", "nama_ktp", "email", "nomor_hp", "phone")


class User(Base, Timestamps):
    __tablename__ = "users"
    __personal__ = Personal(
        of=("id",),
        # The dependents of a caregiver are erased before the caregiver.
        mentions=("guardian_id",),
        export=Rows(without=("password_hash",)),
        erase=Custom("It goes last, and leaves a tombstone"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str]
    email: Mapped[str | None]
    password_hash: Mapped[str | None] = mapped_column(comment="null for a dependent, who cannot log in", info=SECRET)
    nama_ktp: Mapped[str]
    nama_samaran: Mapped[str | None]
    nomor_hp: Mapped[str | None] = mapped_column(comment="the phone number as the client sent it")
    phone: Mapped[str | None] = mapped_column(comment="nomor_hp in E.164, for logins and messages")
    phone_invalid_at: Mapped[datetime | None] = mapped_column(
        comment="when the messaging provider reported the number as invalid; cleared when the number changes"
    )
    phone_changed_at: Mapped[datetime | None] = mapped_column(
        comment="when the person changed to this number; null: never changed"
    )
    phone_before: Mapped[str | None] = mapped_column(
        comment="the previous number in E.164; of several changes within a day, the number before the first change"
    )
    phone_verified_at: Mapped[datetime | None] = mapped_column(
        comment="when the person proved the number; null: not proven since the last change"
    )
    is_staff: Mapped[bool] = mapped_column(
        server_default=sa.false(),
        comment="true if an administrator created the account and it never had another role than admin; then other "
        "administrators may set its password and delete it",
    )
    guardian_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("users.id"),
        comment="the caregiver who manages a dependent's account (app.identity.dependents); null: not a dependent",
    )
    nik: Mapped[str | None] = mapped_column(comment="AES-256-GCM, see app.identity.nik", info=SECRET)
    domicile: Mapped[str | None]
    preferences: Mapped[object | None] = mapped_column(JSONB(none_as_null=True), comment="JSON as the client sent it")
    preference_tags: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text),
        server_default="{}",
        comment="preferences as a flat list, for the filter of broadcasts",
    )
    accepts_broadcasts: Mapped[bool] = mapped_column(server_default=sa.true())
    is_verified: Mapped[bool] = mapped_column(server_default=sa.false())
    image: Mapped[str | None] = mapped_column(comment="name in the media store")
    erasure_due_at: Mapped[datetime | None] = mapped_column(
        comment="when the account and its data are deleted, unless a login cancels the erasure; null: no "
        "erasure requested"
    )
    erasure_posts: Mapped[str | None] = mapped_column(
        comment="anonymise or delete: what happens to the person's posts at the erasure"
    )

    roles: Mapped[list[Role]] = relationship(secondary=user_roles, lazy="selectin", order_by=Role.id)
    #: Reason why messages do not reach the number: wrong_number or unreachable. `app.accounts.service` sets it.
    phone_problem: Mapped[str | None] = query_expression()

    __table_args__ = (
        sa.Index("uq_users_username", sa.text("lower(username)"), unique=True),
        sa.Index("uq_users_email", sa.text("lower(email)"), unique=True),
        # This index is partial to avoid deadlocks. PostgreSQL then does not treat `phone` as a key column, so a change
        # of the number need not wait for transactions that have inserted a row for the person.
        sa.Index("uq_users_phone", "phone", unique=True, postgresql_where=sa.text("phone IS NOT NULL")),
        sa.Index("ix_users_domicile", "domicile"),
        sa.Index("ix_users_created_at", "created_at", "id"),
        sa.Index("ix_users_is_verified", "is_verified", "created_at", "id"),
        sa.Index("ix_users_erasure_due_at", "erasure_due_at", postgresql_where=sa.text("erasure_due_at IS NOT NULL")),
        sa.Index("ix_users_guardian_id", "guardian_id", postgresql_where=sa.text("guardian_id IS NOT NULL")),
        trigrams("ix_users_searched", *SEARCHED),
        sa.CheckConstraint("password_hash IS NOT NULL OR guardian_id IS NOT NULL", name="has_login_or_guardian"),
    )

    @property
    def role_names(self) -> set[str]:
        return {role.name for role in self.roles}

    @property
    def role_ids(self) -> list[int]:
        return [role.id for role in self.roles]

    @property
    def role(self) -> str | None:
        """Return the first role in the order of `MAIN_ROLES`, or else the name of the first role by id."""
        names = self.role_names
        others = [role.name for role in sorted(self.roles, key=lambda role: role.id)]
        return next((role.value for role in MAIN_ROLES if role in names), next(iter(others), None))


#: SQL condition that is true for a person who has proven that the phone number is theirs.
PHONE_IS_PROVEN: sa.ColumnElement[bool] = User.phone_verified_at.is_not(None)


class UserDay(Base):
    """Number of people by day of registration (Jakarta time), without deleted people. Triggers on `users` update it.

    Statistics read this small table instead of `users`.
    """

    __tablename__ = "user_days"

    day: Mapped[date] = mapped_column(primary_key=True)
    users: Mapped[int]


class SessionKind(StrEnum):
    USER = "user"
    #: Session from `/superadmin/login`. It expires early and cannot be refreshed. Super-admin routes require it.
    SUPERADMIN = "superadmin"


class LoginSession(Base, Created):
    """One login on one device.

    When the row is deleted, the access tokens of the session become invalid. PostgreSQL then also deletes the rows that
    the session created in tables with the mixin `OfSession`.
    """

    __tablename__ = "sessions"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("refresh_hash",)), erase=Delete())

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str]
    refresh_hash: Mapped[str | None] = mapped_column(unique=True, comment="SHA-256 of the refresh token", info=SECRET)
    last_used_at: Mapped[datetime] = mapped_column(
        server_default=sa.func.now(), comment="time of the login or of the latest refresh"
    )
    expires_at: Mapped[datetime] = mapped_column(
        comment="set at login and refresh; shortened when the person becomes an administrator"
    )
    device: Mapped[str | None] = mapped_column(
        comment="readable name of the device; null: the session began before names were stored"
    )


class OfSession:
    """Mixin for tables whose rows PostgreSQL deletes together with the session that created them."""

    session_id: Mapped[uuid.UUID | None] = mapped_column(
        sa.ForeignKey("sessions.id", ondelete="CASCADE"),
        index=True,
        comment="the session that created the row; its end deletes the row. null: no session is known",
    )


class PasswordReset(Base):
    """A password reset that a person has requested but not completed. A new request replaces the row."""

    __tablename__ = "password_resets"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("token_hash",)), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    token_hash: Mapped[str] = mapped_column(unique=True, comment="SHA-256 of the code in the link", info=SECRET)
    expires_at: Mapped[datetime]


class PhoneVerification(Base, OfSession, Created):
    """A verification of a phone number that a person has begun but not completed. A new request replaces the row."""

    __tablename__ = "phone_verifications"
    __personal__ = Personal(of=("user_id",), phones=("phone",), export=Rows(without=("code_hash",)), erase=Delete())

    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    nomor_hp: Mapped[str] = mapped_column(comment="the phone number as the client sent it")
    phone: Mapped[str] = mapped_column(comment="nomor_hp in E.164", index=True)
    code_hash: Mapped[str] = mapped_column(unique=True, info=SECRET)
    expires_at: Mapped[datetime] = mapped_column(index=True)


class OwnPicture(Base, Created):
    """A picture in a person's profile or forum posts. The row exists as long as the picture is in use."""

    __tablename__ = "own_pictures"
    __personal__ = Personal(of=("user_id",), export=Rows(), erase=Custom("The pictures themselves go too"))

    name: Mapped[str] = mapped_column(primary_key=True, comment="name in the media store")
    user_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)


class AuditEntry(Base, Created):
    """An action of an administrator. A database trigger rejects deletions and nearly all changes of the rows.

    Two changes are possible. An erasure empties the `ip` of the person's entries. The text of an old SQL statement is
    emptied.
    """

    __tablename__ = "audit_entries"
    __personal__ = Personal(
        of=("actor_id",),
        subjects=("subject",),
        # The data export of a person has the entries by this person and about this person. The export omits details and
        # IP addresses, which may be data of other people.
        export=Rows(without=("details", "ip")),
        erase=Custom("That something was done stays; the IP address goes"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    actor_id: Mapped[int | None] = mapped_column(
        comment="who acted; null: the operator, by a command. No foreign key: the account may be deleted later"
    )
    action: Mapped[str]
    subject: Mapped[str] = mapped_column(comment="the object of the action, for example user:12 or export:users")
    details: Mapped[dict[str, object]] = mapped_column(JSONB, server_default="{}")
    ip: Mapped[str | None]

    __table_args__ = (
        # Index for the audit log that administrators read. The index leaves out the entries of the SQL console.
        sa.Index("ix_audit_entries_public", "id", postgresql_where=sa.text("action <> 'sql'")),
        sa.Index("ix_audit_entries_actor_id", "actor_id", "id"),
        sa.Index("ix_audit_entries_subject", "subject"),
    )
