"""Parsers and signature checks for the webhooks of WhatsApp's Cloud API and of Fonnte.

A webhook may lack fields or have fields of a wrong type. Such a field is left out of the event. If the event needs the
field, the event is skipped and the rest of the body is still parsed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson

from app.core.lib import local_time

#: Maximum characters of a person's message, and of any other text. A WhatsApp message has at most 65,536 characters.
MAX_TEXT, MAX_NAME = 65_536, 200
#: Maximum bytes and maximum nesting depth of the stored payload of an event about our account.
MAX_PAYLOAD, DEPTH = 16_000, 6

WHATSAPP, FONNTE = "whatsapp_cloud", "fonnte"

#: Our message status for each state that Fonnte reports. One webhook may report several states.
_STATES = {
    **dict.fromkeys(("pending", "process", "processing"), "accepted"),
    "sent": "sent",
    **dict.fromkeys(("invalid", "expired", "failed"), "failed"),
    **dict.fromkeys(("delivered", "received"), "delivered"),
    "read": "read",
}
#: Our message statuses in order of progress. If several states are reported, the last of them in this order counts.
_PROGRESS = ("accepted", "sent", "failed", "delivered", "read")
#: Message statuses in WhatsApp's webhooks. Our message statuses have the same names.
_STATUSES = frozenset({"sent", "delivered", "read", "failed"})
#: WhatsApp's webhook fields about our own number or account. The values are our event kinds.
_ACCOUNT_FIELDS = {
    "phone_number_quality_update": "quality",
    "account_update": "account",
    "account_alerts": "account",
    "account_review_update": "account",
    "business_capability_update": "account",
}
#: Text that Fonnte sends for a message without text, such as a picture, voice message or location.
_NO_TEXT = "non-text message"
#: Fields of a Fonnte webhook that are set if the message has a file or a location.
_MEDIA = ("url", "location")

_NUMBER = re.compile(r"\+?(\d{6,15})(?:@(?:s\.whatsapp\.net|c\.us))?")
_GROUP = "@g.us"
_CALLBACK = re.compile(r"d:(\d{1,18})")


@dataclass(frozen=True)
class WebhookEvent:
    """An event in a webhook. Two events with the same `key` are duplicates."""

    provider: str
    key: str
    kind: str
    phone: str | None = None
    text: str | None = None
    ref: str | None = None
    payload: Mapping[str, object] = field(default_factory=dict)


def is_signed(body: bytes, signature: str | None, secret: str) -> bool:
    """Return whether WhatsApp's signature of a body is correct."""
    expected = f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"
    return is_same(expected, signature)


def is_same(secret: str, sent: object) -> bool:
    """Return whether `sent` equals the secret. The comparison takes constant time."""
    return hmac.compare_digest(secret.encode(), str(sent).encode("utf-8", "replace"))


def parse(body: bytes) -> object:
    """Return the parsed JSON. Raise `ValueError` if the body is not JSON."""
    return orjson.loads(body)


# --- WhatsApp -------------------------------------------------------------------------------------------------------


def read_whatsapp(body: object, own_id: str | None = None) -> Iterator[WebhookEvent]:
    """Yield the events of one webhook body. Skip those of a phone number id other than `own_id`.

    An application at Meta may have several phone numbers, and all have the same webhook.
    """
    for entry in _dicts(_get(body, "entry")):
        for change in _dicts(entry.get("changes")):
            value = change.get("value")
            number_id = _text(_get(_get(value, "metadata"), "phone_number_id"))
            if not number_id or own_id in (None, number_id):
                yield from _read_change(_text(change.get("field")), value, entry.get("time"))


