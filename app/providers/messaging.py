"""The configured messenger: Fonnte, the WhatsApp Cloud API, or `outbox`, which sends nothing."""

from __future__ import annotations

from app.core.settings import current, extensions
from app.providers import fonnte, whatsapp
from app.providers.http import Http
from app.providers.messenger import Messenger, Outbox
from config import Config

#: Seconds for one call with its retries. This must be shorter than the time for which a worker reserves a delivery.
BUDGET_S = 8.0
#: Maximum parallel calls of one process. A worker has fewer threads that send messages.
PARALLEL = 64


def make(config: Config) -> Messenger:
    """Return the messenger that the settings select."""
    if config.messaging_provider == "outbox":
        return Outbox()
    http = Http(
        "messaging",
        read_s=6.0,
        budget_s=BUDGET_S,
        attempts=2,
        parallel=PARALLEL,
        max_bytes=200_000,
    )
    token = config.messaging_token or ""
    if config.messaging_provider == "fonnte":
        return fonnte.Fonnte(http, config.messaging_url or fonnte.URL, token)
    return whatsapp.WhatsAppCloud(http, config.messaging_url or whatsapp.URL, token, config.messaging_sender_id or "")


def client() -> Messenger:
    """Return the messenger of the running application, created on first use."""
    messenger: Messenger | None = extensions().get("messenger")
    if messenger is None:
        messenger = extensions()["messenger"] = make(current())
    return messenger
