"""Notification settings of a caregiver, who receives the reminders of a dependent (a person without a phone)."""

from tests.caregivers.dependents import delete, keep
from tests.helpers.client import assert_error
from tests.personal_data.leaving import OBAT


def test_a_caregiver_who_receives_reminders_keeps_one_channel(budi):
    ibu = keep(budi)
    off = {"messages": False, "push": False}
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    assert_error(budi.put("/profile/notifikasi", off), 400, "channel_needed")
    delete(budi, ibu)
    assert budi.put("/profile/notifikasi", off).status_code == 200
