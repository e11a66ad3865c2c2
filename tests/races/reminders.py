"""Concurrent requests and jobs about reminders: changes, planning of deliveries, answers, and deletions of people."""

from dataclasses import replace

from app.identity.models import RoleName
from app.pengingat import jobs
from app.pengingat.timetable.limits import MAX_REMINDERS
from tests.races.meeting import Job, encounter, statuses
from tests.races.people import remove

TOP_UP = Job(jobs.top_up_page)


def medicine(*hours):
    jadwal = [{"jam": f"{hour:02d}:00", "jumlah": 1, "satuan": "tablet"} for hour in hours]
    return {"nama_obat": "Metformin", "frekuensi": len(hours), "aturan": "saat makan", "jadwal": jadwal}


def remind(person, *hours):
    return person.post("/pengingat/obat", judul="Obat", details=medicine(*(hours or (1, 9, 17))))


def pengingat(scene, person):
    """Create a reminder whose next deliveries the scheduler is about to plan. Return its path and id."""
    id_ = scene.new(remind(person))
    forget_plans(scene, person)
    return f"/pengingat/{id_}", id_


def forget_plans(scene, person):
    """Delete the planned deliveries of a person's reminders. The scheduler then plans them again."""
    scene.change("DELETE FROM deliveries WHERE user_id = :id AND kind = 'reminder'", id=person.id)
    scene.change("UPDATE reminders SET planned_until = now() + interval '1 minute' WHERE user_id = :id", id=person.id)


def hours_waiting(scene, id_):
    """Return the hours (in UTC) of a reminder's pending occurrences that have a pending bell."""
    query = """
        SELECT array_agg(DISTINCT extract(hour FROM o.due_at AT TIME ZONE 'UTC')::int)
        FROM occurrences o JOIN deliveries d USING (user_id, due_at)
        WHERE o.reminder_id = :id AND o.state = 'pending' AND d.state = 'pending' AND d.channel = 'messaging'"""
    return set(scene.sql(query, id=id_) or [])


def left_of(scene, person):
    """Count the rows that a deleted person still has, including messages to the person."""
    return int(
        scene.sql(
            """SELECT (SELECT count(*) FROM reminders WHERE user_id = :id)
            + (SELECT count(*) FROM deliveries WHERE user_id = :id)
            + (SELECT count(*) FROM occurrences WHERE user_id = :id)
            + (SELECT count(*) FROM push_subscriptions WHERE user_id = :id)""",
            id=person.id,
        )
    )


@encounter(201, 409)
def creates_of_a_persons_last_reminder(scene):
    person = scene.person()
    fill = """
        INSERT INTO reminders (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until, is_finished)
        SELECT :id, 'kontrol', 'Kontrol', now() + n * interval '30 days', 'UTC', '{}', now(), '9999-01-01', true
        FROM generate_series(1, :count) AS n"""
    scene.change(fill, id=person.id, count=MAX_REMINDERS - 1)
    responses = yield [remind(person), remind(person), remind(person)]
    assert statuses(responses) == [201, 409, 409]
    assert scene.sql("SELECT count(*) FROM reminders WHERE user_id = :id", id=person.id) == MAX_REMINDERS


@encounter(200, 201)
def creates_with_keys_meet_a_new_number(scene):
    """After an app was offline, it sends several requests that create reminders.

    Each request inserts its `Idempotency-Key` before it locks the person.
    """
    person = scene.person()
    creates = [replace(remind(person, hour), key=f"pengingat-{hour}") for hour in (1, 9, 17)]
    yield [person.put("/profile", nomor_hp=f"0859{scene.number():08d}"), *creates]
    assert scene.sql("SELECT count(*) FROM reminders WHERE user_id = :id", id=person.id) == len(creates)


@encounter(200)
def changes_of_different_fields_of_a_reminder(scene):
    person = scene.person()
    path, id_ = pengingat(scene, person)
    yield [person.put(path, judul="Lain"), person.put(path, details=medicine(3, 15)), TOP_UP]
    assert scene.sql("SELECT judul FROM reminders WHERE id = :id", id=id_) == "Lain"
    assert hours_waiting(scene, id_) == {3, 15}


@encounter(200)
def two_schedules_of_one_reminder(scene):
    person = scene.person()
    path, id_ = pengingat(scene, person)
    yield [person.put(path, details=medicine(3, 15)), TOP_UP, person.put(path, details=medicine(5, 20))]
    last = scene.sql("SELECT details->'jadwal'->0->>'jam' FROM reminders WHERE id = :id", id=id_)
    assert hours_waiting(scene, id_) == ({3, 15} if last == "03:00" else {5, 20})


@encounter(200, 404)
def reminder_is_changed_while_deleted(scene):
    person = scene.person()
    path, id_ = pengingat(scene, person)
    yield [person.put(path, details=medicine(3)), person.delete(path), TOP_UP, person.put(path, is_done=True)]
    assert scene.sql("SELECT count(*) FROM reminders WHERE id = :id", id=id_) == 0
    assert hours_waiting(scene, id_) == set()


