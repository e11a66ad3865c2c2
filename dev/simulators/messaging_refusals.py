"""Error responses of the messaging gateways. Fonnte returns reasons in words, WhatsApp returns codes."""

from __future__ import annotations

from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals

#: Fonnte's reason texts, by the kind of the simulated fault.
FONNTE_REASONS = {
    "token_invalid": "token invalid",
    "target_invalid": "target invalid",
    "rate_limit": "rate limit",
    "no_quota": "insufficient quota",
    "disconnected": "request invalid on disconnected device",
}

#: HTTP status and message text, by WhatsApp's error code.
WHATSAPP_ERRORS = {
    130429: (429, "(#130429) Rate limit hit"),
    131056: (429, "(#131056) (Business Account, Consumer Account) pair rate limit hit"),
    131026: (400, "(#131026) Message undeliverable"),
    131047: (400, "(#131047) Re-engagement message"),
    131031: (403, "(#131031) Account has been locked"),
    131042: (400, "(#131042) Business eligibility payment issue"),
    131048: (400, "(#131048) Spam rate limit hit"),
    132000: (400, "(#132000) Number of parameters does not match the expected number of params"),
    132001: (404, "(#132001) Template name does not exist in the translation"),
    132012: (400, "(#132012) Parameter format does not match format in the created template"),
    132015: (400, "(#132015) Template is paused"),
    132016: (400, "(#132016) Template is disabled"),
    131050: (400, "(#131050) User has stopped marketing messages"),
    368: (403, "(#368) Temporarily blocked for policies violations"),
    190: (401, "Error validating access token"),
    0: (401, "AuthException"),
    10: (403, "(#10) Application does not have permission for this action"),
    200: (403, "(#200) Permission is either not granted or has been removed"),
    131005: (403, "(#131005) Access denied"),
    133010: (400, "(#133010) Phone number not registered"),
    100: (400, "(#100) Invalid parameter"),
    131000: (500, "(#131000) Something went wrong"),
}


def fonnte_refusal(reason: str) -> ResponseReturnValue:
    """Return an error of Fonnte. Its HTTP status is 200, as in all responses of Fonnte. Its field `status` is false."""
    return {"status": False, "reason": reason}


def whatsapp_error(code: int) -> ResponseReturnValue:
    status, message = WHATSAPP_ERRORS[code]
    error = {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "AsimulatedTrace"}
    return {"error": error}, status


#: Error responses by the kind of the simulated fault.
ALL: Refusals = {
    **{name: fonnte_refusal(reason) for name, reason in FONNTE_REASONS.items()},
    **{f"code_{code}": whatsapp_error(code) for code in WHATSAPP_ERRORS},
}