def _read_change(name: str, value: object, at: object) -> Iterator[WebhookEvent]:
    if name == "messages":
        yield from (event for message in _dicts(_get(value, "messages")) if (event := _message(message)))
        yield from (event for status in _dicts(_get(value, "statuses")) if (event := _status(status)))
    elif name == "user_preferences":
        yield from (event for each in _dicts(_get(value, "user_preferences")) if (event := _preference(each)))
    elif name in _ACCOUNT_FIELDS:
        payload = {"field": name, **_plain_object(value)}
        yield WebhookEvent(WHATSAPP, _key("wa", name, _digest([at, value])), _ACCOUNT_FIELDS[name], payload=payload)


def _message(message: Mapping[str, object]) -> WebhookEvent | None:
    ref, kind = _text(message.get("id")), _text(message.get("type"))
    if not ref or message.get("group_id"):
        return None
    key, edited, content = _key("wa", ref), "", message
    if kind == "edit":  # all versions of a message have the id of the first version as `ref`
        edited = _text(_get(message.get("edit"), "original_message_id"))
        key, ref = _key("wa", "edit", ref, _text(message.get("timestamp"))), edited or ref
        inner = _get(message.get("edit"), "message")
        content = inner if isinstance(inner, dict) else {}
        kind = _text(content.get("type")) or kind
    part, about = content.get(kind), _text(_get(content.get("context"), "id"))
    pressed, words = "", ""
    if kind == "text":
        words = _text(_get(part, "body"), MAX_TEXT)
    elif kind == "button":
        pressed, words = _text(_get(part, "payload")), _text(_get(part, "text"), MAX_TEXT)
    elif kind == "interactive":
        reply = _get(part, "button_reply") or _get(part, "list_reply")
        pressed, words = _text(_get(reply, "id")), _text(_get(reply, "title"), MAX_TEXT)
    elif kind == "reaction":  # the emoji is empty if the person removed the reaction
        about, words = _text(_get(part, "message_id")), _text(_get(part, "emoji"))
    else:
        words = _text(_get(part, "caption"), MAX_TEXT)
    at = _moment(message.get("timestamp"))
    payload = {"type": kind, "pressed": pressed, "about": about, "edited": edited, "at": at}
    filled = {name: value for name, value in payload.items() if value}
    return WebhookEvent(WHATSAPP, key, "message", _phone(message.get("from")), words, ref, filled)


def _status(status: Mapping[str, object]) -> WebhookEvent | None:
    ref, receipt = _text(status.get("id")), _text(status.get("status"))
    if not ref or receipt not in _STATUSES:
        return None
    ours = _CALLBACK.fullmatch(_text(status.get("biz_opaque_callback_data")))
    problem = next(_dicts(status.get("errors")), {}) if receipt == "failed" else {}
    payload = {
        "receipt": receipt,
        "at": _moment(status.get("timestamp")),
        "code": _text(problem.get("code")),
        "delivery": int(ours[1]) if ours else None,
    }
    filled = {name: value for name, value in payload.items() if value}
    phone = _phone(status.get("recipient_id"))
    return WebhookEvent(WHATSAPP, _key("wa", ref, receipt), "receipt", phone, ref=ref, payload=filled)


def _preference(preference: Mapping[str, object]) -> WebhookEvent | None:
    phone, value = _phone(preference.get("wa_id")), _text(preference.get("value"))
    if phone is None or value not in ("stop", "resume"):
        return None
    key = _key("wa", "wish", _digest(preference))
    return WebhookEvent(WHATSAPP, key, "preference", phone, payload={"wish": value})


# --- Fonnte ---------------------------------------------------------------------------------------------------------