@encounter(200, 404)
def reminder_is_deleted_twice(scene):
    person = scene.person()
    path, id_ = pengingat(scene, person)
    responses = yield [person.delete(path), person.delete(path), TOP_UP, person.delete(path)]
    assert statuses(responses) == [200, 200, 404, 404]
    assert hours_waiting(scene, id_) == set()


@encounter(200)
def reminder_is_done_and_changed(scene):
    """A new schedule resets `is_done`, so the last of the requests decides which messages are pending."""
    person = scene.person()
    path, id_ = pengingat(scene, person)
    yield [person.put(path, is_done=True), person.put(path, details=medicine(3, 15)), TOP_UP]
    assert hours_waiting(scene, id_) == {3, 15}  # Both hours remain, as at most one dose is done.


@encounter(200)
def reminder_is_done_and_not_done(scene):
    person = scene.person()
    path, id_ = pengingat(scene, person)
    yield [person.put(path, is_done=True), person.put(path, is_done=False), TOP_UP, person.put(path, is_done=True)]
    done = scene.sql("SELECT count(*) FROM occurrences WHERE reminder_id = :id AND state = 'done'", id=id_)
    assert scene.send(person.get(path)).body["is_done"] is (done == 1)


def confirm(person, path, status):
    return person.post(f"{path}/konfirmasi", status=status)


def fall_due(scene, id_):
    """Change the due time of a reminder's first occurrence, and its bells, to a minute ago."""
    scene.change(
        """
        WITH first AS (SELECT id, user_id, due_at FROM occurrences WHERE reminder_id = :id ORDER BY id LIMIT 1),
            moved AS (
                UPDATE deliveries d SET due_at = date_trunc('second', now()) - interval '1 minute'
                FROM first WHERE d.user_id = first.user_id AND d.due_at = first.due_at)
        UPDATE occurrences o SET due_at = date_trunc('second', now()) - interval '1 minute'
        FROM first WHERE o.id = first.id""",
        id=id_,
    )


@encounter(200)
def an_occurrence_is_done_and_skipped(scene):
    person = scene.person()
    id_ = scene.new(remind(person))
    path = f"/pengingat/{id_}"
    fall_due(scene, id_)
    responses = yield [confirm(person, path, "done"), confirm(person, path, "skipped"), confirm(person, path, "done")]
    answered = {response.body["id"] for response in responses}
    assert len(answered) <= 2  # a request after the first one may answer the next occurrence
    states = "SELECT count(*) FROM occurrences WHERE reminder_id = :id AND state IN ('done', 'skipped')"
    assert scene.sql(states, id=id_) == len(answered)


@encounter(200, 201, 401, 404, 409)
def answers_meet_delete_of_the_person(scene):
    admin, leaving = scene.admin(), scene.person(RoleName.ADMIN)
    ids = [scene.new(remind(leaving)) for _ in range(3)]
    for id_ in ids:
        fall_due(scene, id_)
    words = zip(ids, ("done", "snooze", "skipped"), strict=True)
    yield [*(confirm(leaving, f"/pengingat/{id_}", word) for id_, word in words), remove(admin, leaving)]
    assert left_of(scene, leaving) == 0


@encounter(200, 404, 409)
def answer_meets_delete_of_its_reminder(scene):
    person = scene.person()
    id_ = scene.new(remind(person))
    path = f"/pengingat/{id_}"
    fall_due(scene, id_)
    yield [confirm(person, path, "snooze"), person.delete(path), confirm(person, path, "done"), TOP_UP]
    assert hours_waiting(scene, id_) == set()


@encounter(200, 201, 401, 404)
def reminders_meet_delete_of_the_person(scene):
    """All requests must lock the person before the reminders. Otherwise the deletion could wait for reminder locks."""
    admin, leaving = scene.admin(), scene.person(RoleName.ADMIN)
    (first, _), (second, _) = pengingat(scene, leaving), pengingat(scene, leaving)
    yield [
        leaving.put(first, details=medicine(3, 15)),
        remove(admin, leaving),
        leaving.delete(second),
        remind(leaving),
        leaving.put(first, is_done=True),
    ]
    assert left_of(scene, leaving) == 0


@encounter(200)
def topping_up_meets_delete_of_the_person(scene):
    admin, leaving, other = scene.admin(), scene.person(RoleName.ADMIN), scene.person()
    for _ in range(5):
        pengingat(scene, leaving)
    _, id_ = pengingat(scene, other)
    forget_plans(scene, leaving)
    yield [TOP_UP, remove(admin, leaving), TOP_UP]
    jobs.top_up_page()
    assert left_of(scene, leaving) == 0
    assert hours_waiting(scene, id_) == {1, 9, 17}
