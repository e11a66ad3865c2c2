"""Concurrent requests about privacy: settings, consents, devices, the access log and deletion."""

from app.identity.models import RoleName
from app.privacy import jobs
from tests.races.meeting import NOBODY, Job, encounter, statuses
from tests.races.people import remove
from tests.races.reminders import TOP_UP, pengingat, remind

DELETE_WITHDRAWN = Job(jobs.delete_withdrawn)


def consents(person, **granted):
    return person.put("/profile/persetujuan", **granted)


def waiting(scene, person):
    """Count the person's pending occurrences that lie ahead."""
    query = "SELECT count(*) FROM occurrences WHERE user_id = :id AND state = 'pending' AND due_at > now()"
    return int(scene.sql(query, id=person.id))


def has_withdrawn(scene, person):
    query = "SELECT count(*) FROM consents WHERE user_id = :id AND ended_at IS NULL AND NOT granted"
    return bool(scene.sql(query, id=person.id))


@encounter(200, 400)
def channels_are_switched_off_at_once(scene):
    person = scene.person()
    pengingat(scene, person)
    responses = yield [
        person.put("/profile/notifikasi", messages=False),
        person.put("/profile/notifikasi", push=False),
        person.put("/profile/notifikasi", push=False, quiet_hours={"start": "22:00", "end": "05:00"}),
    ]
    assert 400 in statuses(responses)
    assert scene.sql("SELECT messages OR push FROM notification_settings WHERE user_id = :id", id=person.id)


@encounter(200)
def broadcasts_are_switched_in_three_places(scene):
    person = scene.person()
    yield [
        person.put("/profile/notifikasi", broadcasts=False),
        consents(person, broadcasts=True),
        person.put("/profile", preferences={"broadcast": False}),
    ]
    one_value = """
        SELECT u.accepts_broadcasts = coalesce((u.preferences->>'broadcast')::boolean, true)
            AND u.accepts_broadcasts = coalesce(c.granted, true)
        FROM users AS u LEFT JOIN consents AS c
            ON c.user_id = u.id AND c.purpose = 'broadcasts' AND c.ended_at IS NULL WHERE u.id = :id"""
    assert scene.sql(one_value, id=person.id)


@encounter(200, 201, 409)
def reminders_are_made_while_health_data_is_withdrawn(scene):
    person = scene.person()
    path, _ = pengingat(scene, person)
    yield [consents(person, health_data=False), remind(person), TOP_UP, person.put(path, judul="Lain"), TOP_UP]
    assert has_withdrawn(scene, person)
    assert waiting(scene, person) == 0


@encounter(200)
def health_data_is_given_again_while_it_is_deleted(scene):
    person = scene.person()
    pengingat(scene, person)
    scene.send(consents(person, health_data=False))
    scene.change("UPDATE consents SET created_at = now() - interval '71 hours' WHERE user_id = :id", id=person.id)
    yield [consents(person, health_data=True), DELETE_WITHDRAWN, DELETE_WITHDRAWN, TOP_UP]
    kept = scene.sql("SELECT count(*) FROM reminders WHERE user_id = :id", id=person.id)
    assert bool(waiting(scene, person)) is bool(kept)


@encounter(200)
def health_data_is_given_and_withdrawn_at_once(scene):
    person = scene.person()
    pengingat(scene, person)
    yield [consents(person, health_data=granted) for granted in (False, True, False, True)]
    assert bool(waiting(scene, person)) is not has_withdrawn(scene, person)


@encounter(200, 401, 404)
def device_is_signed_out_while_it_refreshes(scene):
    person = scene.person()
    other = scene.send(person.log_in()).body
    refresh = NOBODY.post("/refresh", refresh_token=other["refresh_token"])
    ids = scene.sql("SELECT array_agg(id::text ORDER BY created_at) FROM sessions WHERE user_id = :id", id=person.id)
    yield [person.delete(f"/profile/sesi/{ids[-1]}"), refresh, person.delete("/profile/sesi"), refresh]
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=person.id) == 1


@encounter(200, 401, 404)
def people_are_looked_at_while_one_is_deleted(scene):
    a, leaving, seen = scene.admin(), scene.person(RoleName.ADMIN), scene.person()
    yield [
        a.get("/admins/users"),
        leaving.get(f"/admins/users/{seen.id}"),
        a.get(f"/admins/users/{leaving.id}"),
        leaving.get("/admins/users"),
        remove(a, leaving),
    ]
    assert scene.sql("SELECT count(*) FROM access_log WHERE user_id = :id", id=leaving.id) == 0
