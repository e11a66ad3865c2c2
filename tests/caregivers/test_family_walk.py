"""End-to-end test: a daughter manages the account of her mother, who has no phone."""

import pytest

from app.notifications import jobs
from tests.caregivers.dependents import keep
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD
from tests.inbox.phones import Phone
from tests.pengingat.falling_due import fall_due

MEDICINE = {
    "judul": "Obat tekanan darah",
    "details": {
        "nama_obat": "Amlodipin",
        "frekuensi": 2,
        "aturan": "sesudah makan",
        "jadwal": [{"jam": jam, "jumlah": 1, "satuan": "tablet"} for jam in ("00:00", "12:00")],
    },
}
DAUGHTER = "+6281200000007"


@pytest.fixture
def client(committed, gateway):
    return Client(committed)


def texts(gateway, number):
    """Return the messages sent to a number since the last call. Clear the list."""
    for queue in ("urgent", "bulk"):
        jobs.drain(queue)
    found = [message.text for message in gateway.messaging.sent if message.target == number.lstrip("+")]
    gateway.messaging.sent[:] = [each for each in gateway.messaging.sent if each.target != number.lstrip("+")]
    return found


def test_a_daughter_answers_the_reminders_of_her_mother(client, gateway):
    # The daughter registers, creates an account for her mother, and adds a medicine.
    body = {"username": "ani", "password": PASSWORD, "nama_ktp": "Ani Lestari", "nama_samaran": "Mawar"}
    session = client.post("/register", {**body, "nomor_hp": DAUGHTER, "role": "pendamping"}).json
    daughter = Client(client.app, session["access_token"])
    mother_id = keep(daughter, domicile="Jawa Tengah")
    assert daughter.post(f"/pengingat/obat?patient_id={mother_id}", MEDICINE).status_code == 201

    # The reminder goes to the daughter's number. Her answer counts for her mother.
    fall_due(mother_id)
    (text,) = texts(gateway, DAUGHTER)
    assert text.startswith("Pengingat untuk Ibu Siti: waktunya minum Amlodipin")
    assert str(Phone(DAUGHTER).write("SUDAH").text).startswith("Terima kasih, Ani. Obat Ibu Siti pukul")
    (dose, *_) = daughter.get(f"/pengingat/riwayat?patient_id={mother_id}").json
    assert (dose["state"], dose["answered_via"]) == ("done", "caregiver")
