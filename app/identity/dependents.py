"""Dependents: people without a phone, whose account a caregiver manages.

A dependent has no phone number and cannot log in. All messages for a dependent go to the caregiver. Later the dependent
can take over the account (a handover). For this, the caregiver gives the dependent a code.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database import db_time
from app.core.database.personal import SECRET, Delete, Personal, Rows
from app.core.database.session import Base, Created, db, map_constraint_errors
from app.core.errors import AppError, Conflict, NotFound, ValidationFailed
from app.core.web import idempotency
from app.identity import access_log, codes, erasure, sessions
from app.identity.access_log import AccessAction
from app.identity.care import CaregiverLink, Scope
from app.identity.models import OfSession, User
from app.identity.sessions import Caller

MAX_DEPENDENTS = 5
#: Time for which a handover code is valid.
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
    """The valid code with which a dependent can take over the account. A new code replaces the old code."""

    __tablename__ = "handovers"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("code_hash",)), erase=Delete())

    user_id: Mapped[int] = mapped_column(
        sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, comment="the dependent"
    )
    code_hash: Mapped[str] = mapped_column(unique=True, info=SECRET)
    expires_at: Mapped[datetime] = mapped_column(index=True)


#: SQL expression for the id of the receiver of a person's messages: the caregiver of a dependent, else the person.
#: Senders read the phone number, browsers, name and notification settings of the receiver.
RECEIVER_ID: sa.ColumnElement[int] = sa.func.coalesce(User.guardian_id, User.id)


def receiver_of(user_id: object) -> sa.ScalarSelect[int]:
    """Return a subquery for the receiver of a person's messages. `user_id` is an id or a column of ids."""
    person = orm.aliased(User)
    receiver = sa.select(sa.func.coalesce(person.guardian_id, person.id)).where(person.id == user_id)
    # `correlate_except` is needed if `user_id` is a column of a statement that is two levels above this subquery.
    return receiver.correlate_except(person).scalar_subquery()


def is_received_by(person: type[User], user_id: object) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if `user_id` receives the messages of `person`.

    PostgreSQL can use two indexes for the condition.
    """
    return sa.or_(person.id == user_id, person.guardian_id == user_id)


_deleted = orm.aliased(User)
#: Query of the ids of deleted dependents. Lists leave out these people. The query uses a partial index.
DELETED_IDS = sa.select(_deleted.id).where(_deleted.erasure_due_at.is_not(None), _deleted.guardian_id.is_not(None))


# --- dependents of a caregiver ---------------------------------------------------------------------------------------


def of_caregiver(caregiver_id: int) -> sa.Select[User]:
    """Return the query of a caregiver's dependents, without deleted ones."""
    return sa.select(User).where(User.guardian_id == caregiver_id, erasure.IS_PRESENT)


def lock_own(caregiver_id: int, dependent_id: int, *, deleted: bool = False) -> User:
    """Lock and return a dependent of this caregiver. Raise `NotFound` for other people and for a deleted dependent.

    With `deleted`, also return a deleted dependent if the caregiver can still undo the deletion.
    """
    is_there = sa.or_(erasure.IS_PRESENT, sa.and_(sa.literal(deleted), User.erasure_due_at > db_time.now_sql()))
    own = sa.select(User).where(User.id == dependent_id, User.guardian_id == caregiver_id, is_there)
    lock = own.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
    user: User | None = db.session.scalar(lock)
    # Check the due time again, because the erasure may have begun while the query waited for the lock.
    if user is None or (user.erasure_due_at is not None and user.erasure_due_at <= db_time.now()):
        raise NotFound(NOT_FOUND)
    return user


def patient_id_of(by: Caller, patient_id: int | None, action: AccessAction) -> int:
    """Return the id of the person that a request is about: the caller, or one of the caller's dependents.

    For a dependent, record the action in the dependent's access log.
    """
    if patient_id is None or patient_id == by.id:
        return by.id
    dependent = lock_own(by.id, patient_id)
    access_log.record(by, dependent.id, action)
    return dependent.id


def check_max_dependents(caregiver_id: int) -> None:
    """Raise `TooManyDependents` if a caregiver has `MAX_DEPENDENTS` dependents. The caregiver must be locked."""
    count = sa.select(sa.func.count()).select_from(of_caregiver(caregiver_id).subquery())
    if (db.session.scalar(count) or 0) >= MAX_DEPENDENTS:
        raise TooManyDependents


