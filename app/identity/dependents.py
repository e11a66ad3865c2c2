"""Dependents: people without a phone. A caregiver keeps the account until the dependent takes it over with a code.

A dependent has no number and no login. All deliveries for a dependent go to the caregiver, see `RECEIVER_ID`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import clock
from app.core.database.personal import Delete, Personal, Rows
from app.core.database.session import Base, Created, db, translating
from app.core.errors import AppError, Conflict, NotFound, ValidationFailed
from app.core.web import idempotency
from app.identity import access_log, codes, consents, erasure, sessions
from app.identity.access_log import Action
from app.identity.care import CaregiverLink, Scope
from app.identity.consents import Purpose
from app.identity.models import OfSession, User
from app.identity.sessions import Caller

MAX_DEPENDENTS = 5
#: Lifetime of a handover code.
HANDOVER_LIFETIME = timedelta(days=7)
CODE_CHARACTERS = 10

NOT_FOUND = "Orang yang Anda rawat tidak ditemukan."
NO_HANDOVER = "Tidak ada kode serah terima yang masih berlaku."
BAD_CODE = "tidak dikenal, sudah dipakai, atau sudah tidak berlaku."
CONSTRAINTS: dict[str, AppError] = {"fk_handovers_session_id": sessions.ended()}


class HasDependents(Conflict):
    code = "has_dependents"
    message = "Pendamping ini masih mengurus akun orang lain. Serahkan atau hapus dulu akun itu."


class TooManyDependents(Conflict):
    code = "too_many_dependents"
    message = f"Anda hanya dapat mengurus akun {MAX_DEPENDENTS} orang."


class Handover(Base, OfSession, Created):
    """The open code of a dependent who may take over the account. A new code replaces the row."""

    __tablename__ = "handovers"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("code_hash",)), erase=Delete())

    user_id: Mapped[int] = mapped_column(
        sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, comment="the dependent"
    )
    code_hash: Mapped[str] = mapped_column(unique=True)
    expires_at: Mapped[datetime] = mapped_column(index=True)


#: Id of the receiver of a person's deliveries: a dependent's caregiver, else the person. Every sender uses it, for the
#: number, the browsers, the name and the notification settings.
RECEIVER_ID: sa.ColumnElement[int] = sa.func.coalesce(User.guardian_id, User.id)


def receiver_of(user_id: object) -> sa.ScalarSelect[int]:
    """Return `RECEIVER_ID` of a person (an id, or a column of ids)."""
    person = orm.aliased(User)
    receiver = sa.select(sa.func.coalesce(person.guardian_id, person.id)).where(person.id == user_id)
    # A column of a statement two levels above is not correlated by itself.
    return receiver.correlate_except(person).scalar_subquery()


def is_received_by(person: type[User], user_id: object) -> sa.ColumnElement[bool]:
    """Return the condition that this id (or column of ids) is `RECEIVER_ID` of a person. Two indexes serve it."""
    return sa.or_(person.id == user_id, person.guardian_id == user_id)


_deleted = orm.aliased(User)
#: Ids of deleted dependents. Lists leave them out. A partial index finds them.
DELETED_IDS = sa.select(_deleted.id).where(_deleted.erasure_due_at.is_not(None), _deleted.guardian_id.is_not(None))


# --- dependents of a caregiver ---------------------------------------------------------------------------------------


def of_caregiver(caregiver_id: int) -> sa.Select[User]:
    """Return the query of a caregiver's dependents, without the deleted ones."""
    return sa.select(User).where(User.guardian_id == caregiver_id, erasure.IS_PRESENT)


def lock_own(caregiver_id: int, dependent_id: int, *, deleted: bool = False) -> User:
    """Return a caregiver's dependent, locked. Raise `NotFound` for anybody else, and for a deleted dependent.

    With `deleted`, return a dependent whose deletion can still be taken back, too.
    """
    is_there = sa.or_(erasure.IS_PRESENT, sa.and_(sa.literal(deleted), User.erasure_due_at > clock.now_sql()))
    own = sa.select(User).where(User.id == dependent_id, User.guardian_id == caregiver_id, is_there)
    lock = own.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
    user: User | None = db.session.scalar(lock)
    if user is None:
        raise NotFound(NOT_FOUND)
    return user


def whose(by: Caller, patient_id: int | None, action: Action) -> int:
    """Return the id of the caller or of an own dependent. The dependent's access log notes the action."""
    if patient_id is None or patient_id == by.id:
        return by.id
    dependent = lock_own(by.id, patient_id)
    access_log.note(by, dependent.id, action)
    return dependent.id


def check_room(caregiver_id: int) -> None:
    """Raise `TooManyDependents` if a caregiver, who is locked, has as many dependents as allowed."""
    count = sa.select(sa.func.count()).select_from(of_caregiver(caregiver_id).subquery())
    if (db.session.scalar(count) or 0) >= MAX_DEPENDENTS:
        raise TooManyDependents


