"""The answer without a login, for a push's service worker; the page of the link is in `pages`."""

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
    """By token, which nobody guesses, and loosely by address: behind that of a mobile network sit thousands of people,
    and many have a dose at seven."""
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
    """Answer all that is open of a link or push; 410 a day after it fell due.

    Without open times it answers the missed ones, else it changes the answers. 409 `too_early`, `already_closed` and
    `cannot_snooze` as for the answer of somebody who is signed in.
    """
    return links.answer(token, data)
