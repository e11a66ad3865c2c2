"""Creation, change and deletion of roles. A user whose roles change gets a notice."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.contact import ask_administrator
from app.core.database.session import assign, db, get_locked_or_404, get_or_404, map_constraint_errors
from app.core.errors import AppError, Conflict, Forbidden
from app.core.lib.break_links import break_links
from app.core.web.fields import Loaded
from app.core.web.pagination import Listing, Page, paginate
from app.identity import roles, users
from app.identity.models import Role, RoleName, User
from app.identity.sessions import Caller
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import message_user
from app.notifications.models import SECURITY_NOTICE

CONSTRAINTS: dict[str, AppError] = {"uq_roles_name": Conflict("Nama peran sudah dipakai.", code="role_taken")}
IN_USE = Conflict("Peran masih dimiliki oleh pengguna.", code="role_in_use")
NOT_FOUND = "Peran tidak ditemukan."

#: Time after which an unsent notice about roles expires.
NOTICE_LIFETIME = timedelta(days=1)

#: Event name of the security notice.
ROLES_CHANGED = "roles_changed"


def list_all(page: Page) -> Listing[Role]:
    """Return all roles, oldest first. The four roles that `seed` inserts are therefore at the top."""
    return paginate(sa.select(Role).order_by(Role.id), page)


def get(role_id: int) -> Role:
    return get_or_404(Role, role_id, NOT_FOUND)


def create(data: Loaded) -> Role:
    role = Role(**data)
    with map_constraint_errors(CONSTRAINTS):
        db.session.add(role)
    return role


def update(role_id: int, data: Loaded) -> Role:
    role = _get_editable(role_id)
    with map_constraint_errors(CONSTRAINTS):
        return assign(role, data)


def delete(role_id: int) -> None:
    role = _get_editable(role_id)
    with map_constraint_errors({}, in_use=IN_USE):
        db.session.delete(role)


def add_to_user(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Give roles to a user. Roles that the user already has are ignored."""
    user = users.get_changeable(user_id, by)
    with _notify_changes(user):
        return roles.add_roles(user, role_ids, by)


def remove_from_user(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Remove roles from a user, at once for all sessions. Raise `Conflict` for the last administrator."""
    user = users.get_changeable(user_id, by)
    with _notify_changes(user):
        return roles.remove_roles(user, role_ids, by)


def replace_of_user(user_id: int, role_ids: Collection[int], by: Caller) -> User:
    """Give a user exactly these roles."""
    user = users.get_changeable(user_id, by)
    with _notify_changes(user):
        return roles.replace_roles(user, role_ids, by)


def set_only_role(user: User, name: RoleName) -> None:
    """Give a user only this role, for the operator's command. Raise `Conflict` for the last administrator."""
    with _notify_changes(user):
        roles.set_only_role(user, name)


@contextmanager
def _notify_changes(user: User) -> Iterator[None]:
    """Notify the user about roles that the code in the `with` block adds or removes.

    The caller must lock the user before the block. Otherwise the notice may contain changes by other requests.
    """
    before = user.role_names
    yield
    added, removed = sorted(user.role_names - before), sorted(before - user.role_names)
    if added or removed:
        message_user(
            user.id,
            kind=SECURITY_NOTICE,
            dedupe_key=f"roles_changed:{user.id}:{uuid.uuid4()}",
            expires_in=NOTICE_LIFETIME,
            payload={"event": ROLES_CHANGED, "added": added, "removed": removed},
        )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices about changed roles, by delivery id."""
    return {each.id: {"text": _changed(each.payload)} for each in deliveries}


def _changed(payload: Mapping[str, Any]) -> str:
    sentences = [
        f"Peran yang {verb}: {', '.join(break_links(name) for name in payload[change])}."
        for change, verb in (("added", "ditambahkan"), ("removed", "dicabut"))
        if payload[change]
    ]
    text = " ".join(["Peran akun Anda baru saja diubah.", *sentences])
    return text + ask_administrator("Kalau ada yang keliru,")


def seed() -> None:
    """Insert the four seeded roles, which cannot be changed."""
    db.session.execute(
        insert(Role)
        .values([{"name": name.value, "is_editable": False} for name in RoleName])
        .on_conflict_do_nothing(index_elements=[sa.text("lower(name)")])
    )


def _get_editable(role_id: int) -> Role:
    role = get_locked_or_404(Role, role_id, NOT_FOUND)
    if not role.is_editable:
        raise Forbidden("Peran ini tidak dapat diubah atau dihapus.", code="role_not_editable")
    return role
