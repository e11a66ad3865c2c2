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


#: WhatsApp messages of other types than text: the body, the stored text and the stored payload.
WHATSAPP_KINDS = {
    "quoted": (
        {"context": {"from": "6281100000000", "id": "wamid.7"}, "type": "text", "text": {"body": "SUDAH"}},
        "SUDAH",
        {"type": "text", "about": "wamid.7"},
    ),
    "reaction": (
        {"type": "reaction", "reaction": {"message_id": "wamid.7", "emoji": "\u2705"}},
        "\u2705",
        {"type": "reaction", "about": "wamid.7"},
    ),
    "reaction taken away": (
        {"type": "reaction", "reaction": {"message_id": "wamid.7"}},
        "",
        {"type": "reaction", "about": "wamid.7"},
    ),
    "reaction taken away, with an empty emoji": (
        {"type": "reaction", "reaction": {"message_id": "wamid.7", "emoji": ""}},
        "",
        {"type": "reaction", "about": "wamid.7"},
    ),
    "button of a template": (
        {
            "context": {"from": "6281100000000", "id": "wamid.7"},
            "type": "button",
            "button": {"payload": "T:abc", "text": "Sudah diminum"},
        },
        "Sudah diminum",
        {"type": "button", "pressed": "T:abc", "about": "wamid.7"},
    ),
    "button of a text": (
        {
            "context": {"from": "6281100000000", "id": "wamid.7"},
            "type": "interactive",
            "interactive": {"type": "button_reply", "button_reply": {"id": "T:abc:skip", "title": "Lewati"}},
        },
        "Lewati",
        {"type": "interactive", "pressed": "T:abc:skip", "about": "wamid.7"},
    ),
    "image with a caption": (
        {"type": "image", "image": {"caption": "sudah", "mime_type": "image/jpeg", "sha256": "x", "id": "1"}},
        "sudah",
        {"type": "image"},
    ),
    "image": ({"type": "image", "image": {"mime_type": "image/jpeg", "sha256": "x", "id": "1"}}, "", {"type": "image"}),
    "document with a caption": (
        {"type": "document", "document": {"caption": "sudah", "filename": "hasil.pdf", "id": "1"}},
        "sudah",
        {"type": "document"},
    ),
    "voice note": (
        {"type": "audio", "audio": {"mime_type": "audio/ogg; codecs=opus", "id": "1", "voice": True}},
        "",
        {"type": "audio"},
    ),
    "video": ({"type": "video", "video": {"mime_type": "video/mp4", "id": "1"}}, "", {"type": "video"}),
    "sticker": ({"type": "sticker", "sticker": {"mime_type": "image/webp", "id": "1"}}, "", {"type": "sticker"}),
    "place": (
        {"type": "location", "location": {"latitude": -6.2, "longitude": 106.8, "name": "Apotek"}},
        "",
        {"type": "location"},
    ),
    "contacts": ({"type": "contacts", "contacts": [{"name": {"formatted_name": "Budi"}}]}, "", {"type": "contacts"}),
    "edited": (
        {
            "type": "edit",
            "edit": {"original_message_id": "wamid.in.7", "message": {"type": "text", "text": {"body": "belum"}}},
        },
        "belum",
        {"type": "text", "edited": "wamid.in.7"},
    ),
    "edited, with a quote": (
        {
            "type": "edit",
            "edit": {
                "original_message_id": "wamid.in.7",
                "message": {"context": {"id": "wamid.7"}, "type": "text", "text": {"body": "belum"}},
            },
        },
        "belum",
        {"type": "text", "edited": "wamid.in.7", "about": "wamid.7"},
    ),
    "edited caption": (
        {
            "type": "edit",
            "edit": {"original_message_id": "wamid.in.7", "message": {"type": "image", "image": {"caption": "belum"}}},
        },
        "belum",
        {"type": "image", "edited": "wamid.in.7"},
    ),
    "edited, without the new message": (
        {"type": "edit", "edit": {"original_message_id": "wamid.in.7"}},
        "",
        {"type": "edit", "edited": "wamid.in.7"},
    ),
    "revoked": ({"type": "revoke", "revoke": {"original_message_id": "wamid.in.7"}}, "", {"type": "revoke"}),
    "not passed on": ({"type": "unsupported", "errors": [{"code": 131051}]}, "", {"type": "unsupported"}),
}

#: Fonnte messages of other types than text: the body, the text and the type. Fonnte has no reactions or quotes.
FONNTE_KINDS = {
    "text": ({"message": "SUDAH"}, "SUDAH", "text"),
    "button": ({"message": "", "text": "Sudah"}, "Sudah", "text"),
    "file": ({"message": "non-text message"}, "", "media"),
    "file of a larger package": (
        {"message": "non-text message", "url": "https://files.example/1.ogg", "filename": "1.ogg", "extension": "ogg"},
        "",
        "media",
    ),
    "image with a caption": (
        {"message": "sudah", "url": "https://files.example/1.jpg", "filename": "1.jpg", "extension": "jpg"},
        "sudah",
        "media",
    ),
    "place": ({"message": "non-text message", "location": "-6.2,106.8"}, "", "media"),
    "empty fields of no file": ({"message": "SUDAH", "url": "", "location": "", "filename": None}, "SUDAH", "text"),
}


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
