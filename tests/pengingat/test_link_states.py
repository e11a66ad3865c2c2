"""The web page of an answer link: its states, and the end of links when a phone number changes."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications.models import Delivery
from tests.caregivers.dependents import keep
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.answering import create
from tests.pengingat.links import page, payloads, said, tap
from tests.routes.requests import undone

DUE_AT = "2026-03-02T12:00:00Z"


@pytest.fixture
def beside(token, siti, moment, obat):
    """Return a meal and a second medicine, due in the same minute as the dose that has the answer link."""
    moment.move(minutes=-10)
    meal = {"tipe": "makan", "judul": "M", "waktu": DUE_AT, "details": {"makan_malam": {"jam": "12:00"}}}
    made = {"meal": create(siti, meal), "medicine": create(siti, obat)}
    moment.move(minutes=10)
    payloads("messaging")
    return made


OPEN = "Tombol di bawah ini menjawab semua yang belum dijawab."
MISSED = "Tombol di bawah ini menjawab semua yang terlewat."
CHANGES = "Tombol di bawah ini mengubah semua jawaban."
ALL = "done snooze skipped"
WORDS = {
    "open": "belum dijawab",
    "snoozed": "ditunda sampai pukul 19.35 WIB",
    "done": "sudah kami catat",
    "skipped": "dilewati",
    "missed": "terlewat, belum dijawab",
    "late": "waktu menjawab sudah lewat",
    "void": "sudah diubah atau dihapus",
}
#: Steps, and then the state of each time, the buttons and the sentence above them.
PLAYS = [
    ("", "open open open", ALL, OPEN),
    ("meal snooze", "open snoozed open", ALL, OPEN),
    ("medicine done, meal skipped", "open skipped done", ALL, OPEN),
    ("tap snooze", "snoozed snoozed snoozed", ALL, OPEN),
    ("tap done", "done done done", "skipped", CHANGES),
    ("tap skipped", "skipped skipped skipped", "done", CHANGES),
    ("meal skipped, tap done", "done skipped done", "done skipped", CHANGES),
    ("meal skipped, tap done, tap done", "done done done", "skipped", CHANGES),
    ("medicine skipped, miss", "missed missed skipped", "done", MISSED),
    ("meal snooze, miss", "missed snoozed missed", ALL, OPEN),
    ("medicine skipped, miss, tap done", "done done skipped", "done skipped", CHANGES),
    ("medicine delete", "open open void", ALL, OPEN),
    ("miss, next day", "late missed late", "done", MISSED),
]


def test_each_time_of_a_list_has_a_numbered_line(token, client, siti, beside, moment, subtests):
    begun = moment.now
    for play, states, buttons, advice in PLAYS:
        moment.now = begun
        with subtests.test(play), undone():
            for step in filter(None, play.split(", ")):
                match step.split():
                    case ["miss"]:
                        moment.elapse(hours=1)
                    case ["next", "day"]:
                        moment.move(hours=11, minutes=50)
                    case ["tap", status]:
                        tap(client, token, status)
                    case [which, "delete"]:
                        siti.delete(beside[which].path)
                    case [which, status]:
                        beside[which].answer(status, due_at=DUE_AT)
            times = zip((1, 2, 3), ("Obat", "Makan", "Obat"), states.split(), strict=True)
            lines = [f"{n}. {name} pukul 19.00 WIB: {WORDS[state]}" for n, name, state in times]
            assert said(client, token) == ("\n".join(lines), buttons.split())
            text = page(client, token).text
            assert f"<p>{advice}</p>" in text
            assert "<h1>3 pengingat</h1>" in text
            assert "Metformin" not in text


def test_a_list_of_deleted_reminders_has_no_buttons(token, client, siti, beside):
    for reminder in siti.get("/pengingat").json:
        siti.delete(f"/pengingat/{reminder['id']}")
    assert "Tombol" not in page(client, token).text


def test_the_page_of_ten_times_is_small(token, client, siti, moment, obat):
    moment.move(minutes=-10)
    for _ in range(9):
        siti.post("/pengingat/obat", obat)
    moment.move(minutes=10)
    payloads("messaging")
    tap(client, token, "snooze")
    lines, _ = said(client, token)
    assert lines.splitlines()[9] == "10. Obat pukul 19.00 WIB: ditunda sampai pukul 19.35 WIB"
    assert len(page(client, token).get_data()) < 6000


# --- links after a change of the number, which another person may have now --------------------------------------------


def change_number(user_id, at):
    db.session.execute(sa.update(User).filter_by(id=user_id).values(phone="+6281355550001", phone_changed_at=at))


def send(user_id, at):
    """Mark the due messages to this person as sent at this time."""
    due = sa.update(Delivery).where(Delivery.user_id == user_id, Delivery.due_at < at)
    db.session.execute(due.values(state="sent", settled_at=at))


@pytest.fixture
def of_dependent(moment, public, budi, obat):
    """Return the tokens of a dose of Budi's mother, a dependent. The dose was due five minutes ago."""
    assert budi.post(f"/pengingat/obat?patient_id={keep(budi)}", obat).status_code == 201
    moment.move(hours=11, minutes=5)
    return [str(payloads("messaging")[0]["parts"]["token"]), str(payloads("push_fan_out")[0]["token"])]


def test_links_of_a_dependent_end_when_the_caregivers_number_changes(client, moment, budi, of_dependent):
    assert page(client, of_dependent[0]).status_code == 200
    change_number(budi.id, moment.now)
    assert page(client, of_dependent[0]).status_code == 404
    for token in of_dependent:
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 404, "not_found")


def test_a_link_of_a_dependent_works_if_it_is_sent_to_the_caregivers_new_number(client, moment, budi, of_dependent):
    change_number(budi.id, moment.now)
    moment.move(minutes=10)
    dependent_id = db.session.scalars(sa.select(User.id).filter_by(guardian_id=budi.id)).one()
    send(dependent_id, moment.now)
    assert page(client, of_dependent[0]).status_code == 200


def test_messages_to_other_people_do_not_revive_a_link(client, moment, siti, token, obat):
    change_number(siti.id, moment.now)
    moment.now, now = moment.now.replace(hour=1), moment.now
    other = client.as_(make_user())
    assert other.post("/pengingat/obat", obat).status_code == 201
    moment.now = now
    moment.move(minutes=10)
    send(other.id, moment.now)
    assert page(client, token).status_code == 404
