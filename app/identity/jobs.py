"""Jobs that delete expired sessions, keys and SQL texts, and the operator's commands for national ids (NIK)."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db, own_connection, unit_of_work
from app.core.web import idempotency
from app.identity import audit, field_encryption, own_pictures, second_factor, sessions
from app.identity.models import User

BATCH = 200


def delete_expired_sessions() -> None:
    with unit_of_work():
        sessions.delete_expired()


def delete_old_idempotency_keys() -> None:
    """Delete expired idempotency keys. A request that repeats a deleted key counts as a new request."""
    # The table belongs to `core`. The job is here, because `core` defines no periodic jobs.
    with unit_of_work():
        idempotency.delete_old()


def sweep_pictures() -> None:
    """Remove pictures that are older than a day and used by no record. A killed process leaves such pictures."""
    with unit_of_work():
        own_pictures.sweep()


def empty_old_sql() -> None:
    with unit_of_work():
        audit.empty_old_sql()


def rotate_nik() -> tuple[int, list[int]]:
    """Encrypt every NIK and every second-factor secret with the first configured key.

    Skip values that are already encrypted with this key. Return the number of changed NIK, and the ids of people whose
    NIK cannot be decrypted. Each batch is its own transaction, so an interrupted run can be repeated.
    """
    prefix = field_encryption.stored_prefix()
    with unit_of_work():  # one transaction is enough, because only administrators have a second factor
        second_factor.reencrypt()
    done = last = 0
    broken: list[int] = []
    while True:
        with unit_of_work():
            rows = db.session.execute(
                sa.select(User.id, User.nik)
                .where(User.id > last, User.nik.is_not(None), ~User.nik.startswith(prefix, autoescape=True))
                .order_by(User.id)
                .limit(BATCH)
                .with_for_update(key_share=True)
            ).all()
            if not rows:
                return done, broken
            for user_id, stored in rows:
                try:
                    sealed = field_encryption.encrypt(field_encryption.decrypt(stored, user_id) or "", user_id)
                except field_encryption.UndecryptableField:
                    broken.append(user_id)
                    continue
                renewed = sa.update(User).where(User.id == user_id).values(nik=sealed, updated_at=User.updated_at)
                db.session.execute(renewed.execution_options(synchronize_session=False))
                done += 1
        last = rows[-1].id


def verify_nik() -> tuple[int, list[int]]:
    """Decrypt every NIK. Return the number of successes, and the ids of people whose NIK cannot be decrypted."""
    fine, broken = 0, []
    query = sa.select(User.id, User.nik).where(User.nik.is_not(None)).order_by(User.id)
    with own_connection() as connection:
        for user_id, stored in connection.execute(query.execution_options(yield_per=1000)):
            try:
                field_encryption.decrypt(stored, user_id)
                fine += 1
            except field_encryption.UndecryptableField:
                broken.append(user_id)
    return fine, broken
