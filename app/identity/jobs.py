"""What runs on identities outside requests: commands and the clock's sweeps, each batch a transaction of its own."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from app.core.database.session import db, unit_of_work
from app.core.settings import settings
from app.identity import nik, sessions
from app.identity.models import User

BATCH = 200


def drop_dead_sessions() -> None:
    """Delete the sessions that nobody can use any more."""
    with unit_of_work():
        sessions.drop_dead()


def rotate_nik() -> int:
    """Encrypt anew, with the first key, everything that lies under another one; returns how many were.

    Each batch is a transaction of its own: killed at any moment, it goes on where it stopped when run again.
    """
    prefix = f"{nik.VERSION}:{settings.nik_keys[0][0]}:"
    done = last = 0
    while True:
        with unit_of_work():
            rows = db.session.execute(
                sa.select(User.id, User.nik)
                .where(User.id > last, User.nik.is_not(None), ~User.nik.startswith(prefix, autoescape=True))
                .order_by(User.id)
                .limit(BATCH)
                .with_for_update()
            ).all()
            if not rows:
                return done
            sealed = {user_id: nik.encrypt(nik.decrypt(stored, user_id) or "", user_id) for user_id, stored in rows}
            renewed = (
                sa.func.unnest(
                    sa.cast(list(sealed), ARRAY(sa.BigInteger)), sa.cast(list(sealed.values()), ARRAY(sa.Text))
                )
                .table_valued("id", "nik", name="renewed")
                .render_derived()
            )
            db.session.execute(
                sa.update(User)
                .where(User.id == renewed.c.id)
                .values(nik=renewed.c.nik, updated_at=User.updated_at)
                .execution_options(synchronize_session=False)
            )
        done, last = done + len(rows), rows[-1].id


def verify_nik() -> tuple[int, list[int]]:
    """Decrypt all; returns how many are fine and the ids of the people whose NIK cannot be read."""
    fine, broken = 0, []
    for user_id, stored in db.session.execute(
        sa.select(User.id, User.nik).where(User.nik.is_not(None)).order_by(User.id).execution_options(yield_per=1000)
    ):
        try:
            nik.decrypt(stored, user_id)
            fine += 1
        except nik.UndecryptableNik:
            broken.append(user_id)
    return fine, broken
