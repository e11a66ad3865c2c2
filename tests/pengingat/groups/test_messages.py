"""Grouped messages: reminders of one person that fall due within 60 seconds are sent as one message."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database import db_time
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity import notification_settings
from app.notifications import jobs as outbox_jobs
from app.notifications.delivery import claims, drain, groups, messaging, rendering, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from app.pengingat.models import Occurrence, Pengingat
from dev.simulators import Server
from tests.helpers.factories import make_user
from tests.notifications.deliveries import ready, words_of
from tests.pengingat.groups.medicines import ADDRESS, ALL, answer, medicine, messages, named, sent, states

pytestmark = pytest.mark.usefixtures("committed")


def test_three_medicines_are_sent_as_one_numbered_text_with_one_link(grouping: Server, three: list[int]) -> None:
    times = messages(*three)
    at = re.findall(r"pukul \d\d\.\d\d WIB", str(words_of(times[0])["text"]))[0]
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    *lines, last = text.split("\n")
    assert lines == [
        "Halo Siti, ada 3 pengingat:",
        f"1. Waktunya minum Metformin (1 tablet, setelah makan) {at}.",
        f"2. Waktunya minum Amlodipin (1 tablet, setelah makan) {at}.",
        f"3. Waktunya minum Simvastatin (1 tablet, setelah makan) {at}.",
    ]
    assert re.fullmatch(rf"Jawab semuanya di sini: {ADDRESS}/k/[A-Za-z0-9_-]{{22}}", last)


def test_grouped_deliveries_share_one_claim_and_one_provider_reference(grouping: Server, three: list[int]) -> None:
    outbox_jobs.drain("urgent")
    rows = messages(*three)
    assert [(row.state, row.attempts, row.unconfirmed_calls) for row in rows] == [(DeliveryState.SENT, 1, 0)] * 3
    assert len({row.claim_token for row in rows}) == 1
    assert {row.provider_ref for row in rows} == {grouping.messaging.sent[0].ref}


def test_pushes_are_not_grouped(grouping: Server, three: list[int]) -> None:
    assert claims.claim("urgent", Channel.PUSH_FAN_OUT).together[1:] == []  # type: ignore[union-attr]
    outbox_jobs.drain("urgent")
    fan_outs = sa.select(sa.func.count()).select_from(Delivery).where(Delivery.channel == Channel.PUSH_FAN_OUT)
    assert db.session.scalar(fan_outs.where(Delivery.state.in_(["sent", "claimed"]))) == 3


def test_without_grouping_each_reminder_is_sent_separately(
    grouping: Server, three: list[int], committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "IS_ON", False)
    outbox_jobs.drain("urgent")
    assert sorted(map(named, sent(grouping))) == [["Amlodipin"], ["Metformin"], ["Simvastatin"]]


def test_a_single_reminder_keeps_its_ungrouped_text(grouping: Server, siti_id: int) -> None:
    medicine(siti_id, "Metformin")
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    assert text.startswith("Halo Siti, waktunya minum Metformin")
    assert "Jawab di sini:" in text


def test_reminders_of_two_people_are_sent_separately(grouping: Server, three: list[int]) -> None:
    with unit_of_work():
        budi_id = make_user(nama_ktp="Budi", phone="+6281200000002").id
    medicine(budi_id, "Aspirin")
    outbox_jobs.drain("urgent")
    assert sorted(text.split(",")[0] for text in sent(grouping)) == ["Halo Budi", "Halo Siti"]


def test_reminders_more_than_60_seconds_apart_are_not_grouped(grouping: Server, siti_id: int) -> None:
    for name, due_in_s in zip(ALL, (-59, -1, 2), strict=True):
        medicine(siti_id, name, due_in_s=due_in_s)
    outbox_jobs.drain("urgent")
    assert [named(text) for text in sent(grouping)] == [["Metformin", "Amlodipin"]]


def test_reminders_due_within_the_next_minute_are_sent_with_a_due_reminder(grouping: Server, siti_id: int) -> None:
    for name, due_in_s in zip(ALL, (-1, 30, 58), strict=True):
        medicine(siti_id, name, due_in_s=due_in_s)
    outbox_jobs.drain("urgent")
    assert [named(text) for text in sent(grouping)] == [list(ALL)]


def test_a_long_reminder_is_sent_alone_and_groups_have_a_maximum_size(grouping: Server, siti_id: int) -> None:
    medicine(siti_id, "x" * 200, title="y" * 150)
    for n in range(groups.MAX_ROWS + 2):
        medicine(siti_id, f"Obat{n}")
    outbox_jobs.drain("urgent")
    assert sorted(text.count("Waktunya minum Obat") for text in sent(grouping)) == [0, 3, 9]
    assert max(map(len, sent(grouping))) < 4096


def test_reminders_too_long_for_one_template_are_sent_in_a_second_message(
    grouping: Server, three: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = sum(len(words_of(row)["parts"]["sentence"]) for row in messages(*three[:2]))
    monkeypatch.setattr(groups, "CHARACTERS_OF_ALL", both)
    outbox_jobs.drain("urgent")
    assert sorted(map(named, sent(grouping))) == [["Metformin", "Amlodipin"], ["Simvastatin"]]
    assert [(row.state, row.attempts) for row in messages(*three)] == [(DeliveryState.SENT, 1)] * 3


@pytest.mark.parametrize(
    ("templates", "expected"),
    [(("pengingat_obat", "pengingat_makan"), [[0, 2], [1]]), (("reminder", "pengingat_obat"), [[0, 1, 2]])],
)
def test_reminder_types_without_a_common_template_are_not_grouped(
    grouping: Server,
    three: list[int],
    real_app: Flask,
    monkeypatch: pytest.MonkeyPatch,
    templates: tuple[str, ...],
    expected: list[list[int]],
) -> None:
    """Reminders are not grouped if no WhatsApp template fits all their types."""
    named = {"messaging_provider": "whatsapp_cloud", "whatsapp_templates": tuple((name, name) for name in templates)}
    monkeypatch.setitem(real_app.extensions, "config", replace(real_app.extensions["config"], **named))
    ids = [row.id for row in messages(*three)]
    with unit_of_work():
        meal = {"tipe": "makan", "details": {"makan": {}}}
        db.session.execute(sa.update(Pengingat).where(Pengingat.id == three[1]).values(meal))
    together = []
    while claimed := claims.claim("urgent", Channel.MESSAGING):
        rendering.render(claimed, drain.routing().render)
        together.append([ids.index(each.id) for each in claimed.together])
    assert together == expected


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_reminder_answered_before_the_drain_is_left_out(
    grouping: Server, three: list[int], siti_id: int, which: int
) -> None:
    answer(siti_id, three[which])
    outbox_jobs.drain("urgent")
    (text,) = sent(grouping)
    assert named(text) == [name for n, name in enumerate(ALL) if n != which]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_reminder_answered_while_its_message_is_prepared_is_cancelled(
    grouping: Server, three: list[int], siti_id: int, which: int
) -> None:
    claimed = ready()
    answer(siti_id, three[which])
    reference = messaging.send(claimed)
    settlements.record_sent(claimed, reference)
    (text,) = sent(grouping)
    assert named(text) == [name for n, name in enumerate(ALL) if n != which]
    assert states(*three) == [DeliveryState.CANCELLED if n == which else DeliveryState.SENT for n in range(3)]


def test_the_last_unanswered_reminder_of_a_group_is_sent_as_a_single_one(
    grouping: Server, three: list[int], siti_id: int
) -> None:
    claimed = ready()
    for reminder_id in three[:2]:
        answer(siti_id, reminder_id)
    messaging.send(claimed)
    (text,) = sent(grouping)
    assert text.startswith("Halo Siti, waktunya minum Simvastatin")


def test_nothing_is_sent_if_all_reminders_of_a_group_are_answered(
    grouping: Server, three: list[int], siti_id: int
) -> None:
    claimed = ready()
    for reminder_id in three:
        answer(siti_id, reminder_id)
    with pytest.raises(claims.ClaimLostError):
        messaging.send(claimed)
    assert sent(grouping) == []


def test_in_quiet_hours_all_reminders_of_a_minute_are_sent_together(
    grouping: Server, three: list[int], siti_id: int
) -> None:
    with unit_of_work():
        db.session.execute(sa.update(Occurrence).where(Occurrence.reminder_id == three[0]).values(tipe="makan"))
        local = db_time.now().astimezone(local_time.JAKARTA)
        around = {"quiet_start": local - timedelta(hours=1), "quiet_end": local + timedelta(hours=1)}
        notification_settings.save(siti_id, **{name: at.time() for name, at in around.items()})
    outbox_jobs.drain("urgent")
    assert [named(text) for text in sent(grouping)] == [list(ALL)]
    assert states(*three) == [DeliveryState.SENT] * 3


def test_a_reminder_answered_during_the_call_counts_as_sent(grouping: Server, three: list[int], siti_id: int) -> None:
    claimed = ready()
    reference = messaging.send(claimed)
    answer(siti_id, three[1])
    settlements.record_sent(claimed, reference)
    assert states(*three) == [DeliveryState.SENT] * 3
