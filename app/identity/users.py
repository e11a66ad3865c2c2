"""People. Every section that reads or changes a user's record comes here; `roles` says who has which."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database import clock
from app.core.database.session import db, get_locked_or_404, get_or_404, translating
from app.core.errors import AppError, Conflict, Forbidden, NotFound, ValidationFailed
from app.core.media import pictures
from app.core.web.fields import Loaded
from app.identity import aliases, consents, erasure, nik, own_pictures, passwords, phones, preferences, sessions
from app.identity.consents import Purpose, Way
from app.identity.models import PHONE_IS_PROVEN, Role, RoleName, User, user_roles
from app.identity.roles import roles_named
from app.identity.sessions import Caller

NOT_FOUND = "Pengguna tidak ditemukan."
CONSTRAINTS: dict[str, AppError] = {
    "uq_users_username": Conflict("Nama pengguna sudah dipakai.", code="username_taken"),
    "uq_users_email": Conflict("E-mail sudah dipakai.", code="email_taken"),
    "uq_users_phone": Conflict("Nomor HP sudah dipakai.", code="phone_taken"),
}

#: So long after it changed, a number does not prove yet whose account it is.
NEW_PHONE = timedelta(hours=24)

#: Columns that are set as they come; the others need work.
PLAIN = frozenset({"username", "email", "nama_ktp", "nama_samaran", "domicile", "image", "is_verified"})


def get(user_id: int) -> User:
    return get_or_404(User, user_id, NOT_FOUND)


def get_present(user_id: int) -> User:
    """As `get`, but `NotFound` also for somebody who has asked to be erased: nobody is told of them."""
    user = get(user_id)
    if user.erasure_due_at is not None:
        raise NotFound(NOT_FOUND)
    return user


def get_own(caller: Caller, *, to_change: bool = False) -> User:
    """The caller's record, locked when it is about to be changed; `Unauthorized` when they were deleted meanwhile."""
    try:
        return get_locked_or_404(User, caller.id, key_share=True) if to_change else get(caller.id)
    except NotFound:
        raise sessions.ended() from None


def lock(user_id: int) -> sa.Row[str, bool] | None:
    """Lock a person's row before rows of theirs, as their deletion does; returns nama_ktp and `PHONE_IS_PROVEN`.

    Nobody else who locks it, changes or deletes it comes in between. None when there is nobody, or somebody who has
    asked to be erased.
    """
    row = sa.select(User.nama_ktp, PHONE_IS_PROVEN).where(User.id == user_id, erasure.IS_PRESENT)
    return db.session.execute(row.with_for_update(of=User, key_share=True)).one_or_none()


def lock_own(user_id: int) -> sa.Row[str, bool]:
    """As `lock`, for the caller; `Unauthorized` when they were deleted meanwhile."""
    row = lock(user_id)
    if row is None:
        raise sessions.ended()
    return row


def create(
    data: Loaded, roles: Collection[str], *, self_registered: bool = False, guardian_id: int | None = None
) -> User:
    """A new person with the roles of these names. `Conflict` when username, e-mail or phone is taken.

    Of somebody who `self_registered`, nobody else sets the password. With `guardian_id` it is a dependent, who has no
    password.
    """
    user = User(guardian_id=guardian_id, self_registered=self_registered)
    if guardian_id is None:
        number_sent = data.get("nomor_hp")
        _check_password(data["password"], data["username"], phones.normalise(number_sent) if number_sent else None)
        user.password_hash = passwords.hash_password(data["password"])
    user.roles = roles_named(roles)
    columns = pictures.columns(data, longest_edge=pictures.PROFILE_EDGE)
    with translating(CONSTRAINTS):
        _assign(user, columns, data)
        db.session.add(user)
    own_pictures.keep(user.id, columns)
    if number := data.get("nik"):
        user.nik = nik.encrypt(number, user.id)
        db.session.flush()
    return user


def update(user: User, data: Loaded, *, keep_session: uuid.UUID | None = None) -> User:
    """Change what `data` names; a null picture removes the old one.

    A new password ends every session of the person but `keep_session`, that of whoever changes their own.
    """
    phone, accepted_broadcasts = user.phone, user.accepts_broadcasts
    columns = pictures.columns(data, longest_edge=pictures.PROFILE_EDGE)
    own_pictures.keep(user.id, columns, replaces=user.image)
    with translating(CONSTRAINTS):
        _assign(user, columns, data)
        if "nik" in data:
            user.nik = nik.encrypt(data["nik"], user.id) if data["nik"] else None
        if password := data.get("password"):
            set_password(user, password, keep_session=keep_session)
        if user.phone != phone:
            _remember_phone(user, phone)
    if user.accepts_broadcasts != accepted_broadcasts:
        consents.record(user.id, {Purpose.BROADCASTS: user.accepts_broadcasts}, Way.APP)
    return user


