"""The WhatsApp Cloud API: https://developers.facebook.com/docs/whatsapp/cloud-api"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.providers.http import Http, ProviderError
from app.providers.messenger import Button, InvalidNumberError, OutsideHoursError, Template

URL = "https://graph.facebook.com/v25.0"

#: A longer text is sent without its buttons.
MOST_CHARACTERS_WITH_BUTTONS = 1024
#: All of a template's body is 1,024.
MOST_CHARACTERS_OF_A_PARAMETER = 800

#: Too many messages, to all or to this number.
_RATE_LIMITS = frozenset({130429, 131056, 4, 80007})
#: Nobody has this number there, or it is none.
_INVALID_NUMBERS = frozenset({131026})
#: Its recipient has not written to us for 24 hours.
OUTSIDE_HOURS = 131047
#: Some passing troubles of its own are 4xx.
_TRANSIENT = frozenset({1, 2, 131000, 131016})


class WhatsAppCloud:
    def __init__(self, http: Http, url: str, token: str, sender_id: str) -> None:
        self._http, self._url, self._token = http, f"{url}/{sender_id}/messages", token

    def send(
        self,
        phone: str,
        text: str,
        *,
        callback: str | None = None,
        buttons: Sequence[Button] = (),
        template: Template | None = None,
    ) -> str | None:
        message = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": phone.removeprefix("+"),
            **_content(text, buttons, template),
        }
        if callback is not None:
            message["biz_opaque_callback_data"] = callback
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            response = self._http.fetch("POST", self._url, json=message, headers=headers)
        except ProviderError as error:
            raise _meaning(error) from None
        messages = response.json().get("messages")
        first = messages[0] if isinstance(messages, list) and messages else None
        if not isinstance(first, dict) or not isinstance(first.get("id"), str):
            raise response.garbage()
        return str(first["id"])


def _content(text: str, buttons: Sequence[Button], template: Template | None) -> dict[str, Any]:
    """The part of a message that is of its type: a template, a text with buttons, or a text."""
    if template is not None:
        return {"type": "template", "template": _template(template)}
    if buttons and len(text) <= MOST_CHARACTERS_WITH_BUTTONS:
        replies = [{"type": "reply", "reply": {"id": button.id, "title": button.title}} for button in buttons]
        action = {"buttons": replies}
        return {"type": "interactive", "interactive": {"type": "button", "body": {"text": text}, "action": action}}
    return {"type": "text", "text": {"body": text}}


def _template(template: Template) -> dict[str, Any]:
    parameters = [{"type": "text", "text": _one_line(parameter)} for parameter in template.parameters]
    body = [{"type": "body", "parameters": parameters}] if parameters else []
    replies = [
        {
            "type": "button",
            "sub_type": "quick_reply",
            "index": str(index),
            "parameters": [{"type": "payload", "payload": payload}],
        }
        for index, payload in enumerate(template.payloads)
    ]
    copy = [] if template.code is None else [_copy_button(template.code)]
    return {"name": template.name, "language": {"code": template.language}, "components": body + replies + copy}


def _copy_button(code: str) -> dict[str, Any]:
    """The one that copies a code, which WhatsApp counts among those that open an address."""
    return {"type": "button", "sub_type": "url", "index": "0", "parameters": [{"type": "text", "text": code}]}


def _one_line(text: str) -> str:
    """A parameter holds neither line breaks nor tabs nor four blanks in a row, and is neither empty nor endless."""
    line = " ".join(text.split()) or "-"
    return line if len(line) <= MOST_CHARACTERS_OF_A_PARAMETER else line[: MOST_CHARACTERS_OF_A_PARAMETER - 1] + "…"


def _meaning(error: ProviderError) -> ProviderError:
    """What WhatsApp's own code says about an error status; a refused token is the operator's to put right."""
    code = _code(error)
    if code in _INVALID_NUMBERS:
        return InvalidNumberError("messaging", f"code {code}")
    if code == OUTSIDE_HOURS:
        return OutsideHoursError("messaging", f"code {code}")
    transient = code in _RATE_LIMITS or code in _TRANSIENT or code == 190 or not error.permanent
    return ProviderError(
        "messaging",
        error.kind,
        permanent=not transient,
        retry_after=error.retry_after,
        response=error.response,
        reason=error.reason if code is None else f"code {code}",
        written=error.written,
    )


def _code(error: ProviderError) -> int | None:
    if error.response is None:
        return None
    try:
        problem: Any = error.response.json().get("error")
    except ProviderError:
        return None
    code = problem.get("code") if isinstance(problem, dict) else None
    return code if isinstance(code, int) else None