def read_fonnte_message(body: object) -> Iterator[WebhookEvent]:
    """Yield a person's message as an event. Messages in groups are skipped."""
    sender = _text(_get(body, "sender"))
    if not sender or _GROUP in sender or _get(body, "isgroup") is True:
        return
    text, number = _text(_get(body, "message"), MAX_TEXT), _text(_get(body, "inboxid"))
    # A field of `_MEDIA` is set if the message has a file or a location. The field `message` contains the caption of
    # a picture, and the field `text` contains the title of a button.
    is_media = text == _NO_TEXT or any(_text(_get(body, name)) for name in _MEDIA)
    words = "" if text == _NO_TEXT else text or _text(_get(body, "text"), MAX_TEXT)
    # Some messages have no `inboxid`, so the key is a hash of other fields.
    key = number if number not in ("", "0") else _digest([sender, _get(body, "timestamp"), text])
    at = _moment(_get(body, "timestamp"))
    payload = {"type": "media" if is_media else "text", **({"at": at} if at else {})}
    yield WebhookEvent(FONNTE, _key("fo", key), "message", _phone(sender), words, payload=payload)


def read_fonnte_status(body: object) -> Iterator[WebhookEvent]:
    """Yield the status of a sent message as an event.

    If a webhook has no message id, its `stateid` refers to an earlier webhook about the same message.
    """
    ref, state_ref = _text(_get(body, "id")), _text(_get(body, "stateid"))
    words = [_text(_get(body, name)).lower() for name in ("status", "state")]
    reported = {_STATES[word]: word for word in words if word in _STATES}
    if not reported or not (ref or state_ref):
        return
    receipt = max(reported, key=_PROGRESS.index)
    payload = {"receipt": receipt, "code": reported[receipt] if receipt == "failed" else "", "state_ref": state_ref}
    filled = {name: value for name, value in payload.items() if value}
    key = _key("fo", "status", ref, state_ref, *words)
    yield WebhookEvent(FONNTE, key, "receipt", ref=ref or None, payload=filled)


def read_fonnte_device(body: object) -> Iterator[WebhookEvent]:
    """Yield an event that says whether our phone is connected.

    The body contains no time, so equal bodies within one minute are treated as duplicates.
    """
    if isinstance(body, dict) and _text(body.get("status")):
        minute = f"{local_time.now():%Y%m%d%H%M}"
        yield WebhookEvent(FONNTE, _key("fo", "device", minute, _digest(body)), "device", payload=_plain_object(body))


# --- helpers --------------------------------------------------------------------------------------------------------


def _get(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _dicts(value: object) -> Iterator[Mapping[str, object]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _text(value: object, most: int = MAX_NAME) -> str:
    """Return a string or integer as text without NULs. PostgreSQL cannot store NULs. Return "" for other types."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value).replace("\0", "").strip()[:most]


def _phone(value: object) -> str | None:
    """Return the phone number in E.164 format.

    Return None for other values. WhatsApp sends a name in this field if a person hides their number.
    """
    match = _NUMBER.fullmatch(_text(value))
    if not match:
        return None
    return f"+62{match[1][1:]}" if match[1].startswith("0") else f"+{match[1]}"


def _moment(value: object) -> str | None:
    seconds = _text(value)
    return datetime.fromtimestamp(int(seconds), UTC).isoformat() if re.fullmatch(r"\d{9,10}", seconds) else None


def _key(*parts: str) -> str:
    return ":".join(parts)


def _digest(value: object) -> str:
    """Return a hash of a value, as the key of an event without an id.

    Levels deeper than `DEPTH` are not hashed, because orjson cannot serialise every depth that it can parse.
    """
    return hashlib.sha256(orjson.dumps(_plain(value, DEPTH + 1), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _plain_object(value: object) -> dict[str, object]:
    """Return a provider's object without NULs and without levels deeper than `DEPTH`.

    Return an empty dict if the value is not an object or is too large.
    """
    plain = _plain(value, DEPTH)
    return plain if isinstance(plain, dict) and len(orjson.dumps(plain)) <= MAX_PAYLOAD else {}


def _plain(value: object, depth: int) -> object:
    match value:
        case str():
            return value.replace("\0", "")
        case dict() if depth:
            return {str(name).replace("\0", ""): _plain(item, depth - 1) for name, item in value.items()}
        case list() if depth:
            return [_plain(item, depth - 1) for item in value]
        case dict() | list():
            return None
        case _:
            return value
