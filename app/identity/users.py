"""People: how they are found, made and changed. Every section that touches a user's record comes here."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import sqlalchemy as sa

from app.core.database.session import Fields, db, get_or_404, translating
from app.core.errors import AppError, BadRequest, Conflict, Forbidden, ValidationFailed
from app.identity import audit, nik, passwords, phones, preferences, sessions
from app.identity.models import SELF_SERVICE, Role, RoleName, User, user_roles
from app.identity.sessions import Caller

TAKEN: dict[str, AppError] = {
    "uq_users_username": Conflict("Nama pengguna sudah dipakai.", code="username_taken"),
    "uq_users_email": Conflict("E-mail sudah dipakai.", code="email_taken"),
    "uq_users_phone": Conflict("Nomor HP sudah dipakai.", code="phone_taken"),
}

#: Columns that are set as they come; the others need work.
PLAIN = frozenset({"username", "email", "nama_ktp", "nama_samaran", "domicile", "image", "is_verified"})


def create(data: Fields, roles: Collection[str]) -> User:
    """A new person with these roles. `Conflict` when username, e-mail or phone is taken."""
    user = User(password_hash=passwords.hash_password(data["password"]))
    user.roles = list(roles_named(roles))
    with translating(TAKEN):
        _set_plain(user, data)
        _set_phone(user, data)
        _set_preferences(user, data)
        db.session.add(user)
    if data.get("nik"):
        user.nik = nik.encrypt(data["nik"], user.id)
        db.session.flush()
    return user


def update(user: User, data: Fields) -> User:
    """Change what `data` names. A new password ends every session of the person."""
    with translating(TAKEN):
        _set_plain(user, data)
        _set_phone(user, data)
        _set_preferences(user, data)
        if "nik" in data:
            user.nik = nik.encrypt(data["nik"], user.id) if data["nik"] else None
        if data.get("password"):
            set_password(user, data["password"])
    return user


def set_password(user: User, password: str) -> None:
    user.password_hash = passwords.hash_password(password)
    db.session.flush()
    sessions.end_all(user.id)


def by_login(text: str) -> User | None:
    """The one person whom an e-mail, username or phone number in any form belongs to."""
    if "@" in text:
        match = sa.func.lower(User.email) == text.lower()
    elif phone := phones.normalise(text):
        match = User.phone == phone
    else:
        match = sa.func.lower(User.username) == text.lower()
    return db.session.scalar(sa.select(User).where(match))


def authenticate(login: str, password: str) -> User | None:
    """The person with these credentials; an unknown one costs the same time as a known one."""
    user = by_login(login)
    if not passwords.matches(password, user.password_hash if user else None) or user is None:
        return None
    if passwords.is_outdated(user.password_hash):
        user.password_hash = passwords.hash_password(password)
    return user


def username_exists(username: str) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(sa.func.lower(User.username) == username.lower()))))


def with_role(name: RoleName) -> sa.Select[User]:
    """The people who have a role, newest first."""
    has_role = sa.exists().where(user_roles.c.user_id == User.id, user_roles.c.role_id == Role.id, Role.name == name)
    return sa.select(User).where(has_role).order_by(User.created_at.desc(), User.id.desc())


# --- roles ----------------------------------------------------------------------------------------------------------


def roles_named(names: Iterable[str]) -> list[Role]:
    return list(db.session.scalars(sa.select(Role).where(Role.name.in_(list(names))).order_by(Role.id)))


def roles_by_id(role_ids: Collection[int]) -> list[Role]:
    """The roles with these ids; `ValidationFailed` when one is unknown."""
    found = list(db.session.scalars(sa.select(Role).where(Role.id.in_(role_ids)).order_by(Role.id)))
    if unknown := set(role_ids) - {role.id for role in found}:
        raise ValidationFailed({"role_ids": [f"peran {', '.join(map(str, sorted(unknown)))} tidak dikenal."]})
    return found


def choose_own_roles(user: User, role_ids: Collection[int]) -> None:
    """What a person may do to the own roles: take or leave `pasien` and `pendamping`; all others stay as they are."""
    wanted = roles_by_id(role_ids)
    if any(role.name not in SELF_SERVICE and role not in user.roles for role in wanted):
        raise Forbidden("Peran tersebut hanya dapat diberikan oleh administrator.", code="role_not_allowed")
    kept = [role for role in user.roles if role.name not in SELF_SERVICE]
    chosen = [role for role in wanted if role.name in SELF_SERVICE]
    if not kept and not chosen:
        raise BadRequest("Sedikitnya satu peran harus dipilih.", code="role_needed")
    user.roles = sorted({*kept, *chosen}, key=lambda role: role.id)
    db.session.flush()


def add_roles(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Give roles; those that the person has already are ignored."""
    user = changeable(user_id, by)
    roles = roles_by_id(role_ids)
    check_may_promote(roles, by)
    return _have_roles(user, {*user.roles, *roles}, by)


