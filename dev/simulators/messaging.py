"""The messaging gateways: Fonnte and the WhatsApp Cloud API, behind one address."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals, Simulator

TOKEN = "simulated-messaging-token"
SENDER_ID = "100200300400"

#: WhatsApp's error codes: the HTTP status that carries each, and its words.
WHATSAPP_ERRORS = {
    130429: (429, "(#130429) Rate limit hit"),
    131056: (429, "(#131056) (Business Account, Consumer Account) pair rate limit hit"),
    131026: (400, "(#131026) Message undeliverable"),
    131047: (400, "(#131047) Re-engagement message"),
    190: (401, "Error validating access token"),
    100: (400, "(#100) Invalid parameter"),
    131000: (500, "(#131000) Something went wrong"),
}


@dataclass(frozen=True)
class Message:
    """One accepted message: what somebody's phone would have shown."""

    ref: str
    target: str  # as E.164 digits, without +
    text: str
    wire: str  # fonnte or whatsapp_cloud
    kind: str = "text"  # or interactive, or template, whose text is its name and its parameters
    buttons: tuple[str, ...] = ()  # what each sends back
    callback: str | None = None  # biz_opaque_callback_data
    at: float = field(default_factory=time.time)


class Messaging(Simulator):
    """Accepts what both gateways accept; `sent` holds each accepted message in order."""

    name = "messaging"

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Message] = []
        self.invalid: set[str] = set()
        self._count = 0

    def env(self) -> dict[str, str]:
        return {
            "MESSAGING_PROVIDER": "fonnte",
            "MESSAGING_URL": self.url,
            "MESSAGING_TOKEN": TOKEN,
            "MESSAGING_SENDER_ID": SENDER_ID,
        }

    def whatsapp_env(self) -> dict[str, str]:
        """The settings for the other wire."""
        return self.env() | {"MESSAGING_PROVIDER": "whatsapp_cloud"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post("/send")(self._fonnte)
        blueprint.post("/<sender_id>/messages")(self._whatsapp)

    def refusals(self) -> Refusals:
        reasons = {
            "token_invalid": "token invalid",
            "target_invalid": "target invalid",
            "rate_limit": "rate limit",
            "disconnected": "request invalid on disconnected device",
        }
        fonnte: Refusals = {kind: partial(fonnte_refusal, reason) for kind, reason in reasons.items()}
        return {**fonnte, **{f"code_{code}": partial(whatsapp_error, code) for code in WHATSAPP_ERRORS}}

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"mark_invalid": self.mark_invalid}

    def received(self) -> list[dict[str, Any]]:
        """The accepted messages: one row for each that reached a phone."""
        with self.lock:
            return [asdict(message) for message in self.sent]

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.sent.clear()
            self.invalid.clear()

    def mark_invalid(self, target: str) -> None:
        """From now on nobody has this number."""
        with self.lock:
            self.invalid.add(digits(target))

    def to(self, target: str) -> list[Message]:
        """Accepted messages of one number, in order."""
        with self.lock:
            return [message for message in self.sent if message.target == digits(target)]

    def _accept(self, target: str, text: str, wire: str, **more: Any) -> str:
        with self.lock:
            self._count += 1
            ref = f"wamid.{self._count:08d}" if wire == "whatsapp_cloud" else str(80_000_000 + self._count)
            self.sent.append(Message(ref, target, text, wire, **more))
        return ref

    def _fonnte(self) -> ResponseReturnValue:
        # The token stands bare in the header: with "Bearer" before it, the gateway does not know it.
        if request.headers.get("Authorization") != TOKEN:
            return fonnte_refusal("token invalid")
        text = request.form.get("message", "")
        country = request.form.get("countryCode", "62")
        targets = [local_number(part, country) for part in request.form.get("target", "").split(",") if part]
        if not targets:
            return fonnte_refusal("input invalid")
        if not text:
            return fonnte_refusal("message cannot be empty")
        good = [target for target in targets if self._reachable(target)]
        if not good:
            return fonnte_refusal("target invalid")
        return {
            "detail": "success! message in queue",
            "id": [self._accept(target, without_variables(text), "fonnte") for target in good],
            "process": "pending",
            "requestid": self._count,
            "status": True,
            "target": good,
        }

    def _whatsapp(self, sender_id: str) -> ResponseReturnValue:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return whatsapp_error(190)
        body = request.get_json(silent=True)
        if not isinstance(body, dict) or sender_id != SENDER_ID or body.get("messaging_product") != "whatsapp":
            return whatsapp_error(100)
        content = read_content(body)
        callback = body.get("biz_opaque_callback_data")
        if content is None or not isinstance(callback, str | None) or len(callback or "") > 512:
            return whatsapp_error(100)
        target = digits(str(body.get("to", "")))
        if not self._reachable(target):
            return whatsapp_error(131026)
        return {
            "messaging_product": "whatsapp",
            "contacts": [{"input": body["to"], "wa_id": target}],
            "messages": [{"id": self._accept(target, wire="whatsapp_cloud", callback=callback, **content)}],
        }

    def _reachable(self, target: str) -> bool:
        return re.fullmatch(r"\d{8,15}", target) is not None and target not in self.invalid


