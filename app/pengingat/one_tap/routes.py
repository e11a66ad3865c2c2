"""Route for answers without a login, for the service worker of a push. See `pages` for the page of a link."""

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
    """Limit requests to 60 per minute by token, and to 600 per minute by address.

    The limit by address is high, because thousands of people in a mobile network share one address and many have a dose
    at seven. Guessing a token is not practical.
    """
    return limit("600 per minute")(limit("60 per minute", key=_token)(view))


bp = Blueprint("konfirmasi", __name__, url_prefix="/konfirmasi", description="Answers by one tap, without a login")


@bp.post("/<token>")
@public
@limit_answers
@bp.arguments(schemas.QuickAnswerCreate)
@bp.response(200, schemas.LinkAnswerShown)
@bp.alt_response(409, "CONFLICT")
@bp.alt_response(410, "GONE")
def answer_link(data: QuickAnswer, token: str) -> LinkAnswer:
    """Answer all open occurrences of a link or push. 410 a day after they fell due.

    If no occurrence is open, the missed ones are answered. If all are answered, their answers change. 409 `too_early`,
    `already_closed` and `cannot_snooze` have the same meaning as for an answer with a login.
    """
    return links.answer(token, data)
