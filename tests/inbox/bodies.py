"""Request bodies of webhooks, in the form in which the providers send them."""

import hashlib
import hmac
import json
from itertools import count

from tests.inbox.phones import APP_SECRET, FONNTE_TOKEN

_numbers = count(1)


def whatsapp(*changes):
    entry = {"id": "1", "time": 1749416383, "changes": list(changes)}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def heard(**value):
    """Return the `changes` object of a WhatsApp webhook, with messages or receipts."""
    return {"field": "messages", "value": {"metadata": {"phone_number_id": "100200300400"}, **value}}


def message(text="SUDAH", *, sender="6281200000001", ref=None):
    ref = ref or f"wamid.in.{next(_numbers)}"
    return {"from": sender, "id": ref, "timestamp": "1749416383", "type": "text", "text": {"body": text}}


_QUOTE = {"context": {"from": "6281100000000", "id": "wamid.7"}}


def _of(kind, **part):
    return {"type": kind, kind: part}


def _edit(**inner):
    return _of("edit", original_message_id="wamid.in.7", **({"message": inner} if inner else {}))


_BELUM, _IMAGE = {"type": "text", "text": {"body": "belum"}}, {"mime_type": "image/jpeg", "sha256": "x", "id": "1"}
_BUTTON = _of("interactive", type="button_reply", button_reply={"id": "T:abc:skip", "title": "Lewati"})
DONE, SKIPPED, NOT_YET, ONLY_TEXT = "answered:done", "answered:skipped", "answered:not yet", "answered:only text"

#: WhatsApp messages of other types than a plain text: the body, the stored text, the stored payload and the outcome.
#: One dose has no answer yet. The message about this dose has the provider's id "wamid.7".
WHATSAPP_KINDS = {
    "quoted": (
        {**_QUOTE, "type": "text", "text": {"body": "SUDAH"}}, "SUDAH", {"type": "text", "about": "wamid.7"}, DONE),
    "reaction": (
        _of("reaction", message_id="wamid.7", emoji="✅"), "✅", {"type": "reaction", "about": "wamid.7"}, DONE),
    "reaction taken away": (
        _of("reaction", message_id="wamid.7"), "", {"type": "reaction", "about": "wamid.7"}, "reaction"),
    "reaction taken away, with an empty emoji": (
        _of("reaction", message_id="wamid.7", emoji=""), "", {"type": "reaction", "about": "wamid.7"}, "reaction"),
    "button of a template": (
        {**_QUOTE, **_of("button", payload="T:abc", text="Sudah diminum")}, "Sudah diminum",
        {"type": "button", "pressed": "T:abc", "about": "wamid.7"}, DONE),
    "button of a text": (
        {**_QUOTE, **_BUTTON}, "Lewati",
        {"type": "interactive", "pressed": "T:abc:skip", "about": "wamid.7"}, SKIPPED),
    "image with a caption": (_of("image", caption="sudah", **_IMAGE), "sudah", {"type": "image"}, DONE),
    "image": (_of("image", **_IMAGE), "", {"type": "image"}, ONLY_TEXT),
    "document with a caption": (
        _of("document", caption="sudah", filename="hasil.pdf", id="1"), "sudah", {"type": "document"}, DONE),
    "voice note": (_of("audio", mime_type="audio/ogg", id="1", voice=True), "", {"type": "audio"}, ONLY_TEXT),
    "video": (_of("video", mime_type="video/mp4", id="1"), "", {"type": "video"}, ONLY_TEXT),
    "sticker": (_of("sticker", mime_type="image/webp", id="1"), "", {"type": "sticker"}, ONLY_TEXT),
    "place": (_of("location", latitude=-6.2, longitude=106.8, name="Apotek"), "", {"type": "location"}, ONLY_TEXT),
    "contacts": (
        {"type": "contacts", "contacts": [{"name": {"formatted_name": "Budi"}}]}, "", {"type": "contacts"}, ONLY_TEXT),
    "edited": (_edit(**_BELUM), "belum", {"type": "text", "edited": "wamid.in.7"}, NOT_YET),
    "edited, with a quote": (
        _edit(context={"id": "wamid.7"}, **_BELUM), "belum",
        {"type": "text", "edited": "wamid.in.7", "about": "wamid.7"}, NOT_YET),
    "edited caption": (
        _edit(type="image", image={"caption": "belum"}), "belum", {"type": "image", "edited": "wamid.in.7"}, NOT_YET),
    "edited, without the new message": (_edit(), "", {"type": "edit", "edited": "wamid.in.7"}, "ignored"),
    "revoked": (_of("revoke", original_message_id="wamid.in.7"), "", {"type": "revoke"}, "ignored"),
    "not passed on": ({"type": "unsupported", "errors": [{"code": 131051}]}, "", {"type": "unsupported"}, "ignored"),
}  # fmt: skip
_FILE = {"message": "non-text message", "url": "https://files.example/1.ogg", "filename": "1.ogg", "extension": "ogg"}
#: Fonnte messages of other types than text: the body, the text, the type and the outcome. Fonnte has no reactions or
#: quotes.
FONNTE_KINDS = {
    "text": ({"message": "SUDAH"}, "SUDAH", "text", DONE),
    "button": ({"message": "", "text": "Sudah"}, "Sudah", "text", DONE),
    "file": ({"message": "non-text message"}, "", "media", ONLY_TEXT),
    "file of a larger package": (_FILE, "", "media", ONLY_TEXT),
    "image with a caption": ({**_FILE, "message": "sudah"}, "sudah", "media", DONE),
    "place": ({"message": "non-text message", "location": "-6.2,106.8"}, "", "media", ONLY_TEXT),
    "empty fields of no file": ({"message": "SUDAH", "url": "", "location": "", "filename": None}, "SUDAH", "text",
                                DONE),
}  # fmt: skip


def status(told="delivered", *, ref="wamid.1", **more):
    return {"id": ref, "status": told, "timestamp": "1749416383", "recipient_id": "6281200000001", **more}


def sign(body, secret=APP_SECRET):
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post_whatsapp(client, body, **headers):
    """Post a body to a webhook. Sign it, unless other headers are given."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(
        "/webhooks/whatsapp",
        data=raw,
        content_type="application/json",
        headers={"X-Hub-Signature-256": sign(raw), **headers},
    )


def post_fonnte(client, event, body, token=FONNTE_TOKEN):
    return client.post(f"/webhooks/fonnte/{token}/{event}", body)


def fonnte_message(text="SUDAH", *, sender="6281200000001", **more):
    return {
        "device": "6281100000000", "sender": sender, "message": text, "name": "Siti", "timestamp": 1749416383,
        "inboxid": next(_numbers), **more,
    }  # fmt: skip