def read_content(body: dict[str, Any]) -> dict[str, Any] | None:
    """What a phone shows of a WhatsApp message, as fields of `Message`; None for one that WhatsApp refuses."""
    kind = body.get("type", "text")
    readers = {"text": _read_text, "interactive": _read_interactive, "template": _read_template}
    try:
        fields: dict[str, Any] = {"kind": kind, **readers[kind](body[kind])}
    except (KeyError, TypeError, IndexError, ValueError):
        return None
    return fields if isinstance(fields["text"], str) and fields["text"] else None


def _read_text(text: Any) -> dict[str, Any]:
    demand(len(text["body"]) <= 4096)
    return {"text": text["body"]}


def _read_interactive(interactive: Any) -> dict[str, Any]:
    body, buttons = interactive["body"]["text"], interactive["action"]["buttons"]
    titles = [button["reply"]["title"] for button in buttons if button["type"] == "reply"]
    ids = [button["reply"]["id"] for button in buttons]
    demand(interactive["type"] == "button" and len(body) <= 1024 and 1 <= len(buttons) <= 3)
    demand(len(set(titles)) == len(set(ids)) == len(buttons))
    demand(all(1 <= len(title) <= 20 for title in titles) and all(1 <= len(each) <= 256 for each in ids))
    return {"text": body, "buttons": tuple(ids)}


def _read_template(template: Any) -> dict[str, Any]:
    parameters: list[str] = []
    buttons: list[str] = []
    for component in template.get("components", []):
        if component["type"] == "body":
            parameters += [parameter["text"] for parameter in component["parameters"]]
        else:
            demand(component["index"] == str(len(buttons)))
            buttons.append(_read_template_button(component["sub_type"], component["parameters"][0]))
    demand(isinstance(template["language"]["code"], str) and len("".join(parameters)) <= 1024)
    demand(all(each.strip() and not re.search(r"[\n\t]| {4}", each) for each in parameters))
    return {"text": " | ".join([template["name"], *parameters]), "buttons": tuple(buttons)}


def _read_template_button(sub_type: str, parameter: Any) -> str:
    """What a ready answer brings back, or the code that a button copies."""
    if sub_type == "url":
        demand(parameter["type"] == "text" and 1 <= len(parameter["text"]) <= 15)
        return str(parameter["text"])
    demand(sub_type == "quick_reply")
    return str(parameter["payload"])


def demand(is_right: bool) -> None:
    if not is_right:
        raise ValueError


def without_variables(text: str) -> str:
    """Fonnte fills its variables from a list of contacts, which is empty here."""
    return re.sub(r"\{(name|var\d+)\}", "", text)


def fonnte_refusal(reason: str) -> ResponseReturnValue:
    """Fonnte answers 200 to everything; only `status` tells."""
    return {"status": False, "reason": reason}


def whatsapp_error(code: int) -> ResponseReturnValue:
    status, message = WHATSAPP_ERRORS[code]
    error = {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "AsimulatedTrace"}
    return {"error": error}, status


def digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def local_number(number: str, country: str) -> str:
    """Fonnte replaces a leading zero by the country code."""
    plain = digits(number)
    return country + plain[1:] if plain.startswith("0") and country != "0" else plain
