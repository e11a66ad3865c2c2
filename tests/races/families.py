"""Concurrent requests about dependents (people without a phone, whose account a caregiver manages).

The encounters (groups of concurrent calls) are about the creation, deletion and handover of dependents, and about the
caregiver's account.
"""

from __future__ import annotations

from time import monotonic

from psycopg2.errors import DeadlockDetected
from sqlalchemy.exc import OperationalError

from app.core.database.session import db, unit_of_work
from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import RoleName
from app.inbox import conversation
from app.notifications.models import Inbound, InboundKind
from app.pengingat.ledger.tokens import hash_of
from app.personal_data import jobs
from tests.races.care import manage, owners, word
from tests.races.leaving import check_nothing_is_left, leave
from tests.races.meeting import NOBODY, Call, Job, Person, Response, Scene, Script, encounter, statuses
from tests.races.people import registration, remove, role_id
from tests.races.reminders import fall_due

PATH = "/caregiver/dependents"

#: Seconds during which an erasure job runs again and again. The deletion of a dependent becomes due in this time.
ERASING_S = 0.3


def keep(caregiver: Person) -> Call:
    return caregiver.post(PATH, nama_ktp="Ibu Siti")


def delete(caregiver: Person, dependent: Person) -> Call:
    return caregiver.delete(f"{PATH}/{dependent.id}")


def undelete(caregiver: Person, dependent: Person) -> Call:
    return caregiver.post(f"{PATH}/{dependent.id}/undelete")


def hand_over(caregiver: Person, dependent: Person) -> Call:
    return caregiver.post(f"{PATH}/{dependent.id}/handover")


def family(scene: Scene, count: int = 1, *roles: str) -> tuple[Person, list[Person]]:
    """Return a caregiver, and this number of dependents of the caregiver."""
    caregiver = scene.person(RoleName.PENDAMPING, *roles)
    return caregiver, [Person(scene.new(keep(caregiver))) for _ in range(count)]


def code_for(scene: Scene, caregiver: Person, dependent: Person) -> str:
    code: str = scene.send(hand_over(caregiver, dependent)).body["code"]
    return code


def take_over(scene: Scene, code: str) -> Call:
    """Return the call that registers a person with this handover code, a new username and a new phone number."""
    return registration(scene.number(), handover_code=code)


def present(scene: Scene, caregiver: Person) -> int:
    """Count the caregiver's dependents who are not deleted."""
    query = "SELECT count(*) FROM users WHERE guardian_id = :id AND erasure_due_at IS NULL"
    return int(scene.sql(query, id=caregiver.id))


def rights(scene: Scene, caregiver: Person, dependent: Person) -> set[str] | None:
    """Return the caregiver's scopes. Return None if there is no link."""
    query = "SELECT scopes FROM caregiver_links WHERE caregiver_id = :caregiver AND patient_id = :patient"
    scopes = scene.sql(query, caregiver=caregiver.id, patient=dependent.id)
    return None if scopes is None else set(scopes)


def codes(scene: Scene, dependent: Person) -> int:
    return int(scene.sql("SELECT count(*) FROM handovers WHERE user_id = :id", id=dependent.id))


def check_managed(scene: Scene, caregiver: Person, dependent: Person) -> None:
    """Check that the caregiver still manages the dependent's account, and that nobody else can use it."""
    query = """
        SELECT count(*) FROM users WHERE id = :id AND guardian_id = :caregiver
        AND password_hash IS NULL AND phone IS NULL"""
    assert scene.sql(query, id=dependent.id, caregiver=caregiver.id) == 1
    assert rights(scene, caregiver, dependent) == {"alerts", "history", "manage"}
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=dependent.id) == 0


def check_handed_over(scene: Scene, caregiver: Person, dependent: Person, taken: Response) -> None:
    """Check that the account belongs only to the person who registered with the handover code.

    `taken` is the response to this registration. Also check that the caregiver has only the scope `alerts`.
    """
    owner = Person(token=taken.body["access_token"])
    profile = scene.send(owner.get("/profile"))
    assert (profile.status, profile.body["id"]) == (200, dependent.id)
    query = "SELECT count(*) FROM users WHERE id = :id AND guardian_id IS NULL AND erasure_due_at IS NULL"
    assert scene.sql(query, id=dependent.id) == 1
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=dependent.id) == 1
    assert rights(scene, caregiver, dependent) == {"alerts"}
    assert codes(scene, dependent) == 0
    assert scene.send(manage(caregiver, dependent)).status == 404
    assert scene.send(delete(caregiver, dependent)).status == 404


