"""Simulator of the messaging gateways Fonnte and WhatsApp Cloud API, at one address."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators import messaging_refusals, webhooks
from dev.simulators.base import Refusals, Simulator
from dev.simulators.messages import read_content
from dev.simulators.messaging_refusals import fonnte_refusal, whatsapp_error
from dev.simulators.senders import SENDER_ID, Fate, Sender, whatsapp_change

TOKEN = "simulated-messaging-token"


@dataclass(frozen=True)
class Message:
    """One accepted message, with the text that the recipient's phone would show."""

    ref: str
    target: str  # phone number in E.164 format, without +
    text: str
    wire: str  # the gateway: fonnte or whatsapp_cloud
    kind: str = "text"  # text, interactive or template. For a template, `text` contains its name and parameters.
    buttons: tuple[str, ...] = ()  # payloads of the buttons
    callback: str | None = None  # WhatsApp's field `biz_opaque_callback_data`
    at: float = field(default_factory=time.time)


class Messaging(Simulator):
    """The gateways Fonnte and WhatsApp Cloud API. `sent` contains the delivered messages, oldest first."""

    name = "messaging"
    refusals: ClassVar[Refusals] = messaging_refusals.ALL

    def __init__(self) -> None:
        self.webhooks = webhooks.Webhooks()
        self._count = 0
        super().__init__()

    def env(self) -> dict[str, str]:
        return {
            "MESSAGING_PROVIDER": "fonnte",
            "MESSAGING_URL": self.url,
            "MESSAGING_TOKEN": TOKEN,
            "MESSAGING_SENDER_ID": SENDER_ID,
        }

    def whatsapp_env(self) -> dict[str, str]:
        return self.env() | {"MESSAGING_PROVIDER": "whatsapp_cloud"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post("/send")(self._fonnte)
        blueprint.post("/device")(self._device)
        blueprint.post("/delete-message")(self._delete)
        blueprint.post("/<sender_id>/messages")(self._whatsapp)
        blueprint.get("/<sender_id>")(self._health)

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.sent: list[Message] = []
            self.invalid: set[str] = set()
            self.sender = Sender()
            #: Accepted messages that wait until the phone is on again.
            self.held: list[Message] = []
            #: Bodies of webhook calls about the service's own number and about failed messages, oldest first.
            self.told: list[dict[str, Any]] = []
            self.webhooks.close()

    def call_back(self, url: str, **manner: Any) -> None:
        """Begin to call the webhooks of the service at `url`.

        `manner` contains the fields of `webhooks.Manner`, the plan for receipts.
        """
        self.webhooks.listen(url, webhooks.Manner(**manner))

    def write(self, sender: str, text: str, wire: str) -> None:
        """Send a message to the service, as a person does."""
        with self.lock:
            self._count += 1
            self.sender.wrote.add(digits(sender))
            self.webhooks.tell(webhooks.written(self._count, digits(sender), text, wire))

    def disconnect(self, *, holds: bool = False) -> None:
        """Switch the phone off.

        With `holds`, the gateway accepts new messages and keeps them until the phone is back.
        """
        with self.lock:
            self.sender.connected, self.sender.holds = False, holds
            self._tell({"device": "628110000000", "status": "disconnect", "reason": "phone offline"})

    def connect(self) -> None:
        """Switch the phone on, and send the waiting messages."""
        with self.lock:
            self.sender.connected = True
            for message in self.held:
                self._send(message)
            self.held.clear()
            self._tell({"device": "628110000000", "status": "connect", "reason": ""})

    def ban(self) -> None:
        with self.lock:
            self.sender.banned = True
            ban = {"event": "DISABLED_UPDATE", "ban_info": {"waba_ban_state": "DISABLE"}}
            self._tell(whatsapp_change("account_update", ban))

    def lower_quality(self, quality: str = "RED") -> None:
        """Lower the quality rating of the service's number, as WhatsApp does after complaints of recipients."""
        with self.lock:
            self.sender.quality = quality
            value = {"display_phone_number": "628110000000", "event": "FLAGGED", "current_limit": self.sender.tier()}
            self._tell(whatsapp_change("phone_number_quality_update", value))

    def fail_later(self, times: int = 1, code: str = "131026") -> None:
        """Accept the next messages, and later report each of them as failed."""
        with self.lock:
            self.sender.failing, self.sender.code = times, code

    def limit_people(self, limit: int) -> None:
        """Limit the number of different people who can get messages within 24 hours."""
        with self.lock:
            self.sender.limit = limit

    def mark_invalid(self, target: str) -> None:
        with self.lock:
            self.invalid.add(digits(target))

    def to(self, target: str) -> list[Message]:
        with self.lock:
            return [message for message in self.sent if message.target == digits(target)]

    def _accept(self, target: str, text: str, wire: str, **more: Any) -> str:
        with self.lock:
            self._count += 1
            ref = f"wamid.{self._count:08d}" if wire == "whatsapp_cloud" else str(80_000_000 + self._count)
            message = Message(ref, target, text, wire, **more)
            match self._fate(message):
                case Fate.SENT:
                    self._send(message)
                case Fate.HELD:
                    self.held.append(message)
                case Fate.FAILED:
                    self._tell_failure(message, self.sender.code)
        return ref

    def _send(self, message: Message) -> None:
        self.sent.append(message)
        if message.wire == "fonnte":
            self.webhooks.receipts(partial(webhooks.fonnte_status, message.ref))
        else:
            name = (message.ref, message.target, message.callback)
            self.webhooks.receipts(partial(webhooks.whatsapp_status, *name))

    def _tell(self, body: dict[str, Any]) -> None:
        self.told.append(body)
        self.webhooks.tell(body)

    def _fate(self, message: Message) -> Fate:
        self.sender.quota -= 1
        if self.sender.keeps_hours and message.kind != "template" and message.target not in self.sender.wrote:
            self.sender.code = "131047"
            return Fate.FAILED
        return self.sender.fate()

    def _tell_failure(self, message: Message, code: str) -> None:
        if message.wire == "fonnte":
            self._tell(webhooks.fonnte_status(message.ref, "invalid"))
        else:
            self._tell(webhooks.whatsapp_status(message.ref, message.target, message.callback, "failed", code))

    def _device(self) -> ResponseReturnValue:
        if request.headers.get("Authorization") != TOKEN:
            return fonnte_refusal("token invalid")
        with self.lock:
            is_on = self.sender.connected and not self.sender.banned
            return {
                "device": "628110000000",
                "device_status": "connect" if is_on else "disconnect",
                "expired": "2030-01-01",
                "quota": str(max(0, self.sender.quota)),
                "status": True,
            }

    def _delete(self) -> ResponseReturnValue:
        if request.headers.get("Authorization") != TOKEN:
            return fonnte_refusal("token invalid")
        with self.lock:
            kept = [message for message in self.held if message.ref != request.form.get("id")]
            found = len(kept) < len(self.held)
            self.held = kept
        return {"status": True} if found else fonnte_refusal("message not found")

    def _health(self, sender_id: str) -> ResponseReturnValue:
        if request.headers.get("Authorization") != f"Bearer {TOKEN}" or sender_id != SENDER_ID:
            return whatsapp_error(190)
        with self.lock:
            told = {
                "quality_rating": self.sender.quality,
                "whatsapp_business_manager_messaging_limit": self.sender.tier(),
            }
        asked = request.args.get("fields", "").split(",")
        return {"id": sender_id, **{name: value for name, value in told.items() if name in asked}}

    def _fonnte(self) -> ResponseReturnValue:
        # Fonnte expects only the token in this header, without "Bearer".
        if request.headers.get("Authorization") != TOKEN:
            return fonnte_refusal("token invalid")
        text = request.form.get("message", "")
        target = digits(request.form.get("target", ""))
        if not target:
            return fonnte_refusal("input invalid")
        if not text:
            return fonnte_refusal("message cannot be empty")
        with self.lock:
            if problem := self.sender.fonnte_problem():
                return fonnte_refusal(problem)
        if not self._reachable(target):
            return fonnte_refusal("target invalid")
        return {
            "detail": "success! message in queue",
            "id": [self._accept(target, without_variables(text), "fonnte")],
            "process": "pending",
            "requestid": self._count,
            "status": True,
            "target": [target],
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
        with self.lock:
            if problem := self.sender.whatsapp_problem(target):
                return whatsapp_error(problem)
        return {
            "messaging_product": "whatsapp",
            "contacts": [{"input": body["to"], "wa_id": target}],
            "messages": [{"id": self._accept(target, wire="whatsapp_cloud", callback=callback, **content)}],
        }

    def _reachable(self, target: str) -> bool:
        return re.fullmatch(r"\d{8,15}", target) is not None and target not in self.invalid


def without_variables(text: str) -> str:
    """Return the text without Fonnte's variables. Fonnte fills them from a list of contacts, which is empty here."""
    return re.sub(r"\{(name|var\d+)\}", "", text)


def digits(number: str) -> str:
    return re.sub(r"\D", "", number)
