"""Who holds a session shows by the password that it is theirs, before what a stolen one must not do."""

from __future__ import annotations

from app.core.web.rate_limits import limit
from app.identity import credentials, users
from app.identity.access import by_caller
from app.identity.models import User
from app.identity.second_factor import WrongOtp
from app.identity.sessions import Caller

#: For every route that asks for it: guesses are counted together, wherever they are made.
limit_own_password = limit(
    "10 per 5 minutes", key=by_caller, counts=(credentials.WrongPassword, WrongOtp), counter="own_password"
)


def get_confirmed(caller: Caller, password: str) -> User:
    """The caller, locked for a change; `WrongPassword` when it is not theirs."""
    user = users.get_own(caller, to_change=True)
    credentials.check_password(user, password)
    return user