def new_people(scene: Scene, *registrations: Call) -> int:
    """Count the accounts that have a username of these registrations."""
    names = [call.body["username"] for call in registrations]
    return int(scene.sql("SELECT count(*) FROM users WHERE username = ANY(:names)", names=names))


# --- creation -------------------------------------------------------------------------------------------------------


@encounter(201, 409)
def creations_of_a_caregivers_last_dependent(scene: Scene) -> Script:
    caregiver, _ = family(scene, MAX_DEPENDENTS - 1)
    responses = yield [keep(caregiver)] * 3
    assert statuses(responses) == [201, 409, 409]
    assert present(scene, caregiver) == MAX_DEPENDENTS
    links = scene.sql("SELECT count(*) FROM caregiver_links WHERE caregiver_id = :id", id=caregiver.id)
    assert links == MAX_DEPENDENTS


@encounter(200, 201, 409)
def last_place_is_wanted_by_a_new_and_two_deleted_dependents(scene: Scene) -> Script:
    caregiver, dependents = family(scene, MAX_DEPENDENTS)
    first, second, *_ = dependents
    scene.send(delete(caregiver, first))
    scene.new(keep(caregiver))
    scene.send(delete(caregiver, second))
    responses = yield [undelete(caregiver, first), keep(caregiver), undelete(caregiver, second)]
    assert statuses(responses) in ([200, 409, 409], [201, 409, 409])
    assert present(scene, caregiver) == MAX_DEPENDENTS


# --- handover -------------------------------------------------------------------------------------------------------


