"""The web page of an answer link. The link is for several due times, which have different states."""

import pytest

from app.pengingat import jobs
from tests.pengingat.links import page, payloads, said, tap

DUE_AT = "2026-03-02T12:00:00Z"


class Beside:
    """A meal and a second medicine. Both are due in the same minute as the dose that has the answer link."""

    def __init__(self, siti, obat):
        meal = {"tipe": "makan", "judul": "M", "waktu": DUE_AT, "details": {"makan_malam": {"jam": "12:00"}}}
        self.siti = siti
        self.meal = siti.post("/pengingat/", meal).json["id"]
        self.medicine = siti.post("/pengingat/obat", obat).json["id"]

    def say(self, reminder_id, status, **more):
        body = {"status": status, "due_at": DUE_AT, **more}
        assert self.siti.post(f"/pengingat/{reminder_id}/konfirmasi", body).status_code == 200


@pytest.fixture
def beside(token, siti, moment, obat):
    moment.move(minutes=-10)
    made = Beside(siti, obat)
    moment.move(minutes=10)
    payloads("messaging")
    return made


def test_the_page_shows_the_state_of_each_due_time_of_the_link(token, client, beside):
    beside.say(beside.medicine, "done")
    beside.say(beside.meal, "snooze", minutes=20)
    assert said(client, token) == (
        "Obat pukul 19.00 WIB: belum dijawab.\n"
        "Makan pukul 19.00 WIB: ditunda sampai pukul 19.25 WIB.\n"
        "Obat pukul 19.00 WIB: sudah kami catat.",
        ["done", "snooze", "skipped"],
    )
    tap(client, token, "skipped")
    assert said(client, token) == (
        "Obat pukul 19.00 WIB: kali ini dilewati.\n"
        "Makan pukul 19.00 WIB: kali ini dilewati.\n"
        "Obat pukul 19.00 WIB: sudah kami catat.",
        ["done", "skipped"],
    )
    text = page(client, token).text
    assert "<h1>Obat dan makan, pukul 19.00 WIB</h1>" in text
    assert [label for label in ("Semua sudah", "Semua dilewati") if f">{label}<" in text] == [
        "Semua sudah",
        "Semua dilewati",
    ]
    assert "Metformin" not in text


@pytest.mark.parametrize(
    ("status", "sentence"), [("done", "Tercatat, terima kasih."), ("skipped", "Tercatat: kali ini dilewati.")]
)
def test_one_common_state_of_all_due_times_is_shown_once(token, client, beside, status, sentence):
    tap(client, token, status)
    assert said(client, token)[0] == sentence


def test_due_times_with_the_same_state_are_grouped_with_a_count(token, client, siti, moment, obat):
    moment.move(minutes=-10)
    made = [siti.post("/pengingat/obat", obat).json["id"] for _ in range(9)]
    moment.move(minutes=10)
    payloads("messaging")
    for reminder_id in made:
        siti.post(f"/pengingat/{reminder_id}/konfirmasi", {"status": "skipped"})
    assert said(client, token)[0] == "Obat pukul 19.00 WIB: belum dijawab.\n9 obat pukul 19.00 WIB: kali ini dilewati."
    assert len(page(client, token).get_data()) < 6000


def test_an_answer_to_missed_occurrences_does_not_change_a_skipped_one(token, client, beside, moment):
    beside.say(beside.medicine, "skipped")
    moment.move(hours=1)
    jobs.miss_overdue()
    tap(client, token, "done")
    assert said(client, token)[0] == (
        "Obat pukul 19.00 WIB: sudah kami catat.\n"
        "Makan pukul 19.00 WIB: sudah kami catat.\n"
        "Obat pukul 19.00 WIB: kali ini dilewati."
    )
    assert client.post(f"/konfirmasi/{token}", {"status": "done"}).json["state"] == "done"
    assert said(client, token)[0] == "Tercatat, terima kasih."
