"""Notices before a medicine runs out: the number of days before, the time of day, and no duplicates."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications import outbox
from app.notifications.delivery import message_format
from app.notifications.models import Channel, Delivery
from app.pengingat import jobs
from app.pengingat.jobs import send_stock_notices
from app.pengingat.models import Pengingat
from tests.helpers.client import Client
from tests.notifications.deliveries import words_of
from tests.pengingat.ledgers import Time
from tests.pengingat.stock import answer, left, make


def told(channel: str = "messaging") -> list[str]:
    """Return the texts of stock notices that were not cancelled, in order."""
    key = "text" if channel == "messaging" else "body"
    rows = sa.select(Delivery).filter_by(kind="stock", channel=channel).order_by(Delivery.id)
    return [words_of(row)[key] for row in db.session.scalars(rows.where(Delivery.state != "cancelled"))]


def each_morning(moment: Time, days: int) -> list[tuple[str, str]]:
    """Run the stock job every six hours for these days. Return the day and the text of each new notice."""
    found = []
    for _ in range(days * 4):
        moment.move(hours=6)
        before = len(told())
        send_stock_notices()
        found += [(f"{moment.now:%d}", text) for text in told()[before:]]
    return found


def test_a_notice_is_sent_at_the_persons_threshold_and_two_days_before(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    # This evening needs 0.5 tablets, and each later day 1.5. So the stock lasts until the morning of Saturday the 7th.
    path = make(siti, obat, 0.5 + 4 * 1.5 + 1, persediaan={"ingatkan_hari": 3})
    said = []
    for _ in range(7):
        moment.now = moment.now.replace(hour=2)  # 09:00 in Jakarta
        send_stock_notices()
        said.append((f"{moment.now:%d}", told()))
        for due_at in ("12:00", "00:00"):
            moment.move(hours=12 if due_at == "00:00" else 10)
            jobs.top_up()
            answer(siti, path, "done", f"{moment.now:%Y-%m-%d}T{due_at}:00Z")
    sentence = "Halo Siti, Metformin Anda kira-kira habis Sabtu, 7 Maret. Yuk, siapkan lagi sebelum habis."
    assert [(day, len(texts)) for day, texts in said] == [
        ("02", 0), ("03", 0), ("04", 1), ("05", 2), ("06", 2), ("07", 2), ("08", 2),
    ]  # fmt: skip
    assert said[-1][1] == [sentence, sentence]
    assert left(siti, path) == 0


def test_the_stock_notice_is_also_a_push(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    send_stock_notices()
    assert told("push_fan_out") == ["Metformin Anda kira-kira habis Senin, 2 Maret. Yuk, siapkan lagi sebelum habis."]


def test_the_stock_notice_text_has_the_name_parameter_for_a_template(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    send_stock_notices()
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="messaging")).one()
    name = message_format.parts_of(words_of(row))["name"]
    assert (name, str(words_of(row)["text"]).startswith(f"Halo {name}, ")) == ("Siti", True)


def test_the_stock_notice_is_due_at_nine_in_the_reminders_time_zone(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, {**obat, "timezone": "Asia/Jayapura"}, 1)  # it is already 10:00 in Jayapura
    make(siti, obat, 1)
    assert [day for day, _ in each_morning(moment, 1)] == ["02", "03"]
    assert db.session.scalars(sa.select(Pengingat.stock_check_at).order_by(Pengingat.id)).all() == [
        moment.now.replace(hour=0, day=4),
        moment.now.replace(hour=2),
    ]


def test_reaching_both_stock_thresholds_together_gives_one_notice(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 1)
    assert len(each_morning(moment, 5)) == 1


def test_no_notice_is_sent_if_the_stock_is_enough_for_the_course(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 3.5, selesai="2026-03-04")  # the course needs 0.5 + 1.5 + 1.5 tablets
    make(siti, obat, 3, selesai="2026-03-04")
    texts = [text for _, text in each_morning(moment, 1)]
    assert texts == ["Halo Siti, Metformin Anda kira-kira habis Rabu, 4 Maret. Yuk, siapkan lagi sebelum habis."]


def test_the_stock_estimate_includes_the_temporary_schedule(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    other = [{"jam": "11:00", "jumlah": 3, "satuan": "tablet"}, {"jam": "21:00", "jumlah": 3, "satuan": "tablet"}]
    temporary = {"mulai": "2026-03-03", "selesai": "2026-03-03", "jadwal": other}
    make(siti, obat, 8, jadwal_sementara=temporary)  # the doses need 0.5 tablets today, 6 on the 3rd and 1.5 on the 4th
    assert [text for _, text in each_morning(moment, 1)] == [
        "Halo Siti, Metformin Anda kira-kira habis Rabu, 4 Maret. Yuk, siapkan lagi sebelum habis."
    ]


def test_a_purchase_cancels_the_notice_until_the_stock_is_low_again(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    path = make(siti, obat, 3)
    moment.move(hours=1)
    send_stock_notices()
    assert len(told()) == 1
    siti.post(f"{path}/persediaan", {"tambah": 100})
    assert told() == []  # the unsent notice was no longer true, so it was cancelled
    assert each_morning(moment, 3) == []
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 3}}})
    assert len(each_morning(moment, 2)) == 1


def test_a_purchase_that_is_too_small_does_not_repeat_the_notice(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    path = make(siti, obat, 1)
    moment.move(hours=1)
    send_stock_notices()
    siti.post(f"{path}/persediaan", {"tambah": 6})  # the stock is enough until Friday, less than 7 days ahead
    assert each_morning(moment, 1) == []


def test_an_update_of_is_done_does_not_cancel_the_stock_notice(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    path = make(siti, obat, 3)
    moment.move(hours=1)
    send_stock_notices()
    record = siti.get(path).json
    siti.put(path, {**record, "is_done": True})
    assert len(told()) == 1  # the notice was not cancelled


def test_a_stock_corrected_to_a_lower_value_gives_a_second_notice(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    path = make(siti, obat, 9)  # the stock is enough until Sunday
    assert len(each_morning(moment, 1)) == 1
    siti.put(path, {"details": {**obat["details"], "persediaan": {"sisa": 2}}})
    assert len(each_morning(moment, 1)) == 1


def test_a_stock_notice_is_not_sent_at_night_but_the_next_morning(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 1)
    moment.move(hours=13, minutes=30)  # 21.30 in Jakarta
    send_stock_notices()
    assert told() == []
    moment.move(hours=12)
    send_stock_notices()
    assert len(told()) == 1


def test_deleting_a_reminder_cancels_its_stock_notice(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    path = make(siti, obat, 1)
    moment.move(hours=1)
    send_stock_notices()
    siti.delete(path)
    assert told() == []


def test_the_stock_job_needs_at_most_two_statements_if_nothing_is_due(
    siti: Client, moment: Time, obat: dict[str, Any], statements: Any
) -> None:
    make(siti, obat, 100)
    with statements.at_most(2):
        assert jobs.send_stock_notices_page() == 0


def test_a_crash_of_the_stock_job_neither_loses_nor_repeats_the_notice(
    siti: Client, moment: Time, obat: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(siti, obat, 1)
    moment.move(hours=1)
    with monkeypatch.context() as dying:
        dying.setattr(outbox, "add_all", mock.Mock(side_effect=ProcessLookupError))
        with pytest.raises(ProcessLookupError):
            send_stock_notices()
    assert told() == []
    for _ in range(2):
        send_stock_notices()
    assert len(told()) == 1


def test_the_push_to_each_browser_has_the_text_of_the_fan_out(siti: Client, moment: Time, obat: dict[str, Any]) -> None:
    make(siti, obat, 4)
    moment.move(hours=1)
    send_stock_notices()
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="push_fan_out")).one()
    said = words_of(row)
    assert said["title"] == "Persediaan obat"
    row.channel = Channel.PUSH  # a push to one browser has the same text
    assert words_of(row) == said


def test_a_stock_notice_has_no_text_once_stock_notified_days_is_cleared(
    siti: Client, moment: Time, obat: dict[str, Any]
) -> None:
    make(siti, obat, 4)
    moment.move(hours=1)
    send_stock_notices()
    row = db.session.scalars(sa.select(Delivery).filter_by(kind="stock", channel="messaging")).one()
    db.session.execute(sa.update(Pengingat).values(stock_notified_days=None))
    db.session.flush()
    assert words_of(row) == {}
