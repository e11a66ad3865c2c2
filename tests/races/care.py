"""Concurrent requests about caregivers: invitations, links, permissions (scopes) and deletion.

Some encounters (groups of concurrent calls) are about the verification of phone numbers.
"""

from app.accounts import verification
from app.core.database.session import unit_of_work
from app.identity.models import RoleName
from tests.races.meeting import Job, encounter, statuses
from tests.races.people import remove
from tests.races.reminders import remind

SCOPES = ["alerts", "history", "manage"]


def care(scene, patient, caregiver, *scopes):
    """Link the patient and the caregiver.

    The patient gives the caregiver `scopes` (permissions), or all scopes if none are given.
    """
    scene.new(caregiver.post("/caregiver/patients", patient_id=patient.id))
    scene.send(patient.put(f"/patient/caregivers/{caregiver.id}", scopes=list(scopes or SCOPES)))


def couple(scene, *, leaving=""):
    """Return a patient and a caregiver who is linked to the patient.

    If `leaving` is "patient" or "caregiver", this person is also an administrator. Other administrators can then delete
    the person.
    """
    roles = {"patient": (RoleName.PASIEN,), "caregiver": (RoleName.PENDAMPING,)}
    patient, caregiver = (
        scene.person(*own, *([RoleName.ADMIN] if name == leaving else [])) for name, own in roles.items()
    )
    care(scene, patient, caregiver)
    return patient, caregiver


def invite(scene, patient):
    return scene.send(patient.post("/patient/invitations", scopes=SCOPES)).body["code"]


def manage(caregiver, patient, path="/pengingat/obat"):
    body = remind(caregiver, 1).body
    return caregiver.post(f"{path}?patient_id={patient.id}", **body)


def links_of(scene, person):
    query = "SELECT count(*) FROM caregiver_links WHERE :id IN (caregiver_id, patient_id)"
    return int(scene.sql(query, id=person.id))


# --- invitations ----------------------------------------------------------------------------------------------------


@encounter(201, 404)
def invitation_is_taken_by_three(scene):
    patient, caregivers = scene.person(), [scene.person(RoleName.PENDAMPING) for _ in range(3)]
    code = invite(scene, patient)
    responses = yield [each.post("/caregiver/invitations", code=code) for each in caregivers]
    assert statuses(responses) == [201, 404, 404]
    assert links_of(scene, patient) == 1


@encounter(201, 204, 404)
def invitation_is_taken_while_it_is_taken_back(scene):
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    made = scene.send(patient.post("/patient/invitations", scopes=SCOPES)).body
    taken, taken_back = yield [
        caregiver.post("/caregiver/invitations", code=made["code"]),
        patient.delete(f"/patient/invitations/{made['id']}"),
    ]
    assert (taken.status == 201) is (taken_back.status == 404)
    assert links_of(scene, patient) == (taken.status == 201)


# --- caregivers who act for a patient ---


@encounter(200, 201, 404)
def link_is_cut_while_it_is_used(scene):
    patient, caregiver = couple(scene)
    *made, _ = yield [
        manage(caregiver, patient),
        manage(caregiver, patient),
        patient.delete(f"/caregiver/patients/{caregiver.id}"),
    ]
    kept = scene.sql("SELECT count(*) FROM reminders WHERE user_id = :id", id=patient.id)
    noted = scene.sql("SELECT count(*) FROM access_log WHERE user_id = :id", id=patient.id)
    assert kept == noted == sum(response.status == 201 for response in made)
    assert scene.send(manage(caregiver, patient)).status == 404


@encounter(200, 201, 404)
def scope_is_taken_back_while_it_is_used(scene):
    patient, caregiver = couple(scene)
    yield [
        manage(caregiver, patient),
        caregiver.get(f"/pengingat/kepatuhan?patient_id={patient.id}"),
        patient.put(f"/patient/caregivers/{caregiver.id}", scopes=[]),
    ]
    assert scene.send(manage(caregiver, patient)).status == 404
    assert scene.send(caregiver.get(f"/pengingat/kepatuhan?patient_id={patient.id}")).status == 404


@encounter(200, 201)
def patient_and_caregiver_make_reminders_at_once(scene):
    patient, caregiver = couple(scene)
    yield [manage(caregiver, patient), remind(patient), manage(caregiver, patient), remind(patient)]
    assert scene.sql("SELECT count(*) FROM reminders WHERE user_id = :id", id=patient.id) == 4


# --- phone numbers --------------------------------------------------------------------------------------------------


def word(scene, person, nomor_hp):
    """Verify a phone number by an incoming message with the person's code."""
    asked = person.post("/profile/phone/verification", nomor_hp=nomor_hp)
    code = scene.send(asked).body["code"]

    def write():
        with unit_of_work():
            return verification.confirm_by_message(f"+62{nomor_hp[1:]}", code)

    return Job(write)


def owners(scene, nomor_hp):
    return int(scene.sql("SELECT count(*) FROM users WHERE phone = :phone", phone=f"+62{nomor_hp[1:]}"))


@encounter(200)
def number_is_proven_by_two(scene):
    number = f"0878{scene.number():08d}"
    scene.person(nomor_hp=number)
    a, b = scene.person(), scene.person()
    proofs = yield [word(scene, a, number), word(scene, b, number)]
    assert sorted(str(proof.body[0]) for proof in proofs) == ["in_use", "proven"]
    assert owners(scene, number) == 1


@encounter(200, 409)
def number_is_proven_while_its_squatter_moves_on(scene):
    number, other = f"0877{scene.number():08d}", f"0876{scene.number():08d}"
    squatter, owner = scene.person(nomor_hp=number), scene.person()
    proof, _ = yield [word(scene, owner, number), squatter.put("/profile", nomor_hp=other)]
    assert str(proof.body[0]) == "proven"
    assert (owners(scene, number), owners(scene, other)) == (1, 1)


@encounter(200)
def number_is_proven_while_its_squatter_is_deleted(scene):
    number = f"0859{scene.number():08d}"
    squatter, owner = scene.person(RoleName.ADMIN, nomor_hp=number), scene.person()
    proof, _ = yield [word(scene, owner, number), remove(scene.admin(), squatter)]
    assert str(proof.body[0]) == "proven"
    assert owners(scene, number) == 1


@encounter(200)
def number_is_proven_while_its_owner_is_deleted(scene):
    number = f"0838{scene.number():08d}"
    owner = scene.person(RoleName.ADMIN)
    yield [word(scene, owner, number), remove(scene.admin(), owner)]
    assert owners(scene, number) == 0


@encounter(200)
def two_take_the_number_of_one_another(scene):
    """Each person verifies the other person's number. Both requests must lock the two people in the same order."""
    first, second = f"0838{scene.number():08d}", f"0838{scene.number():08d}"
    a, b = scene.person(nomor_hp=first), scene.person(nomor_hp=second)
    yield [word(scene, a, second), word(scene, b, first)]
    numbers = "SELECT array_agg(nomor_hp ORDER BY id) FROM users WHERE id IN (:a, :b)"
    assert scene.sql(numbers, a=a.id, b=b.id) == [second, first]
