"""Limits that a provider sets for a sender: paid messages, and new people."""

from app.notifications import jobs
from app.notifications.delivery import failed_receipts
from app.notifications.models import DeliveryState
from app.notifications.senders import jobs as senders
from app.notifications.senders.models import SenderState
from tests.notifications.deliveries import add, age, drained, reread
from tests.notifications.senders.looks import pass_time, rows, sender


def test_the_check_stores_the_quota_of_paid_messages(app, sim, fonnte):
    sim.messaging.sender.quota = 78
    senders.check()
    assert (sender().quota, sender().state) == (78, "up")
    sim.messaging.sender.quota = 0
    senders.check()
    assert (sender().quota, sender().state) == (0, "up")  # "up", because 0 may also mean that the plan has no quota


def test_a_used_up_quota_stops_the_sender_until_it_is_refilled(committed, sim, fonnte):
    sim.messaging.sender.quota = 0
    drained(add())
    senders.check()
    assert (sender().state, sender().reason) == ("down", "insufficient quota")
    sim.messaging.sender.quota = 10
    pass_time(minutes=1)
    jobs.drain("urgent")
    assert sender().state == "up"
    assert [row.state for row in rows()] == [DeliveryState.SENT]


def test_a_provider_without_a_status_route_is_checked_once(app, sim, fonnte):
    sim.fault("messaging", "status", match="/device", status=404, times=None)
    for _ in range(3):
        senders.check()
    assert len(sim.messaging.calls) == 1


def test_beyond_the_limit_only_known_people_get_messages(committed, sim, whatsapp):
    sim.messaging.limit_people(3)
    known = [add(target=f"+6281{n:09d}") for n in range(3)]
    jobs.drain("urgent")
    new, again = add(target="+62819999999"), add(target=known[0].target)
    jobs.drain("urgent")
    waits = reread(new.dedupe_key)
    assert (waits.state, waits.attempts, waits.last_error) == (DeliveryState.PENDING, 0, "messaging: code 131048")
    assert reread(again.dedupe_key).state == DeliveryState.SENT
    assert sender().state == SenderState.DEGRADED
    sim.messaging.sender.people.clear()  # a day later, the count of new people starts again
    age(450, of=new)
    assert drained(new).state == DeliveryState.SENT


def test_a_message_waits_while_its_template_is_refused_and_the_operator_sees_the_reason(committed, sim, whatsapp):
    row = add()
    sim.fault("messaging", "code_132015", times=2)
    for _ in range(2):
        row = drained(row)
        assert (row.state, row.attempts, row.last_error) == (DeliveryState.PENDING, 0, "messaging: code 132015")
        assert (sender().state, sender().reason) == (SenderState.DEGRADED, "code 132015")
        age(450, of=row)
    senders.check()  # the number itself has no problem
    assert sender().state == SenderState.DEGRADED
    assert drained(row).state == DeliveryState.SENT


def test_the_operator_sees_a_template_that_is_refused_later_unless_the_whole_account_is_refused(app, whatsapp):
    for code, seen in (
        ("132015", (SenderState.DEGRADED, "code 132015")),
        ("131031", (SenderState.DOWN, "code 131031")),
        ("132015", (SenderState.DOWN, "code 131031")),
    ):
        failed_receipts.record(add().id, code)
        assert (sender().state, sender().reason) == seen