def check_none(caregiver_id: int) -> None:
    """Raise `HasDependents` if a caregiver, who is locked, has dependents."""
    if db.session.scalar(sa.select(of_caregiver(caregiver_id).exists())):
        raise HasDependents


def check_may_cut(caregiver_id: int, patient_id: int) -> None:
    """Raise `HasDependents` if the link connects a caregiver and a dependent, or `NotFound` if that one is deleted."""
    kept = sa.select(erasure.IS_PRESENT).where(User.id == patient_id, User.guardian_id == caregiver_id)
    is_present = db.session.scalar(kept)
    if is_present is not None:
        raise HasDependents if is_present else NotFound(NOT_FOUND)


def erase_with(caregiver_id: int) -> list[int]:
    """Let the erasure of a caregiver's dependents be due now. Return their ids."""
    due = sa.update(User).where(User.guardian_id == caregiver_id).values(erasure_due_at=sa.func.now())
    ids = db.session.scalars(due.returning(User.id).execution_options(synchronize_session=False))
    return list(ids)


# --- handover -------------------------------------------------------------------------------------------------------


def create_handover(by: Caller, dependent_id: int) -> tuple[str, datetime]:
    """Create a code by which a dependent takes over the account; return code and expiry. An older code ends."""
    lock_own(by.id, dependent_id)
    code, expires_at = codes.new_code(CODE_CHARACTERS), clock.now() + HANDOVER_LIFETIME
    values = {"code_hash": _digest(code), "session_id": by.session_id, "expires_at": expires_at}
    adding = insert(Handover).values(user_id=dependent_id, **values)
    with translating(CONSTRAINTS):
        db.session.execute(adding.on_conflict_do_update(index_elements=["user_id"], set_=values))
    return code, expires_at


def end_handover(user_id: int) -> bool:
    """End the code of a dependent, who is locked. Return whether it was open."""
    ended = sa.delete(Handover).where(Handover.user_id == user_id).returning(_is_open)
    return bool(db.session.scalar(ended.execution_options(synchronize_session=False)))


def find_handover(code: str) -> Handover | None:
    """Return the open handover with this code. Reading changes nothing, however often it is previewed."""
    which = sa.select(Handover).where(Handover.code_hash == _digest(code), _is_open)
    return db.session.scalar(which.execution_options(populate_existing=True))


def is_handover_over(code: str) -> bool:
    """Return whether a handover with this code has expired."""
    which = Handover.code_hash == _digest(code), Handover.expires_at <= sa.func.statement_timestamp()
    return bool(db.session.scalar(sa.select(sa.exists().where(*which))))


def redeem(code: str) -> User:
    """End a code and return its dependent, locked. Raise `ValidationFailed` for a bad code.

    The caregiver is locked first, in the same order as when a dependent is added or deleted.
    """
    handover = find_handover(code)
    if handover is not None:
        guardian = sa.select(User.guardian_id).where(User.id == handover.user_id).scalar_subquery()
        db.session.execute(sa.select(User.id).where(User.id == guardian).with_for_update(key_share=True))
        dependent = sa.select(User).where(User.id == handover.user_id, User.guardian_id.is_not(None))
        lock = dependent.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
        used = sa.delete(Handover).where(Handover.code_hash == _digest(code), _is_open).returning(Handover.user_id)
        user: User | None = db.session.scalar(lock)
        if user is not None and db.session.scalar(used.execution_options(synchronize_session=False)) is not None:
            return user
    raise ValidationFailed({"handover_code": [BAD_CODE]})


def release(user: User) -> CaregiverLink:
    """Give a locked dependent, who has a password, the account alone. Return the link with the caregiver.

    The link allows alerts alone. It allows nothing if the person has withdrawn the consent for caregivers.
    """
    caregiver_id, user.guardian_id, user.self_registered = user.guardian_id, None, True
    db.session.flush()
    which = CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == user.id
    link: CaregiverLink = db.session.scalars(sa.select(CaregiverLink).where(*which).with_for_update()).one()
    is_withdrawn = db.session.scalar(sa.select(consents.is_withdrawn(user.id, Purpose.CAREGIVERS)))
    link.scopes = [] if is_withdrawn else [Scope.ALERTS.value]
    db.session.flush()
    idempotency.forget(link.caregiver_id, "pengingat")
    return link


#: Condition: a code can be used. It ends with its session.
_is_open = sa.and_(
    Handover.expires_at > sa.func.statement_timestamp(),
    sessions.has_live_session(Handover),
    sa.exists().where(User.id == Handover.user_id, erasure.IS_PRESENT),
)


def _digest(code: str) -> str:
    return codes.digest("handover", codes.normalise(code))
