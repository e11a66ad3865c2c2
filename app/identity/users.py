"""Create, read and update people, the rows of the table `users`. The module `roles` changes the roles of people."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import timedelta

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db, get_locked_or_404, get_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, Forbidden, NotFound, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.core.web.pagination import containing
from app.identity import (
    aliases,
    consents,
    erasure,
    field_encryption,
    own_pictures,
    passwords,
    phones,
    preferences,
    sessions,
)
from app.identity.consents import ConsentSource, Purpose
from app.identity.models import PHONE_IS_PROVEN, SEARCHED, Role, RoleName, User, user_roles
from app.identity.roles import roles_named
from app.identity.sessions import Caller

NOT_FOUND = "Pengguna tidak ditemukan."
CONSTRAINTS: dict[str, AppError] = {
    "uq_users_username": Conflict("Nama pengguna sudah dipakai.", code="username_taken"),
    "uq_users_email": Conflict("E-mail sudah dipakai.", code="email_taken"),
    "uq_users_phone": Conflict("Nomor HP sudah dipakai.", code="phone_taken"),
}

#: After a change of the phone number, the new number gets no password reset link for this time.
NEW_PHONE = timedelta(hours=24)

#: Columns that are stored as sent. All other columns are converted before they are stored.
PLAIN = frozenset({"username", "email", "nama_ktp", "nama_samaran", "domicile", "image", "is_verified"})


def get(user_id: int) -> User:
    return get_or_404(User, user_id, NOT_FOUND)


def get_present(user_id: int) -> User:
    """Return a person. Raise `NotFound` for an unknown person, and for a person who has requested erasure."""
    user = get(user_id)
    if user.erasure_due_at is not None:
        raise NotFound(NOT_FOUND)
    return user


def get_visible(user_id: int, to: Caller) -> User:
    """Return a person. Raise `Forbidden` if a caller who is no administrator requests another person."""
    if user_id != to.id and not to.has(RoleName.ADMIN, RoleName.SUPERADMIN):
        raise Forbidden
    return get(user_id)


def get_own(caller: Caller, *, to_change: bool = False) -> User:
    """Return the caller's row. If `to_change` is true, lock the row.

    Raise `Unauthorized` if the caller was deleted. With `to_change`, also raise `Unauthorized` if the caller requested
    erasure while this request waited for the lock, because the erasure has ended all sessions of the caller.
    """
    try:
        user = get_locked_or_404(User, caller.id, key_share=True) if to_change else get(caller.id)
    except NotFound:
        raise sessions.ended() from None
    if to_change and user.erasure_due_at is not None:
        raise sessions.ended()
    return user


def lock(user_id: int) -> sa.Row[str, bool] | None:
    """Lock a person's row. Return the name, and whether the phone number is verified.

    Return None for a deleted person, and for a person who has requested erasure. Lock the person before you lock
    rows of the person in other tables. Deletions take their locks in the same order.
    """
    row = sa.select(User.nama_ktp, PHONE_IS_PROVEN).where(User.id == user_id, erasure.IS_PRESENT)
    return db.session.execute(row.with_for_update(of=User, key_share=True)).one_or_none()


def lock_own(user_id: int) -> sa.Row[str, bool]:
    """Do the same as `lock` for the caller. Raise `Unauthorized` instead of returning None."""
    row = lock(user_id)
    if row is None:
        raise sessions.ended()
    return row


def create(data: Loaded, roles: Collection[str], *, is_staff: bool = False, guardian_id: int | None = None) -> User:
    """Create a person with the roles of these names. Raise `Conflict` if username, e-mail or phone number is taken.

    `is_staff` is true if an administrator creates another one. If `guardian_id` is set, the person is a dependent of
    the caregiver with this id, and has no password.
    """
    user = User(guardian_id=guardian_id, is_staff=is_staff)
    if guardian_id is None:
        number_sent = data.get("nomor_hp")
        _check_password(data["password"], data["username"], phones.normalise(number_sent) if number_sent else None)
        user.password_hash = passwords.hash_password(data["password"])
    user.roles = roles_named(roles)
    columns = pictures.columns(data, longest_edge=pictures.PROFILE_EDGE)
    with map_constraint_errors(CONSTRAINTS):
        _assign(user, columns, data)
        db.session.add(user)
    own_pictures.keep(user.id, columns)
    if number := data.get("nik"):
        user.nik = field_encryption.encrypt(number, user.id)
        db.session.flush()
    return user


def update(user: User, data: Loaded, *, keep_session: uuid.UUID | None = None) -> User:
    """Update a person's columns that are in `data`. If the picture in `data` is None, remove the old picture.

    A new password ends all sessions of the person except `keep_session`.
    """
    phone, accepted_broadcasts = user.phone, user.accepts_broadcasts
    columns = pictures.columns(data, longest_edge=pictures.PROFILE_EDGE)
    own_pictures.keep(user.id, columns, replaces=user.image)
    with map_constraint_errors(CONSTRAINTS):
        _assign(user, columns, data)
        if "nik" in data:
            user.nik = field_encryption.encrypt(data["nik"], user.id) if data["nik"] else None
        if password := data.get("password"):
            set_password(user, password, keep_session=keep_session)
        if user.phone != phone:
            _remember_phone(user, phone)
    if user.accepts_broadcasts != accepted_broadcasts:
        consents.record(user.id, {Purpose.BROADCASTS: user.accepts_broadcasts}, ConsentSource.APP)
    return user


def _assign(user: User, columns: dict[str, object], data: Loaded) -> None:
    alias = data.get("nama_samaran")
    if alias and alias != user.nama_samaran and aliases.is_reserved(alias):
        raise ValidationFailed({"nama_samaran": ["tidak boleh menyerupai petugas atau tenaga kesehatan."]})
    for name in PLAIN & columns.keys():
        setattr(user, name, columns[name])
    if "nomor_hp" in data:
        _set_phone(user, data["nomor_hp"])
    if "preferences" in data:
        user.preferences = data["preferences"]
        user.preference_tags = preferences.tags(data["preferences"])
        # If the new preferences have no key `broadcast`, a person who refused broadcasts still refuses them. Old
        # clients do not send this key, and must not undo the refusal.
        if (accepted := preferences.broadcast_choice(data["preferences"])) is not None:
            user.accepts_broadcasts = accepted
        elif user.accepts_broadcasts is False:
            user.preferences = preferences.with_broadcasts(data["preferences"], accepted=False)


def matches(q: str) -> sa.ColumnElement[bool]:
    """Return a condition for people whose name, username, e-mail or phone number contains `q`."""
    columns = [getattr(User, name) for name in SEARCHED]
    return sa.or_(*(containing(text, *columns) for text in phones.notations(q)))


def _set_phone(user: User, nomor_hp: str | None) -> None:
    """Store the phone number as sent and in E.164 form. A changed number counts as valid and not verified."""
    phone = phones.normalise(nomor_hp) if nomor_hp else None
    if phone != user.phone:
        if phone and (problem := phones.country_problem(phone)):  # an unchanged number is not checked again
            raise ValidationFailed({"nomor_hp": [problem]})
        user.phone_invalid_at = user.phone_verified_at = None
    user.nomor_hp, user.phone = nomor_hp, phone


def _remember_phone(user: User, before: str | None) -> None:
    """Record the time of a change of the phone number, and the number before it. The new number may be a thief's.

    After several changes within `NEW_PHONE`, `phone_before` keeps the first number. A change back to the first number
    clears both columns.
    """
    moment = db_time.now()
    if user.phone_changed_at is not None and moment - user.phone_changed_at < NEW_PHONE:
        before = user.phone_before
    is_back = before is not None and user.phone == before
    user.phone_changed_at, user.phone_before = (None, None) if is_back else (moment, before)


def set_password(user: User, password: str, *, keep_session: uuid.UUID | None = None, field: str = "password") -> None:
    """Store a new password, and end all sessions of the person except `keep_session`, see `sessions.end_all`.

    Raise `ValidationFailed` for `field` of the request if the password is too easy to guess in production.
    """
    _check_password(password, user.username, user.phone, field)
    user.password_hash = passwords.hash_password(password)
    db.session.flush()
    sessions.end_all(user.id, keep=keep_session)


def _check_password(password: str, username: str, phone: str | None, field: str = "password") -> None:
    if problem := passwords.problem(password, username=username, phone=phone):
        raise ValidationFailed({field: [problem]})


def credentials_changed(user: User, data: Loaded) -> set[str]:
    """Return which of the keys `password`, `email` and `nomor_hp` have a new value in `data`.

    The same e-mail or phone number in another notation does not count as new.
    """
    changes = {"password"} if data.get("password") else set()
    if "email" in data and (data["email"] or "").lower() != (user.email or "").lower():
        changes.add("email")
    if "nomor_hp" in data and (phones.normalise(data["nomor_hp"]) if data["nomor_hp"] else None) != user.phone:
        changes.add("nomor_hp")
    return changes


def username_exists(username: str) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(sa.func.lower(User.username) == username.lower()))))


def with_role(name: RoleName) -> sa.Select[User]:
    return sa.select(User).where(has_role(name)).order_by(User.created_at.desc(), User.id.desc())


def has_role(name: str) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true for people with this role. `name` may be in upper or lower case.

    This function reads the role's id in a separate query. PostgreSQL can estimate the number of people only from the
    id, not from a name.
    """
    role_id = db.session.scalar(sa.select(Role.id).where(sa.func.lower(Role.name) == name.lower()))
    return User.id.in_(sa.select(user_roles.c.user_id).where(user_roles.c.role_id == role_id))


def get_changeable(user_id: int, by: Caller, *, to_delete: bool = False) -> User:
    """Lock and return a person whom an administrator wants to change.

    Raise `Forbidden` if the person is a super-admin and the administrator is not.
    """
    user = get_locked_or_404(User, user_id, NOT_FOUND, key_share=not to_delete)
    if RoleName.SUPERADMIN in user.role_names and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat mengubah superadmin.", code="superadmin_only")
    return user
