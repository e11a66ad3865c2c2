"""Webhook calls of the messaging gateways. Calls are signed, and repeated until the service answers 200.

Nothing is sent before `Webhooks.listen` is called. After that, the service gets receipts of accepted messages. `Manner`
sets the number, delay and order of the receipts.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from queue import Empty, PriorityQueue
from threading import Event, Thread
from typing import Any

import requests

from dev.simulators.senders import whatsapp_change

APP_SECRET = "simulated-app-secret"
VERIFY_TOKEN = "simulated-verify-token"
FONNTE_TOKEN = "simulated-fonnte-token-0123456789abcdef"
#: The phone number of the service.
DEVICE = "628110000000"
#: `AGAIN_S`: seconds until a failed call is repeated. `MAX_CALLS`: maximum number of repetitions. `TIMEOUT_S`: seconds
#: that a call waits for its response.
AGAIN_S, MAX_CALLS, TIMEOUT_S = 0.5, 120, 10.0


@dataclass(frozen=True)
class Manner:
    """Plan for the receipts of each message.

    `told` contains the delivery states to report. Each receipt is sent `times` times, after `late_s` seconds. If
    `shuffled`, receipts are sent in random order, each after a random time up to `late_s` seconds.
    """

    told: Sequence[str] = ("sent", "delivered")
    times: int = 1
    shuffled: bool = False
    late_s: float = 0.0


@dataclass(frozen=True)
class WebhookCall:
    path: str
    body: bytes
    tries: int = 0


class Webhooks:
    """Webhook calls from the gateways to the service. Nothing is sent before `listen` is called."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.manner = Manner()
        #: Status codes of the service's responses, in order. 0 means that there was no response.
        self.answers: list[int] = []
        self._due: PriorityQueue[tuple[float, int, WebhookCall]] = PriorityQueue()
        self._count = count()
        self._random = random.Random(1)
        self._ended = Event()

    def listen(self, url: str, manner: Manner) -> None:
        """Begin to send webhook calls to the service at this address."""
        self.url, self.manner = url.rstrip("/"), manner
        self._ended = Event()
        Thread(target=self._run, args=(self._ended,), name="webhooks", daemon=True).start()

    def close(self) -> None:
        """Stop calling the service, and drop the calls that are not sent yet."""
        self._ended.set()
        self.url, self.manner, self._due = None, Manner(), PriorityQueue()
        self.answers.clear()

    def tell(self, body: dict[str, Any], *, after_s: float = 0.0) -> None:
        """Send this body to the webhook of its gateway, after `after_s` seconds."""
        if self.url is not None:
            self._put(WebhookCall(_path(body), json.dumps(body).encode()), after_s)

    def receipts(self, states: Callable[[str], dict[str, Any]]) -> None:
        """Send the receipts of a message. `states` returns the webhook body for a delivery state."""
        manner = self.manner
        told = [state for state in manner.told for _ in range(manner.times)]
        if manner.shuffled:
            self._random.shuffle(told)
        for n, state in enumerate(told):
            late_s = self._random.uniform(0, manner.late_s) if manner.shuffled else manner.late_s
            self.tell(states(state), after_s=late_s + n * 1e-6)

    def _put(self, call: WebhookCall, after_s: float) -> None:
        self._due.put((time.monotonic() + after_s, next(self._count), call))

    def _run(self, ended: Event) -> None:
        with requests.Session() as session:
            while not ended.wait(0.01):
                while not ended.is_set() and (call := self._next()) is not None:
                    self._make(session, call, ended)

    def _next(self) -> WebhookCall | None:
        """Return the earliest call that is due, or None."""
        due = self._due
        try:
            at, n, call = due.get_nowait()
        except Empty:
            return None
        if at <= time.monotonic():
            return call
        due.put((at, n, call))
        return None

    def _make(self, session: requests.Session, call: WebhookCall, ended: Event) -> None:
        headers = {"Content-Type": "application/json", "X-Hub-Signature-256": sign(call.body)}
        try:
            response = session.post(f"{self.url}/api{call.path}", data=call.body, headers=headers, timeout=TIMEOUT_S)
            status = response.status_code
        except requests.RequestException:
            status = 0
        if ended.is_set():  # After `close`, ignore this response, because `answers` may belong to another test.
            return
        self.answers.append(status)
        if status != 200 and call.tries < MAX_CALLS:
            self._put(WebhookCall(call.path, call.body, call.tries + 1), AGAIN_S)


def sign(body: bytes) -> str:
    return "sha256=" + hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()


def settings() -> dict[str, str]:
    """Return the settings that make the service accept these webhook calls."""
    return {
        "WHATSAPP_APP_SECRET": APP_SECRET,
        "WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
        "FONNTE_WEBHOOK_TOKEN": FONNTE_TOKEN,
        "MESSAGING_NUMBER": f"+{DEVICE}",
    }


def written(number: int, sender: str, text: str, wire: str) -> dict[str, Any]:
    """Return the webhook body of a text message from a person."""
    if wire == "fonnte":
        return {
            "device": DEVICE, "sender": sender, "message": text, "name": "Somebody", "timestamp": int(time.time()),
            "inboxid": number,
        }  # fmt: skip
    message = {"from": sender, "id": f"wamid.in.{number}", "timestamp": f"{time.time():.0f}", "type": "text"}
    contacts = [{"wa_id": sender, "profile": {"name": "Somebody"}}]
    value = {"messaging_product": "whatsapp", "contacts": contacts, "messages": [{**message, "text": {"body": text}}]}
    return whatsapp_change("messages", value)


def whatsapp_status(ref: str, target: str, callback: str | None, state: str, code: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"id": ref, "status": state, "timestamp": f"{time.time():.0f}", "recipient_id": target}
    if callback is not None:
        status["biz_opaque_callback_data"] = callback
    if code:
        status["errors"] = [{"code": int(code), "title": "Message failed to send"}]
    return whatsapp_change("messages", {"messaging_product": "whatsapp", "statuses": [status]})


def fonnte_status(ref: str, state: str) -> dict[str, Any]:
    """Return a webhook body with a delivery status of a message.

    The first body about a message contains both ids of the message. Later bodies contain only `stateid`.
    """
    status = {"device": DEVICE, "stateid": f"s{ref}", "state": state}
    return {**status, "id": ref, "status": state} if state in ("sent", "invalid") else status


def _path(body: dict[str, Any]) -> str:
    if "entry" in body:
        return "/webhooks/whatsapp"
    event = "message" if "sender" in body else "device" if "reason" in body else "status"
    return f"/webhooks/fonnte/{FONNTE_TOKEN}/{event}"
