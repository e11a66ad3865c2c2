"""Concurrent requests about dependents (people without a phone, whose account a caregiver manages).

The encounters (groups of concurrent calls) are about the creation and deletion of dependents, and about the caregiver's
account. Others are about the answer SALAH NOMOR ("wrong number").
"""

from psycopg2.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from app.core.database.session import db, unit_of_work
from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import RoleName
from app.inbox import conversation
from app.notifications.models import Inbound, InboundKind
from app.pengingat.ledger.tokens import hash_of
from app.personal_data import jobs
from tests.helpers.factories import PASSWORD
from tests.races.care import manage, owners, word
from tests.races.leaving import check_nothing_is_left, leave
from tests.races.meeting import NOBODY, Job, Person, encounter, statuses
from tests.races.people import role_id
from tests.races.reminders import fall_due

PATH = "/caregiver/dependents"


def keep(caregiver):
    return caregiver.post(PATH, nama_ktp="Ibu Siti")


def delete(caregiver, dependent):
    return caregiver.delete(f"{PATH}/{dependent.id}", password=PASSWORD)


def family(scene, count=1, *roles):
    """Return a caregiver, and this number of dependents of the caregiver."""
    caregiver = scene.person(RoleName.PENDAMPING, *roles)
    return caregiver, [Person(scene.new(keep(caregiver))) for _ in range(count)]


def present(scene, caregiver):
    """Count the caregiver's dependents who are not deleted."""
    query = "SELECT count(*) FROM users WHERE guardian_id = :id AND erasure_due_at IS NULL"
    return int(scene.sql(query, id=caregiver.id))


# --- creation -------------------------------------------------------------------------------------------------------


@encounter(201, 409)
def creations_of_a_caregivers_last_dependent(scene):
    caregiver, _ = family(scene, MAX_DEPENDENTS - 1)
    responses = yield [keep(caregiver)] * 3
    assert statuses(responses) == [201, 409, 409]
    assert present(scene, caregiver) == MAX_DEPENDENTS
    links = scene.sql("SELECT count(*) FROM caregiver_links WHERE caregiver_id = :id", id=caregiver.id)
    assert links == MAX_DEPENDENTS


# --- deletion -------------------------------------------------------------------------------------------------------


@encounter(200, 201, 404)
def dependent_is_deleted_while_reminders_are_created(scene):
    caregiver, [dependent] = family(scene)
    yield [manage(caregiver, dependent), delete(caregiver, dependent), delete(caregiver, dependent)]
    assert present(scene, caregiver) == 0
    jobs.erase(dependent.id)
    check_nothing_is_left(scene, dependent)
    for table in ("caregiver_links", "invitations"):
        assert scene.sql(f"SELECT count(*) FROM {table} WHERE patient_id = :id", id=dependent.id) == 0, table


@encounter(200)
def erasure_of_a_dependent_runs_twice_and_meets_that_of_the_caregiver(scene):
    caregiver, [dependent] = family(scene)
    scene.new(manage(caregiver, dependent))
    scene.send(delete(caregiver, dependent))
    scene.change("UPDATE users SET erasure_due_at = now() WHERE id = :id", id=caregiver.id)
    yield [Job(lambda id_=id_: jobs.erase(id_)) for id_ in (dependent.id, caregiver.id, dependent.id)]
    for person in (dependent, caregiver):  # the caregiver may have to wait for the dependent
        jobs.erase(person.id)
        check_nothing_is_left(scene, person)


# --- the caregiver's own account ------------------------------------------------------------------------------------


def is_leaving(scene, person):
    return bool(scene.sql("SELECT erasure_due_at IS NOT NULL FROM users WHERE id = :id", id=person.id))


@encounter(201, 202, 401, 409)
def caregiver_leaves_while_they_create_a_dependent(scene):
    caregiver, _ = family(scene, 0)
    _, left, _ = yield [keep(caregiver), leave(caregiver), keep(caregiver)]
    assert is_leaving(scene, caregiver) is (left.status == 202)
    assert (present(scene, caregiver) == 0) is (left.status == 202)


@encounter(200, 201, 403, 409)
def caregiver_loses_the_role_while_they_create_a_dependent(scene):
    caregiver, _ = family(scene, 0)
    pasien = role_id(scene, RoleName.PASIEN)
    made, changed = yield [keep(caregiver), caregiver.put("/profile", role_ids=[pasien])]
    assert (changed.status == 200) is (present(scene, caregiver) == 0) is (made.status != 201)


# --- answers for a dependent ----------------------------------------------------------------------------------------


def sent_dose(scene, caregiver, dependent):
    """Create a dose of the dependent. The reminder about the dose was sent to the caregiver a minute ago.

    Return the id of the medicine, and the token of the web link in the reminder.
    """
    id_, token = scene.new(manage(caregiver, dependent)), f"{scene.number():022d}"
    fall_due(scene, id_)
    due = "reminder_id = :id AND due_at <= now()"
    scene.change(
        f"""UPDATE deliveries SET state = 'sent', settled_at = o.due_at, claim_token = gen_random_uuid(),
            due_at = o.due_at, said = ARRAY[o.id], link_hash = :hash
        FROM (SELECT id, user_id, due_at FROM occurrences WHERE {due}) AS o
        WHERE deliveries.id = (
            SELECT min(id) FROM deliveries d WHERE d.user_id = o.user_id AND channel = 'messaging')""",
        id=id_,
        hash=hash_of(token),
    )
    return id_, token


def hear(scene, phone, text):
    """Return a job that receives a message from this number. The job's result is the outcome of the message."""

    def work():
        try:
            return receive()
        except OperationalError as error:
            if not isinstance(error.orig, DeadlockDetected):
                raise
            return receive()  # in production, a worker also handles the message again after a deadlock

    def receive():
        values = {"provider": "test", "event_key": f"{phone}:{scene.number()}", "kind": InboundKind.MESSAGE}
        with unit_of_work():
            row = Inbound(phone=phone, text=text, payload={"type": "text"}, **values)
            db.session.add(row)
            db.session.flush()
            row.outcome = conversation.handle(row)
            row.handled_at = row.received_at
            return row.outcome

    return Job(work)


def phone_of(scene, person):
    return scene.sql("SELECT phone FROM users WHERE id = :id", id=person.id)


def tap(token, status):
    return NOBODY.post(f"/konfirmasi/{token}", status=status)


# --- VERIFIKASI and SALAH NOMOR -------------------------------------------------------------------------------------


@encounter(200, 409)
def verifikasi_and_salah_nomor_meet_changes_of_the_profile(scene):
    """The number is not in use, so it moves to the person who proves it, in whatever order the messages come."""
    number, other = f"0821{scene.number():08d}", f"0824{scene.number():08d}"
    holder, taker, third = scene.person(nomor_hp=number), scene.person(), scene.person()
    proof, *_ = yield [
        word(scene, taker, number),
        hear(scene, f"+62{number[1:]}", "SALAH NOMOR"),
        holder.put("/profile", nomor_hp=other),
        third.put("/profile", nomor_hp=number),
    ]
    assert owners(scene, number) == 1
    assert (phone_of(scene, taker) == f"+62{number[1:]}") is (str(proof.body[0]) == "proven")
    assert owners(scene, other) == 1
