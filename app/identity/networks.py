"""Networks from which each person has logged in within the last 30 days.

Wrong passwords that somebody tries from another network do not lock the person out on these networks.
"""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.identity import codes
from app.identity.models import LoginNetwork

#: Time between the latest login from a network and the moment when the network is forgotten.
KNOWN = timedelta(days=30)


def record(user_id: int, network: str) -> None:
    """Record a login from a network. The person's row must be locked."""
    row = insert(LoginNetwork).values(user_id=user_id, network_hash=_digest(network))
    db.session.execute(
        row.on_conflict_do_update(
            index_elements=["user_id", "network_hash"], set_={"last_login_at": sa.func.statement_timestamp()}
        )
    )


def is_known(user_id: object, network: str) -> sa.ColumnElement[bool]:
    """Return an SQL condition that is true if a person has logged in from a network within `KNOWN`.

    `user_id` is an id or a column of ids.
    """
    return sa.exists().where(LoginNetwork.user_id == user_id, LoginNetwork.network_hash == _digest(network), ~_is_old())


def delete_old() -> None:
    db.session.execute(sa.delete(LoginNetwork).where(_is_old()))


def _is_old() -> sa.ColumnElement[bool]:
    return LoginNetwork.last_login_at <= sa.func.statement_timestamp() - KNOWN


def _digest(network: str) -> str:
    return codes.digest("login_network", network)
