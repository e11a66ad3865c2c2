"""A check of the caller's password before sensitive changes. A stolen session is not enough for such a change."""

from __future__ import annotations

from app.core.web.rate_limits import limit
from app.identity import credentials, users
from app.identity.access import by_caller
from app.identity.models import User
from app.identity.second_factor import WrongOtp
from app.identity.sessions import Caller

#: Rate limit of wrong passwords and wrong codes. It applies to all routes that ask the caller for a password or a code.
#: All these routes share one count.
limit_own_password = limit(
    "10 per 5 minutes", key=by_caller, counts=(credentials.WrongPassword, WrongOtp), counter="own_password"
)


def get_confirmed(caller: Caller, password: str) -> User:
    """Lock and return the caller. Raise `WrongPassword` if this is not the caller's password."""
    user = users.get_own(caller, to_change=True)
    credentials.check_password(user, password)
    return user