def check_none(caregiver_id: int) -> None:
    """Raise `HasDependents` if a caregiver has dependents. The caregiver must be locked."""
    if db.session.scalar(sa.select(of_caregiver(caregiver_id).exists())):
        raise HasDependents


def check_may_cut(caregiver_id: int, patient_id: int) -> None:
    """Check whether the caregiver link between a caregiver and a patient may be deleted.

    Raise `HasDependents` if the patient is a dependent of the caregiver, or `NotFound` if this dependent is deleted.
    """
    kept = sa.select(erasure.IS_PRESENT).where(User.id == patient_id, User.guardian_id == caregiver_id)
    is_present = db.session.scalar(kept)
    if is_present is not None:
        raise HasDependents if is_present else NotFound(NOT_FOUND)


def erase_with(caregiver_id: int) -> list[int]:
    """Schedule the erasure of all dependents of a caregiver for now. Return the ids of the dependents."""
    due = sa.update(User).where(User.guardian_id == caregiver_id).values(erasure_due_at=sa.func.now())
    ids = db.session.scalars(due.returning(User.id).execution_options(synchronize_session=False))
    return list(ids)


# --- handover codes -------------------------------------------------------------------------------------------------


def create_handover(by: Caller, dependent_id: int) -> tuple[str, datetime]:
    """Create a handover code for a dependent, and revoke the old code. Return the code and its expiry."""
    lock_own(by.id, dependent_id)
    code, expires_at = codes.new_code(CODE_CHARACTERS), db_time.now() + HANDOVER_LIFETIME
    values = {"code_hash": _digest(code), "session_id": by.session_id, "expires_at": expires_at}
    adding = insert(Handover).values(user_id=dependent_id, **values)
    with map_constraint_errors(CONSTRAINTS):
        db.session.execute(adding.on_conflict_do_update(index_elements=["user_id"], set_=values))
    return code, expires_at


def end_handover(user_id: int) -> bool:
    """Revoke the handover code of a dependent. Return whether the code was valid. The dependent must be locked."""
    ended = sa.delete(Handover).where(Handover.user_id == user_id).returning(_is_open)
    return bool(db.session.scalar(ended.execution_options(synchronize_session=False)))


def get_handover(code: str) -> Handover | None:
    """Return the valid handover with this code, or None. The code stays valid."""
    which = sa.select(Handover).where(Handover.code_hash == _digest(code), _is_open)
    return db.session.scalar(which.execution_options(populate_existing=True))


def is_handover_over(code: str) -> bool:
    """Return whether a handover with this code has expired."""
    which = Handover.code_hash == _digest(code), Handover.expires_at <= sa.func.statement_timestamp()
    return bool(db.session.scalar(sa.select(sa.exists().where(*which))))


def redeem(code: str) -> User:
    """Use up a handover code. Lock and return the dependent. Raise `ValidationFailed` if the code is not valid.

    Lock the caregiver before the dependent. All functions lock in this order, so that they cannot deadlock.
    """
    handover = get_handover(code)
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
    """Turn a dependent into an independent person. Return the caregiver link with the former caregiver.

    The dependent must be locked and must have a password. The caregiver keeps only the scope `alerts`.
    """
    caregiver_id, user.guardian_id = user.guardian_id, None
    db.session.flush()
    which = CaregiverLink.caregiver_id == caregiver_id, CaregiverLink.patient_id == user.id
    link: CaregiverLink = db.session.scalars(sa.select(CaregiverLink).where(*which).with_for_update()).one()
    link.scopes = [Scope.ALERTS.value]
    db.session.flush()
    idempotency.delete_of_user(link.caregiver_id, "pengingat")
    return link


#: SQL condition that is true for a valid handover code. The code expires early if the caregiver's session ends.
_is_open = sa.and_(
    Handover.expires_at > sa.func.statement_timestamp(),
    sessions.has_live_session(Handover),
    sa.exists().where(User.id == Handover.user_id, erasure.IS_PRESENT),
)


def _digest(code: str) -> str:
    return codes.digest("handover", codes.normalise(code))
