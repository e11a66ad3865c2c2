"""End-to-end test: a daughter manages the account of her mother, who has no phone."""

import io
from zipfile import ZipFile

import orjson
import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity.models import User
from app.notifications import jobs
from app.pengingat.models import Pengingat
from app.personal_data import jobs as personal_data
from tests.caregivers.dependents import PATH, delete, keep
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


def rows(archive, table):
    return orjson.loads(archive.read(f"data/{table}.json"))


def test_a_daughter_manages_her_mothers_account_until_she_deletes_it(client, gateway):
    # The daughter registers, creates an account for her mother, and adds a medicine.
    body = {"username": "ani", "password": PASSWORD, "nama_ktp": "Ani Lestari", "nama_samaran": "Mawar"}
    session = client.post("/register", {**body, "nomor_hp": DAUGHTER, "role": "pendamping"}).json
    daughter = Client(client.app, session["access_token"])
    mother_id = keep(daughter, domicile="Jawa Tengah")
    reminder = daughter.post(f"/pengingat/obat?patient_id={mother_id}", MEDICINE)
    assert reminder.status_code == 201

    # The reminder goes to the daughter's number. Her answer counts for her mother.
    fall_due(mother_id)
    (text,) = texts(gateway, DAUGHTER)
    assert text.startswith("Pengingat untuk Ibu Siti: waktunya minum Amlodipin")
    said = Phone(DAUGHTER).write("SUDAH")
    assert str(said.text).startswith("Terima kasih, Ani. Obat Ibu Siti pukul")
    (dose, *_) = daughter.get(f"/pengingat/riwayat?patient_id={mother_id}").json
    assert (dose["state"], dose["answered_via"]) == ("done", "caregiver")

    # The mother's rows are in the daughter's own copy, for the doctor.
    export = daughter.post("/profile/ekspor", {"password": PASSWORD}).json["id"]
    personal_data.make_export(export)
    archive = ZipFile(io.BytesIO(daughter.get(f"/profile/ekspor/{export}").data))
    assert [row["nama_ktp"] for row in rows(archive, "users")] == ["Ani Lestari", "Ibu Siti"]
    assert [row["judul"] for row in rows(archive, "reminders")] == ["Obat tekanan darah"]

    # The daughter deletes her mother's account. It is gone at once, and its rows follow.
    texts(gateway, DAUGHTER)
    delete(daughter, mother_id)
    assert [daughter.get(path).json for path in (PATH, "/caregiver/patients")] == [[], []]
    assert daughter.get(f"/pengingat?patient_id={mother_id}").status_code == 404
    fall_due(mother_id)
    assert texts(gateway, DAUGHTER) == []
    personal_data.erase(mother_id)
    with unit_of_work():
        assert db.session.get(User, mother_id) is None
        assert db.session.scalars(sa.select(Pengingat.id)).all() == []