def _assign(user: User, columns: dict[str, object], data: Loaded) -> None:
    """Set the plain columns, and those that are made of phone number and preferences."""
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
        # Who says nothing of broadcasts changes nothing: a client that does not know of them opts nobody in again.
        if (accepted := preferences.said_of_broadcasts(data["preferences"])) is not None:
            user.accepts_broadcasts = accepted
        elif user.accepts_broadcasts is False:
            user.preferences = preferences.with_broadcasts(data["preferences"], accepted=False)


def _set_phone(user: User, nomor_hp: str | None) -> None:
    """Store the number as sent and in the one form that login matches; a changed one is valid again, and unproven."""
    phone = phones.normalise(nomor_hp) if nomor_hp else None
    if phone != user.phone:
        if phone and (problem := phones.country_problem(phone)):  # a number from before this rule may stay
            raise ValidationFailed({"nomor_hp": [problem]})
        user.phone_invalid_at = user.phone_verified_at = None
    user.nomor_hp, user.phone = nomor_hp, phone


def _remember_phone(user: User, before: str | None) -> None:
    """Note since when the person has this number and the one `before`, so that a thief of the session is not believed.

    Of changes within a day of each other the first number stays the one before; its return undoes them.
    """
    moment = clock.now()
    if user.phone_changed_at is not None and moment - user.phone_changed_at < NEW_PHONE:
        before = user.phone_before
    is_back = before is not None and user.phone == before
    user.phone_changed_at, user.phone_before = (None, None) if is_back else (moment, before)


def set_password(user: User, password: str, *, keep_session: uuid.UUID | None = None, field: str = "password") -> None:
    """Store a new password and end every session of the person, but `keep_session`, and what could open the account.

    `ValidationFailed` for the `field` that it came in when it is too easy to guess.
    """
    _check_password(password, user.username, user.phone, field)
    user.password_hash = passwords.hash_password(password)
    db.session.flush()
    sessions.end_all(user.id, keep=keep_session)


def _check_password(password: str, username: str, phone: str | None, field: str = "password") -> None:
    if problem := passwords.problem(password, username=username, phone=phone):
        raise ValidationFailed({field: [problem]})


def owner_of_phone(phone: str | None) -> sa.Row[int, datetime | None, str | None] | None:
    """Id, phone_changed_at and phone_before of whoever has this number (E.164)."""
    query = sa.select(User.id, User.phone_changed_at, User.phone_before).where(User.phone == phone)
    return db.session.execute(query).one_or_none()


def credentials_changed(user: User, data: Loaded) -> set[str]:
    """Which of password, email and nomor_hp `data` changes; another spelling of what the person has is no change."""
    changes = {"password"} if data.get("password") else set()
    if "email" in data and (data["email"] or "").lower() != (user.email or "").lower():
        changes.add("email")
    if "nomor_hp" in data and (phones.normalise(data["nomor_hp"]) if data["nomor_hp"] else None) != user.phone:
        changes.add("nomor_hp")
    return changes


def username_exists(username: str) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(sa.func.lower(User.username) == username.lower()))))


def with_role(name: RoleName) -> sa.Select[User]:
    """The people who have a role, newest first."""
    return sa.select(User).where(has_role(name)).order_by(User.created_at.desc(), User.id.desc())


def has_role(name: str) -> sa.ColumnElement[bool]:
    """Whether a person has a role, in whatever case its name is written.

    Its id is looked up first: the planner knows how many people have this role, not one by another name.
    """
    role_id = db.session.scalar(sa.select(Role.id).where(sa.func.lower(Role.name) == name.lower()))
    return User.id.in_(sa.select(user_roles.c.user_id).where(user_roles.c.role_id == role_id))


def get_changeable(user_id: int, by: Caller, *, to_delete: bool = False) -> User:
    """The person, locked, for a change by an administrator: only a super-admin changes a super-admin."""
    user = get_locked_or_404(User, user_id, NOT_FOUND, key_share=not to_delete)
    if RoleName.SUPERADMIN in user.role_names and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat mengubah superadmin.", code="superadmin_only")
    return user
