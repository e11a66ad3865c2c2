"""Second message about an unanswered dose (`ingatkan_ulang_menit`)."""

import pytest

from tests.pengingat.answering import create, with_doses
from tests.pengingat.ledgers import ledger, waiting


@pytest.fixture
def medicine(siti, moment, obat):
    def make(minutes, *jam):
        return create(siti, obat, **with_doses(obat, *(jam or ("12:00",)), ingatkan_ulang_menit=minutes))

    return make


def test_a_dose_gets_a_second_message_unless_it_is_answered(moment, medicine):
    reminder = medicine(30)
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "02 12:30", "03 12:00", "03 12:30"]
    assert ledger() == ["02 12:00 0 pending", "03 12:00 0 pending"]
    moment.move(hours=11, minutes=5)
    reminder.say("done")
    assert "02 12:30" not in waiting()


@pytest.mark.parametrize(("before", "after"), [(60, 10), (10, 60), (30, None), (None, 30)])
def test_an_edit_moves_adds_or_removes_the_second_messages_also_of_a_due_dose(moment, medicine, before, after):
    reminder = medicine(before)
    moment.move(hours=11, minutes=5)
    reminder.put(details={**reminder.record["details"], "ingatkan_ulang_menit": after})
    again = {10: "12:10", 30: "12:30", 60: "13:00"}.get(after)
    assert [each for each in waiting() if not each.endswith("12:00")] == (
        [f"02 {again}", f"03 {again}"] if again else []
    )


@pytest.mark.parametrize(
    ("jam", "due"),
    [
        ("14:45", ["02 14:45"]),  # 21:45 in Jakarta: no repeat, because 22:15 would be at night
        ("15:00", ["02 15:00", "02 15:30"]),  # 22:00 in Jakarta: repeated, because the dose itself is at night
        ("22:10", ["02 22:10", "02 22:40"]),  # 05:10 and 05:40 in Jakarta
    ],
)
def test_a_second_message_is_queued_at_night_only_if_the_dose_is_at_night(medicine, jam, due):
    medicine(30, jam)
    assert [each for each in waiting() if each.startswith("02")] == due


def test_no_second_message_is_queued_at_the_time_of_the_next_dose(medicine):
    medicine(30, "04:00", "04:30")
    assert waiting()[:3] == ["02 04:00", "02 04:30", "02 05:00"]
    assert waiting().count("02 04:30") == 1


def test_a_snoozed_dose_gets_no_second_message(moment, medicine):
    reminder = medicine(20)
    moment.move(hours=11, minutes=5)
    reminder.say("snooze", minutes=15)
    assert waiting()[:2] == ["02 12:20", "03 12:00"]
