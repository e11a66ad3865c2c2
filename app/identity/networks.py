"""Networks that people logged in from within 30 days: wrong guesses from elsewhere do not lock the owner out there."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.identity import codes
from app.identity.models import LoginNetwork

#: How long after its last login a network is known.
KNOWN = timedelta(days=30)


def note(user_id: int, network: str) -> None:
    """Record a login from a network. The person's row is locked."""
    row = insert(LoginNetwork).values(user_id=user_id, network_hash=_digest(network))
    db.session.execute(
        row.on_conflict_do_update(
            index_elements=["user_id", "network_hash"], set_={"last_login_at": sa.func.statement_timestamp()}
        )
    )


def is_known(user_id: object, network: str) -> sa.ColumnElement[bool]:
    """Return the condition of SQL that a person (an id, or a column of ids) logged in from a network within `KNOWN`."""
    return sa.exists().where(LoginNetwork.user_id == user_id, LoginNetwork.network_hash == _digest(network), ~_is_old())


def forget_old() -> None:
    """Delete the networks that are known no more."""
    db.session.execute(sa.delete(LoginNetwork).where(_is_old()))


def _is_old() -> sa.ColumnElement[bool]:
    return LoginNetwork.last_login_at <= sa.func.statement_timestamp() - KNOWN


def _digest(network: str) -> str:
    return codes.digest("login_network", network)
