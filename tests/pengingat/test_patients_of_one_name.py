"""Alerts to a caregiver whose two patients have the same first name."""

from __future__ import annotations

from typing import Any

import pytest

from app.caregivers import service as caregivers
from app.core.database.session import unit_of_work
from app.pengingat.outgoing.texts import patient_name
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.pengingat.alerts import MISSED, make, tick, told
from tests.pengingat.ledgers import Time, allow, caregiver_of


def test_alerts_name_each_patient_in_full(
    client: Client, siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    with unit_of_work():
        siti.user.nama_ktp = "Ibu Siti Aminah"
    other = client.as_(make_user(nama_ktp="SITI Rahayu"))
    with unit_of_work():
        caregivers.create(caregiver_id, other.id)
    allow(other.id, caregiver_id, "alerts")
    make(siti, obat)
    make(other, obat, "12:30")
    tick(moment, "13:00")
    tick(moment, "13:30")
    assert told() == [
        "Ibu Siti Aminah belum menandai obat pukul 19.00 WIB. Boleh tolong ditanyakan?",
        "SITI Rahayu belum menandai obat pukul 19.30 WIB. Boleh tolong ditanyakan?",
    ]


def test_a_patient_of_another_caregiver_does_not_change_the_shown_name(
    siti: Client, moment: Time, obat: dict[str, Any], caregiver_id: int
) -> None:
    caregiver_of(make_user(nama_ktp="Siti Rahayu").id)
    make(siti, obat)
    tick(moment, "13:00")
    assert told(caregiver=caregiver_id) == [MISSED]


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        ([], "Siti"),
        (["Budi Santoso"], "Siti"),
        (["siti"], "Hj. Siti Aminah"),
        (["dr. Siti Rahayu", "Budi"], "Hj. Siti Aminah"),
        (["Aminah Siti"], "Siti"),
    ],
)
def test_the_first_name_is_shown_unless_another_patient_has_it(others: list[str], shown: str) -> None:
    assert patient_name("Hj. Siti Aminah", others) == shown


def test_links_in_a_full_name_are_broken() -> None:
    assert patient_name("Siti judi.help Aminah", ["Siti"]) == "Siti judi. help Aminah"
