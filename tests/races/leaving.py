"""Concurrent requests about the deletion of an account, before and after the seven days until it is deleted."""

from functools import partial

from app.personal_data import jobs
from tests.helpers.factories import PASSWORD
from tests.races.meeting import Job, encounter

OBAT = {
    "judul": "Obat",
    "details": {
        "nama_obat": "Metformin",
        "frekuensi": 1,
        "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
        "aturan": "setelah makan",
    },
}


def leave(person, forum="anonymise"):
    return person.delete("/profile", password=PASSWORD, forum=forum)


def write(person):
    return person.post("/forum/threads", category_id=1, title="Halo", content="Isi")


def reply(person, thread_id):
    return person.post(f"/forum/threads/{thread_id}/reply", content="Balasan")


def erase(person):
    return Job(partial(jobs.erase, person.id))


def gone(scene, person, forum="anonymise"):
    """Request the deletion of the account, and let the seven days until its deletion end."""
    assert scene.send(leave(person, forum)).status == 202
    scene.change("UPDATE users SET erasure_due_at = now() WHERE id = :id", id=person.id)


def check_nothing_is_left(scene, person):
    jobs.erase(person.id)
    for table, column in (
        ("users", "id"),
        ("sessions", "user_id"),
        ("posts", "user_id"),
        ("reminders", "user_id"),
        ("occurrences", "user_id"),
        ("deliveries", "user_id"),
        ("marks", "user_id"),
    ):
        assert scene.sql(f"SELECT count(*) FROM {table} WHERE {column} = :id", id=person.id) == 0, table


@encounter(200, 201, 202, 401)
def own_writing_meets_the_wish_to_leave(scene):
    leaving, other = scene.person(), scene.person()
    thread_id = scene.new(write(other))
    yield [
        write(leaving),
        reply(leaving, thread_id),
        leave(leaving),
        leaving.post("/pengingat/obat", **OBAT),
        leaving.post(f"/forum/threads/{thread_id}/like"),
    ]
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=leaving.id) == 0
    waiting = "SELECT count(*) FROM deliveries WHERE user_id = :id AND state = 'pending'"
    assert scene.sql(waiting, id=leaving.id) == 0
    asked = "SELECT count(*) FROM occurrences WHERE user_id = :id AND state = 'pending'"
    assert scene.sql(asked, id=leaving.id) == 0
    scene.change("UPDATE users SET erasure_due_at = now() WHERE id = :id", id=leaving.id)
    check_nothing_is_left(scene, leaving)


@encounter(200, 202, 401)
def login_meets_the_wish_to_leave(scene):
    leaving = scene.person()
    yield [leaving.log_in(), leave(leaving), leaving.log_in(), leave(leaving)]
    is_leaving = scene.sql("SELECT erasure_due_at IS NOT NULL FROM users WHERE id = :id", id=leaving.id)
    sessions = scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=leaving.id)
    assert (sessions == 0) is is_leaving, "either the person is leaving, or has a session"


@encounter(200, 401)
def login_meets_the_erasure(scene):
    leaving = scene.person()
    gone(scene, leaving)
    yield [leaving.log_in(), erase(leaving), leaving.log_in()]
    check_nothing_is_left(scene, leaving)


@encounter(200, 201, 404, 409)
def replies_of_others_meet_the_erasure(scene):
    leaving, other = scene.person(), scene.person()
    threads = [scene.new(write(leaving)) for _ in range(3)]
    others = scene.new(write(other))
    scene.new(reply(leaving, others))
    gone(scene, leaving, "delete")
    yield [
        erase(leaving),
        *(reply(other, thread_id) for thread_id in threads),
        erase(leaving),
        other.post(f"/forum/threads/{threads[0]}/like"),
        reply(other, others),
    ]
    check_nothing_is_left(scene, leaving)


@encounter(200, 404)
def erasure_meets_delete_by_an_administrator(scene):
    admin, leaving, another = scene.admin(), scene.admin(), scene.admin()
    gone(scene, leaving)
    yield [erase(leaving), admin.delete(f"/admins/{leaving.id}"), another.delete(f"/admins/{leaving.id}")]
    check_nothing_is_left(scene, leaving)
