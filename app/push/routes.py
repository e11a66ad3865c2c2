"""Routes of web push."""

from __future__ import annotations

from http import HTTPStatus

from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.fields import Loaded
from app.core.web.rate_limits import by_body, limit
from app.identity.access import optional, optional_caller, public
from app.push import schemas, service
from app.push.models import PushSubscription

target = by_body(schemas.PushCreate, "user_id")


def _has_token() -> bool:
    """Return whether the request has an access token."""
    return optional_caller() is not None


#: Name of the rate limit counter of `send_push`.
SENDING = "push.send"

bp = Blueprint("push", __name__, url_prefix="/push", description="Web push subscriptions and sending")


@bp.get("/public-key")
@public
@bp.response(200, schemas.PublicKey)
def get_public_key() -> dict[str, str]:
    """Return the VAPID public key, which a browser needs to subscribe.

    `vapid_public_key` of `GET /features` is the same key. 502 `provider_not_configured` if web push is off.
    """
    return {"public_key": service.public_key()}


@bp.post("/subscribe")
@optional
@limit("60 per minute")
@limit("30 per hour", key=target, exempt_when=_has_token)
@bp.arguments(schemas.SubscriptionCreate)
@bp.response(201, schemas.Subscription)
@bp.alt_response(200, schema=schemas.Subscription, description="Known endpoint: its owner and keys were replaced")
def subscribe(data: Loaded) -> tuple[PushSubscription, int]:
    """Store a browser's push subscription.

    With a token, the subscription is verified. It belongs to the token's owner and ends with this session. Without a
    token, the response is 409 `subscription_verified` if the endpoint is already verified.
    """
    subscription, is_new = service.subscribe(data, optional_caller())
    return subscription, 201 if is_new else 200


@bp.delete("/subscribe")
@public
@limit("60 per minute")
@bp.arguments(schemas.SubscriptionDelete)
@bp.response(200, MessageSchema)
def unsubscribe(data: dict[str, str]) -> dict[str, str]:
    """Delete a subscription."""
    service.unsubscribe(**data)
    return {"message": "Langganan dihapus."}


@bp.post("/send")
@optional
@limit("20 per minute", key=target, counter=SENDING)
@limit("60 per minute", counter=SENDING)
@bp.arguments(schemas.PushCreate)
@bp.response(200, schemas.PushResult)
@bp.alt_response(413, HTTPStatus.REQUEST_ENTITY_TOO_LARGE.name)  # newer Python versions name 413 differently
def send_push(data: Loaded) -> dict[str, int]:
    """Send a push to all browsers of a user, through the worker.

    With `PUSH_SEND=admin`, only administrators may send.
    """
    return service.send(data, optional_caller())
