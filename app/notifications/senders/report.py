"""Reports for operators about the sender. The sender is our own phone number.

`flask worker-health`, `flask check`, `/readyz` and `/metrics` show these reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from app.core.settings import settings
from app.notifications.senders import sender_status
from app.notifications.senders.models import Sender, SenderState

NOT_SENT = "MESSAGING_PROVIDER is outbox: messages are stored and never sent."


def notice() -> str | None:
    """Return a warning if a production system stores messages but never sends them, else None."""
    return NOT_SENT if settings.is_production and sender_status.key() is None else None


def problem() -> str | None:
    """Return the reason why the sender is down. Return None if the sender is not down or its state is unknown."""
    sender = sender_status.current()
    if sender is None or sender.state != SenderState.DOWN:
        return None
    return f"no message leaves since {sender.since:%Y-%m-%d %H:%M} UTC: {sender.reason}"


def check_sender() -> str:
    """Return the state of the sender as text for `/readyz`.

    A sender that is down does not make `/readyz` fail, because web processes do not send messages.
    """
    if sender_status.key() is None:
        return notice() or "none"
    sender = sender_status.current()
    return "not known yet" if sender is None else _state(sender)


def collect() -> Iterator[Metric]:
    """Yield `sender_state`.

    It has one sample for each state: 1 for the present state, and 0 for the others. If the present state is
    not known, all samples are 0.
    """
    sender = sender_status.current()
    state = GaugeMetricFamily("sender_state", "1 for the state that our number is in", labels=["provider", "state"])
    for each in SenderState:
        state.add_metric([settings.messaging_provider, each], float(sender is not None and sender.state == each))
    yield state


def _state(sender: Sender) -> str:
    if sender.state == SenderState.UP:
        return sender.state
    return f"{sender.state} since {sender.since:%Y-%m-%d %H:%M} UTC: {sender.reason}"