def remove_roles(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Take roles away, at once for all the person's sessions; the last administrator stays one."""
    user = changeable(user_id, by)
    roles = roles_by_id(role_ids)
    check_may_promote([role for role in roles if role in user.roles], by)
    return _have_roles(user, set(user.roles) - set(roles), by)


def replace_roles(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Give a person these roles and no others."""
    user = changeable(user_id, by)
    roles = set(roles_by_id(role_ids))
    check_may_promote(roles ^ set(user.roles), by)
    return _have_roles(user, roles, by)


def set_only_role(user: User, name: RoleName) -> None:
    """Make one role the person's only one. The operator's command: it asks nobody, but keeps the last administrator."""
    _have_roles(user, set(roles_named([name])), by=None)


def changeable(user_id: int, by: Caller) -> User:
    """The person, for a change by an administrator: nobody touches a super-admin but a super-admin."""
    user = get_or_404(User, user_id, "Pengguna tidak ditemukan.")
    if RoleName.SUPERADMIN in user.role_names and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat mengubah superadmin.", code="superadmin_only")
    return user


def _have_roles(user: User, roles: set[Role], by: Caller | None) -> User:
    """Set the roles, at once for all the person's sessions, and write it down; the last administrator stays one."""
    before, after = user.role_names, {role.name for role in roles}
    if RoleName.ADMIN in before - after:
        keep_last_admin(user)
    if before != after:
        audit.record(
            by,
            audit.Action.ROLES_CHANGED,
            f"user:{user.id}",
            username=user.username,
            given=sorted(after - before),
            taken=sorted(before - after),
        )
    user.roles = sorted(roles, key=lambda role: role.id)
    db.session.flush()
    return user


def keep_last_admin(user: User) -> None:
    """`Conflict` when `user` is the only administrator left. Waits for others who ask the same question."""
    admin = db.session.scalars(sa.select(Role).where(Role.name == RoleName.ADMIN).with_for_update()).one()
    others = sa.exists().where(user_roles.c.role_id == admin.id, user_roles.c.user_id != user.id)
    if not db.session.scalar(sa.select(others)):
        raise Conflict("Administrator terakhir tidak dapat dihapus.", code="last_admin")


def check_may_promote(roles: Iterable[Role], by: Caller) -> None:
    if any(role.name == RoleName.SUPERADMIN for role in roles) and not by.has(RoleName.SUPERADMIN):
        raise Forbidden("Hanya superadmin yang dapat memberi atau mencabut peran superadmin.", code="superadmin_only")


# --- one column each --------------------------------------------------------------------------------------------------


def _set_plain(user: User, data: Fields) -> None:
    for name in PLAIN & data.keys():
        setattr(user, name, data[name])


def _set_phone(user: User, data: Fields) -> None:
    """Keep the number as sent beside the one form that login matches; a changed one is trusted again."""
    if "nomor_hp" not in data:
        return
    sent = data["nomor_hp"]
    phone = phones.normalise(sent) if sent else None
    if phone != user.phone:
        user.phone_invalid_at = None
    user.nomor_hp, user.phone = sent, phone


def _set_preferences(user: User, data: Fields) -> None:
    if "preferences" in data:
        user.preferences = data["preferences"]
        user.preference_tags = preferences.tags(data["preferences"])
        user.accepts_broadcasts = preferences.accepts_broadcasts(data["preferences"])
