"""Parser of WhatsApp messages: plain texts, texts with buttons, and templates."""

from __future__ import annotations

import re
from typing import Any


def read_content(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the parts of a WhatsApp message as fields of `Message`, or None if WhatsApp refuses the message."""
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
    """Return the payload of a quick-reply button, or the text of a URL button."""
    if sub_type == "url":
        demand(parameter["type"] == "text" and 1 <= len(parameter["text"]) <= 15)
        return str(parameter["text"])
    demand(sub_type == "quick_reply")
    return str(parameter["payload"])


def demand(is_right: bool) -> None:
    if not is_right:
        raise ValueError
