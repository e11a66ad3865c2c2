"""Dependents: people without a phone, whose account a caregiver manages.

A dependent has no phone number and cannot log in. All messages for a dependent go to the caregiver.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import orm

from app.core.database.session import db
from app.core.errors import Conflict, NotFound
from app.identity import erasure
from app.identity.models import User

MAX_DEPENDENTS = 5
NOT_FOUND = "Orang yang Anda rawat tidak ditemukan."


class HasDependents(Conflict):
    code = "has_dependents"
    message = "Pendamping ini masih mengurus akun orang lain. Hapus dulu akun itu."


class TooManyDependents(Conflict):
    code = "too_many_dependents"
    message = f"Anda hanya dapat mengurus akun {MAX_DEPENDENTS} orang."


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


def of_caregiver(caregiver_id: int) -> sa.Select[User]:
    """Return the query of a caregiver's dependents, without deleted ones."""
    return sa.select(User).where(User.guardian_id == caregiver_id, erasure.IS_PRESENT)


def lock_own(caregiver_id: int, dependent_id: int) -> User:
    """Lock and return a dependent of this caregiver. Raise `NotFound` for other people and for a deleted dependent."""
    own = of_caregiver(caregiver_id).where(User.id == dependent_id)
    lock = own.with_for_update(of=User, key_share=True).execution_options(populate_existing=True)
    user: User | None = db.session.scalar(lock)
    if user is None:
        raise NotFound(NOT_FOUND)
    return user


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
