"""Route that answers reminders without a login. The browser's service worker calls it for the buttons of a push.

The module `pages` has the web page for the web link in a message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flask import request

from app.core.web.blueprint import Blueprint
from app.core.web.rate_limits import limit
from app.identity.access import public
from app.pengingat.ledger import schemas
from app.pengingat.ledger.schemas import LinkAnswer, QuickAnswer
from app.pengingat.ledger.tokens import hash_of
from app.pengingat.one_tap import links

V = TypeVar("V", bound=Callable[..., object])


def _token() -> str:
    return hash_of(str((request.view_args or {})["token"]))


def limit_answers(view: V) -> V:
    """Limit requests to 60 per minute for each token, and to 600 per minute for each IP address.

    The limit for an IP address is high, because thousands of people in a mobile network share one address. Many of them
    have a dose at seven o'clock. A high limit is safe, because a token of 128 bits cannot be guessed.
    """
    return limit("600 per minute")(limit("60 per minute", key=_token)(view))


bp = Blueprint("konfirmasi", __name__, url_prefix="/konfirmasi", description="Answers by one tap, without a login")


@bp.post("/<token>")
@public
@limit_answers
@bp.arguments(schemas.QuickAnswerCreate)
@bp.response(200, schemas.LinkAnswerShown)
def answer_link(data: QuickAnswer, token: str) -> LinkAnswer:
    """Answer all pending occurrences of a link or push, without a login.

    An occurrence is one due time of a reminder. If none is pending, the missed ones are answered. If none is missed
    either, the existing answers are changed.

    The error is 410 a day after the due time. The errors 409 `too_early`, `already_closed` and `cannot_snooze` mean the
    same as for an answer with a login.
    """
    return links.answer(token, data)
