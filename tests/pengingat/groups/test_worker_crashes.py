"""Workers that are killed while they send a grouped message.

If a worker dies before the call to the provider, the message is sent once. If a worker dies after the call, the outcome
is unknown, and the message is sent again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Thread

import pytest
from flask import Flask

from app.core.database.session import db, unit_of_work
from app.notifications import jobs as outbox_jobs
from app.notifications.delivery import claims, drain, messaging, receipts, unsaved_outcomes
from app.notifications.delivery.claims import Claimed
from app.notifications.models import Channel, DeliveryState, Inbound, InboundKind, Receipt
from app.providers.http import ProviderError
from dev.simulators import Server
from tests.helpers.factories import make_user
from tests.notifications.deliveries import drain_all, ready
from tests.pengingat.groups.medicines import ALL, answer, end_lease, medicine, messages, named, sent, states

pytestmark = pytest.mark.usefixtures("committed")


def die_at_claim() -> None:
    claims.claim("urgent", Channel.MESSAGING)


def die_before_the_call() -> None:
    claimed = ready()
    claims.begin(claimed)


def die_after_the_call() -> None:
    claimed = ready()
    messaging.send(claimed)


@pytest.mark.parametrize("die", [die_at_claim, die_before_the_call])
def test_a_group_is_sent_once_after_a_worker_crash_before_the_call(
    grouping: Server, three: list[int], die: Callable[[], None]
) -> None:
    die()
    drain_all()
    assert sent(grouping) == []
    end_lease()
    drain_all()
    assert [named(text) for text in sent(grouping)] == [list(ALL)]
    assert states(*three) == [DeliveryState.SENT] * 3


def test_a_group_with_an_unknown_outcome_is_sent_at_most_twice(grouping: Server, three: list[int]) -> None:
    for _ in range(2):
        die_after_the_call()
        end_lease()
    drain_all()
    end_lease()
    drain_all()
    assert [named(text) for text in sent(grouping)] == [list(ALL)] * 2
    assert [(row.state, row.unconfirmed_calls) for row in messages(*three)] == [(DeliveryState.FAILED, 2)] * 3


def test_a_reminder_answered_before_the_retry_is_left_out_of_it(
    grouping: Server, three: list[int], siti_id: int
) -> None:
    die_after_the_call()
    answer(siti_id, three[0])
    end_lease()
    drain_all()
    assert [named(text) for text in sent(grouping)] == [list(ALL), ["Amlodipin", "Simvastatin"]]


def test_a_broken_connection_is_an_unknown_outcome_for_the_whole_group(
    grouping: Server, three: list[int], committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(delivery: Claimed) -> str | None:
        claims.begin(delivery)
        raise ProviderError("messaging", "broken", written=True)

    routing = replace(drain.routing(), transports={**drain.routing().transports, Channel.MESSAGING: break_off})
    with monkeypatch.context() as patch:
        patch.setitem(committed.extensions, "routing", routing)
        outbox_jobs.drain("urgent")
    assert [(row.state, row.unconfirmed_calls) for row in messages(*three)] == [(DeliveryState.PENDING, 1)] * 3
    end_lease()
    outbox_jobs.drain("urgent")
    assert [named(text) for text in sent(grouping)] == [list(ALL)]
    assert [(row.state, row.unconfirmed_calls) for row in messages(*three)] == [(DeliveryState.SENT, 1)] * 3


def test_a_refused_group_is_retried_as_one_message(grouping: Server, three: list[int]) -> None:
    grouping.fault("messaging", "rate_limit")
    outbox_jobs.drain("urgent")
    assert states(*three) == [DeliveryState.PENDING] * 3
    end_lease()
    outbox_jobs.drain("urgent")
    assert [named(text) for text in sent(grouping)] == [list(ALL)]


def test_an_outcome_stored_in_redis_is_recorded_for_the_whole_group(grouping: Server, three: list[int]) -> None:
    claimed = ready()
    reference = messaging.send(claimed)
    unsaved_outcomes.store(claimed, drain.Outcome(drain.OutcomeKind.SENT, ref=reference))
    end_lease()
    drain_all()
    assert len(sent(grouping)) == 1
    assert [(row.state, row.unconfirmed_calls, row.provider_ref) for row in messages(*three)] == [
        (DeliveryState.SENT, 0, reference)
    ] * 3


def test_a_receipt_settles_all_reminders_that_a_crashed_worker_sent(
    grouping: Server, three: list[int], siti_id: int
) -> None:
    claimed = ready()
    answer(siti_id, three[0])
    messaging.send(claimed)  # send the message without the first reminder, then kill the worker
    answer(siti_id, three[1])
    told = {"receipt": Receipt.DELIVERED, "delivery": claimed.together[0].id}
    with unit_of_work():
        db.session.add(Inbound(provider="test", event_key="r:1", kind=InboundKind.RECEIPT, ref="wamid.1", payload=told))
        db.session.flush()
        assert receipts.take(lambda *_: None) == 1
    end_lease()
    drain_all()
    assert len(sent(grouping)) == 1
    left_out, *rest = messages(*three)
    assert [(row.state, row.provider_ref, row.receipt) for row in rest] == [("sent", "wamid.1", "delivered")] * 2
    assert (left_out.state, left_out.receipt) == ("cancelled", None)


def test_after_several_worker_crashes_reminders_are_sent_one_by_one(grouping: Server, three: list[int]) -> None:
    for _ in range(claims.POISON_CRASHES):
        ready()
        end_lease()
    outbox_jobs.drain("urgent")
    assert sent(grouping) == []
    outbox_jobs.drain_suspects("urgent")
    assert sorted(map(named, sent(grouping))) == [["Amlodipin"], ["Metformin"], ["Simvastatin"]]


@pytest.mark.processes
@pytest.mark.parametrize("died", [False, True])
def test_concurrent_workers_claim_one_group_for_each_person(grouping: Server, committed: Flask, died: bool) -> None:
    with unit_of_work():
        people = [make_user(phone=f"+6281300000{n:03d}").id for n in range(12)]
    for user_id in people:
        for name in ALL:
            medicine(user_id, name)
    which = claims.OLDEST
    if died:
        while claims.claim("urgent", Channel.MESSAGING):
            pass
        end_lease()
        which = claims.SUSPECTS
    claimed: list[Claimed] = []
    start = Barrier(6)

    def work() -> None:
        with committed.app_context():
            start.wait()
            while row := claims.claim("urgent", Channel.MESSAGING, which):
                claimed.append(row)

    threads = [Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while row := claims.claim("urgent", Channel.MESSAGING, which):  # claim the messages that no thread has claimed
        claimed.append(row)
    assert [len(each.together) for each in claimed] == [3] * len(people)
    assert {each.user_id for each in claimed} == set(people)