@encounter(201, 400)
def handover_code_is_used_by_three(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    code = code_for(scene, caregiver, dependent)
    calls = [take_over(scene, code) for _ in range(3)]
    responses = yield calls
    assert statuses(responses) == [201, 400, 400]
    assert new_people(scene, *calls) == 1
    check_handed_over(scene, caregiver, dependent, next(each for each in responses if each.status == 201))


@encounter(201, 400, 404)
def handover_code_is_used_while_it_is_replaced(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    old = take_over(scene, code_for(scene, caregiver, dependent))
    taken, replaced = yield [old, hand_over(caregiver, dependent)]
    assert (taken.status, replaced.status) in ((201, 404), (400, 201))
    if replaced.status == 201:
        new = take_over(scene, replaced.body["code"])
        taken = scene.send(new)
        assert (new_people(scene, old), new_people(scene, new)) == (0, 1)
    check_handed_over(scene, caregiver, dependent, taken)


@encounter(201, 204, 400, 404)
def handover_code_is_used_while_it_is_taken_back(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    call = take_over(scene, code_for(scene, caregiver, dependent))
    taken, taken_back = yield [call, caregiver.delete(f"{PATH}/{dependent.id}/handover")]
    assert (taken.status, taken_back.status) in ((201, 404), (400, 204))
    assert new_people(scene, call) == (taken.status == 201)
    if taken.status == 201:
        check_handed_over(scene, caregiver, dependent, taken)
    else:
        check_managed(scene, caregiver, dependent)


@encounter(201, 202, 400, 404)
def handover_meets_delete_of_the_dependent(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    scene.new(manage(caregiver, dependent))
    call = take_over(scene, code_for(scene, caregiver, dependent))
    taken, deleted = yield [call, delete(caregiver, dependent)]
    assert (taken.status, deleted.status) in ((201, 404), (400, 202))
    assert new_people(scene, call) == (taken.status == 201)
    waiting = "SELECT count(*) > 0 FROM deliveries WHERE user_id = :id AND kind = 'reminder' AND state = 'pending'"
    assert scene.sql(waiting, id=dependent.id) is (taken.status == 201)
    if taken.status == 201:
        check_handed_over(scene, caregiver, dependent, taken)
    else:
        check_managed(scene, caregiver, dependent)
        assert (present(scene, caregiver), codes(scene, dependent)) == (0, 0)
        assert scene.send(undelete(caregiver, dependent)).status == 200
        assert scene.send(call).status == 400  # the code stays invalid after the account is restored


# --- erasure of a deleted dependent ---------------------------------------------------------------------------------


def check_erased(scene: Scene, dependent: Person) -> None:
    check_nothing_is_left(scene, dependent)
    assert codes(scene, dependent) == 0
    for table in ("caregiver_links", "invitations"):
        assert scene.sql(f"SELECT count(*) FROM {table} WHERE patient_id = :id", id=dependent.id) == 0, table
    assert scene.sql("SELECT count(*) FROM access_log WHERE user_id = :id", id=dependent.id) == 0


def erase_until_gone(scene: Scene, dependent: Person) -> Job:
    """Run the erasure job again and again, because only one of its runs is the first after the seven days."""

    def work() -> None:
        stop = monotonic() + ERASING_S
        while monotonic() < stop and scene.sql("SELECT count(*) FROM users WHERE id = :id", id=dependent.id):
            jobs.erase(dependent.id)

    return Job(work)


@encounter(200, 404)
def undelete_meets_the_erasure(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    reminder = scene.new(manage(caregiver, dependent))
    scene.send(delete(caregiver, dependent))
    soon = "UPDATE users SET erasure_due_at = clock_timestamp() + interval '10 ms' WHERE id = :id"
    scene.change(soon, id=dependent.id)
    _, *undeleted = yield [erase_until_gone(scene, dependent), *[undelete(caregiver, dependent)] * 2]
    if all(response.status == 404 for response in undeleted):
        check_erased(scene, dependent)
    else:
        jobs.erase(dependent.id)  # must do nothing, because the deletion was cancelled
        check_managed(scene, caregiver, dependent)
        assert present(scene, caregiver) == 1
        assert scene.sql("SELECT user_id FROM reminders WHERE id = :id", id=reminder) == dependent.id
    scene.change("DELETE FROM users WHERE id = :id", id=dependent.id)


# --- the caregiver's own account ------------------------------------------------------------------------------------


def is_leaving(scene: Scene, person: Person) -> bool:
    return bool(scene.sql("SELECT erasure_due_at IS NOT NULL FROM users WHERE id = :id", id=person.id))


@encounter(201, 202, 401, 409)
def caregiver_leaves_while_they_create_a_dependent(scene: Scene) -> Script:
    caregiver, _ = family(scene, 0)
    _, left, _ = yield [keep(caregiver), leave(caregiver), keep(caregiver)]
    assert is_leaving(scene, caregiver) is (left.status == 202)
    assert (present(scene, caregiver) == 0) is (left.status == 202)


@encounter(200, 202, 401, 409)
def caregiver_leaves_while_they_undelete_a_dependent(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    scene.send(delete(caregiver, dependent))
    undeleted, left = yield [undelete(caregiver, dependent), leave(caregiver)]
    assert (undeleted.status, left.status) in ((200, 409), (401, 202))


@encounter(200, 201, 403, 409)
def caregiver_loses_the_role_while_they_create_a_dependent(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    scene.send(delete(caregiver, dependent))
    pasien = role_id(scene, RoleName.PASIEN)
    made, undeleted, changed = yield [
        keep(caregiver),
        undelete(caregiver, dependent),
        caregiver.put("/profile", role_ids=[pasien]),
    ]
    assert (changed.status == 200) is (present(scene, caregiver) == 0)
    assert present(scene, caregiver) == sum(response.status in (200, 201) for response in (made, undeleted))


@encounter(201, 202, 409)
def caregiver_leaves_while_the_dependent_takes_over(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    taken, left = yield [take_over(scene, code_for(scene, caregiver, dependent)), leave(caregiver)]
    assert taken.status == 201
    assert scene.sql("SELECT guardian_id IS NULL FROM users WHERE id = :id", id=dependent.id)
    assert is_leaving(scene, caregiver) is (left.status == 202)
    assert rights(scene, caregiver, dependent) == {"alerts"}


# --- answers for a dependent ----------------------------------------------------------------------------------------


def sent_dose(scene: Scene, caregiver: Person, dependent: Person) -> tuple[int, str]:
    """Create a dose of the dependent. The reminder about the dose was sent to the caregiver a minute ago.

    Return the id of the medicine, and the token of the web link in the reminder.
    """
    id_, token = scene.new(manage(caregiver, dependent)), f"{scene.number():022d}"
    fall_due(scene, id_)
    due = "reminder_id = :id AND due_at <= now()"
    scene.change(f"UPDATE occurrences SET link_hash = :hash WHERE {due}", id=id_, hash=hash_of(token))
    scene.change(
        f"""UPDATE deliveries SET state = 'sent', due_at = o.due_at, settled_at = o.due_at,
            claim_token = gen_random_uuid()
        FROM (SELECT id, due_at FROM occurrences WHERE {due}) AS o
        WHERE occurrence_id = o.id AND channel = 'messaging'""",
        id=id_,
    )
    return id_, token


def hear(scene: Scene, phone: str, text: str) -> Job:
    """Return a job that receives a message from this number. The job's result is the outcome of the message."""

    def work() -> str:
        try:
            return receive()
        except OperationalError as error:
            if not isinstance(error.orig, DeadlockDetected):
                raise
            return receive()  # in production, a worker also handles the message again after a deadlock

    def receive() -> str:
        values = {"provider": "test", "event_key": f"{phone}:{scene.number()}", "kind": InboundKind.MESSAGE}
        with unit_of_work():
            row = Inbound(phone=phone, text=text, payload={"type": "text"}, **values)
            db.session.add(row)
            db.session.flush()
            row.outcome = conversation.handle(row)
            row.handled_at = row.received_at
            return row.outcome

    return Job(work)


def phone_of(scene: Scene, person: Person) -> str | None:
    phone: str | None = scene.sql("SELECT phone FROM users WHERE id = :id", id=person.id)
    return phone


def tap(token: str, status: str) -> Call:
    return NOBODY.post(f"/konfirmasi/{token}", status=status)


@encounter(200, 201, 404, 409, 410)
def caregiver_answers_while_the_dependent_takes_over(scene: Scene) -> Script:
    caregiver, [dependent] = family(scene)
    reminder, token = sent_dose(scene, caregiver, dependent)
    number = f"0822{scene.number():08d}"
    scene.change("UPDATE users SET phone = :phone WHERE id = :id", phone=f"+62{number[1:]}", id=caregiver.id)
    call = take_over(scene, code_for(scene, caregiver, dependent))
    confirm = caregiver.post(f"/pengingat/{reminder}/konfirmasi?patient_id={dependent.id}", status="done")
    taken, tapped, heard, confirmed = yield [
        call,
        tap(token, "done"),
        hear(scene, f"+62{number[1:]}", "SUDAH"),
        confirm,
    ]
    assert taken.status == 201
    check_handed_over(scene, caregiver, dependent, taken)
    answer = "FROM occurrences WHERE reminder_id = :id AND due_at <= now()"
    is_done = scene.sql(f"SELECT state = 'done' {answer}", id=reminder)
    assert is_done is (200 in (tapped.status, confirmed.status) or heard.body == "answered:done")
    assert scene.sql(f"SELECT answered_via {answer}", id=reminder) == ("caregiver" if is_done else None)
    # After the handover, the caregiver cannot answer any more.
    scene.change("UPDATE users SET phone_changed_at = clock_timestamp() WHERE id = :id", id=dependent.id)
    hear(scene, f"+62{number[1:]}", "LEWATI").work()
    assert scene.send(tap(token, "skipped")).status == 404
    assert scene.send(confirm).status == 404
    assert scene.sql(f"SELECT state = 'done' {answer}", id=reminder) is is_done


# --- PINDAH and SALAH NOMOR -----------------------------------------------------------------------------------------


def asked_about(scene: Scene, number: str) -> Person:
    """Return a person who wants this number, which belongs to another account.

    The service has sent a question to the number: may the number move to this person?
    """
    taker = scene.person(nomor_hp=f"0823{scene.number():08d}")
    assert str(word(scene, taker, number).work()) == "asked"
    return taker


def verified(scene: Scene, number: str) -> Person:
    holder = scene.person(nomor_hp=number)
    scene.change("UPDATE users SET phone_verified_at = now() WHERE id = :id", id=holder.id)
    return holder


def is_verified(scene: Scene, person: Person) -> bool:
    return bool(scene.sql("SELECT phone_verified_at IS NOT NULL FROM users WHERE id = :id", id=person.id))


@encounter(200)
def a_number_answers_pindah_and_salah_nomor(scene: Scene) -> Script:
    number = f"0821{scene.number():08d}"
    phone = f"+62{number[1:]}"
    holder, taker = verified(scene, number), asked_about(scene, number)
    taker_had = phone_of(scene, taker)
    moved, refused = yield [hear(scene, phone, "PINDAH"), hear(scene, phone, "SALAH NOMOR")]
    assert moved.body == "answered:verify moved"
    assert owners(scene, number) == 1
    # The order in which the messages are handled decides which account has the number.
    if refused.body == "answered:moved back":
        assert (phone_of(scene, holder), phone_of(scene, taker)) == (phone, taker_had)
        assert (is_verified(scene, holder), is_verified(scene, taker)) == (True, False)
    else:
        assert refused.body == "answered:wrong number"
        assert (phone_of(scene, holder), phone_of(scene, taker)) == (None, phone)
        assert is_verified(scene, taker)
    assert scene.sql("SELECT count(*) FROM phone_numbers WHERE phone = :p AND wrong_at IS NOT NULL", p=phone) == 0


@encounter(200)
def a_moved_number_answers_pindah_for_another_and_salah_nomor(scene: Scene) -> Script:
    number = f"0821{scene.number():08d}"
    phone = f"+62{number[1:]}"
    holder, first = verified(scene, number), asked_about(scene, number)
    assert hear(scene, phone, "PINDAH").work() == "answered:verify moved"
    second = asked_about(scene, number)
    words = ["PINDAH", "SALAH NOMOR", "SALAH NOMOR", "PINDAH"]
    responses = yield [hear(scene, phone, text) for text in words]
    assert [response.body for response in responses].count("answered:moved back") == 1
    # In every order, the number returns to the account that had it first, and no other account can take it then.
    assert phone_of(scene, holder) == phone
    assert owners(scene, number) == 1
    assert phone not in (phone_of(scene, first), phone_of(scene, second))


@encounter(200, 409)
def pindah_and_salah_nomor_meet_changes_of_the_profile(scene: Scene) -> Script:
    number, other = f"0821{scene.number():08d}", f"0824{scene.number():08d}"
    phone = f"+62{number[1:]}"
    holder, taker = verified(scene, number), asked_about(scene, number)
    third = scene.person(nomor_hp=f"0823{scene.number():08d}")
    _, _, refused, _ = yield [
        hear(scene, phone, "PINDAH"),
        holder.put("/profile", nomor_hp=other),
        hear(scene, phone, "SALAH NOMOR"),
        third.put("/profile", nomor_hp=number),
    ]
    # If `number` moves back after `holder` got the number `other`, `number` may have no owner.
    assert owners(scene, number) == 1 or refused.body == "answered:moved back"
    assert owners(scene, other) == 1
    assert phone_of(scene, holder) == f"+62{other[1:]}"
    query = "SELECT count(*) FROM users WHERE id = ANY(:ids) AND phone IS NOT NULL"
    assert scene.sql(query, ids=[holder.id, taker.id, third.id]) >= 2


@encounter(200)
def pindah_and_salah_nomor_meet_delete_of_the_holder(scene: Scene) -> Script:
    number = f"0821{scene.number():08d}"
    phone = f"+62{number[1:]}"
    holder = scene.person(RoleName.ADMIN, nomor_hp=number)
    scene.change("UPDATE users SET phone_verified_at = now() WHERE id = :id", id=holder.id)
    asked_about(scene, number)
    yield [hear(scene, phone, "PINDAH"), remove(scene.admin(), holder), hear(scene, phone, "SALAH NOMOR")]
    check_nothing_is_left(scene, holder)
    assert owners(scene, number) <= 1
    assert scene.sql("SELECT count(*) FROM phone_moves WHERE from_user_id = :id", id=holder.id) == 0
