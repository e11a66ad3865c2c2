"""Concurrent requests about dependents (people without a phone, whose account a caregiver manages).

The encounters are about their creation, deletion and handover, and about their caregiver's account.
"""

from __future__ import annotations

from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import RoleName
from tests.races.care import manage
from tests.races.meeting import Call, Person, Response, Scene, Script, encounter, statuses
from tests.races.people import registration

PATH = "/caregiver/dependents"


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
    """Return the registration of a person who has this handover code, with a new username and phone number."""
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
        AND password_hash IS NULL AND phone IS NULL AND NOT self_registered"""
    assert scene.sql(query, id=dependent.id, caregiver=caregiver.id) == 1
    assert rights(scene, caregiver, dependent) == {"alerts", "history", "manage"}
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=dependent.id) == 0


def check_handed_over(scene: Scene, caregiver: Person, dependent: Person, taken: Response) -> None:
    """Check that exactly the sender of the registration `taken` owns the account, and the caregiver has few rights."""
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
        assert scene.send(call).status == 400  # an ended code stays ended
