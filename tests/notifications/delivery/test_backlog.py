"""A busy provider gets few calls."""

from dataclasses import replace

from app.notifications import jobs
from app.notifications.delivery import claims, drain
from app.notifications.models import Channel, DeliveryState
from app.providers.http import ProviderError
from tests.notifications.deliveries import add, reread


def test_a_busy_response_closes_the_lane_and_is_not_counted_as_an_attempt(committed, monkeypatch):
    calls = []

    def busy(delivery):
        calls.append(delivery.id)
        claims.begin(delivery)
        raise ProviderError("messaging", "busy", retry_after=60.0)

    keys = [add().dedupe_key for _ in range(40)]
    transports = {Channel.MESSAGING: busy}
    monkeypatch.setitem(committed.extensions, "routing", replace(drain.routing(), transports=transports))
    jobs.drain("urgent")
    assert 0 < len(calls) <= drain.THREADS
    outcomes = {(row.state, row.attempts, row.unconfirmed_calls) for row in map(reread, keys)}
    assert outcomes == {(DeliveryState.PENDING, 0, 0)}
