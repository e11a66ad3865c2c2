"""Encounters over what is left of a medicine, and over caregivers who hear of what was missed."""

from __future__ import annotations

from typing import Any

from app.identity.models import RoleName
from app.pengingat import jobs
from tests.races.meeting import Job, Person, Scene, Script, encounter
from tests.races.people import remove
from tests.races.reminders import confirm, fall_due, left_of, medicine

TELL_OF_STOCK = Job(jobs.tell_page)
MISS, TELL_CAREGIVERS = Job(jobs.miss_overdue), Job(jobs.tell_caregivers)


def stocked(scene: Scene, person: Person, sisa: float) -> tuple[str, int]:
    """The path and id of a medicine with so much left, one dose of which is due, and which is to be looked at."""
    details: dict[str, Any] = {**medicine(1, 9, 17), "persediaan": {"sisa": sisa}}
    id_ = scene.new(person.post("/pengingat/obat", judul="Obat", details=details))
    fall_due(scene, id_)
    scene.change("UPDATE reminders SET stock_check_at = now() WHERE id = :id", id=id_)
    return f"/pengingat/{id_}", id_


def left(scene: Scene, id_: int) -> float:
    return float(scene.sql("SELECT details->'persediaan'->>'sisa' FROM reminders WHERE id = :id", id=id_))


@encounter(200)
def additions_meet_answers_and_the_clock(scene: Scene) -> Script:
    person = scene.person()
    path, id_ = stocked(scene, person, 10)
    add = person.post(f"{path}/persediaan", tambah=2.5)
    yield [add, confirm(person, path, "done"), TELL_OF_STOCK, add, confirm(person, path, "done"), TELL_OF_STOCK]
    taken = scene.sql("SELECT coalesce(sum(taken), 0) FROM occurrences WHERE reminder_id = :id", id=id_)
    assert taken == scene.sql("SELECT count(*) FROM occurrences WHERE reminder_id = :id AND state = 'done'", id=id_)
    assert left(scene, id_) == 10 + 2 * 2.5 - taken


@encounter(200, 404)
def additions_meet_delete_of_the_reminder(scene: Scene) -> Script:
    person = scene.person()
    path, id_ = stocked(scene, person, 1)
    add = person.post(f"{path}/persediaan", tambah=1)
    yield [add, TELL_OF_STOCK, person.delete(path), add]
    assert scene.sql("SELECT count(*) FROM reminders WHERE id = :id", id=id_) == 0
    waiting = "SELECT count(*) FROM deliveries WHERE kind = 'stock' AND about_id = :id AND state = 'pending'"
    assert scene.sql(waiting, id=id_) == 0


@encounter(200, 401, 404)
def stocks_meet_delete_of_the_person(scene: Scene) -> Script:
    admin, leaving = scene.admin(), scene.person(RoleName.ADMIN)
    path, _ = stocked(scene, leaving, 1)
    yield [TELL_OF_STOCK, leaving.post(f"{path}/persediaan", tambah=1), remove(admin, leaving), TELL_OF_STOCK]
    assert left_of(scene, leaving) == 0


def missed(scene: Scene, patient: Person, caregiver: Person) -> str:
    """The path of a medicine whose dose was due an hour ago; the caregiver may hear of it."""
    scene.send(caregiver.post("/caregiver/patients", patient_id=patient.id))
    scene.send(patient.put(f"/patient/caregivers/{caregiver.id}", scopes=["alerts"]))
    path, id_ = stocked(scene, patient, 10)
    scene.change("UPDATE occurrences SET due_at = due_at - interval '1 hour' WHERE reminder_id = :id", id=id_)
    return path


def alerts_to(scene: Scene, caregiver: Person) -> int:
    query = """
        SELECT count(*) FROM deliveries
        WHERE kind = 'alert' AND channel = 'messaging' AND state = 'pending' AND user_id = :id"""
    return int(scene.sql(query, id=caregiver.id))


def clocks(scene: Scene) -> None:
    """What the next ticks do; at night too, whenever the test runs."""
    scene.change("UPDATE reminders SET details = details || '{\"penting\": true}'")
    jobs.miss_overdue()
    jobs.tell_caregivers()


@encounter(200)
def a_caregiver_is_told_by_several_clocks(scene: Scene) -> Script:
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    missed(scene, patient, caregiver)
    yield [MISS, TELL_CAREGIVERS, MISS, TELL_CAREGIVERS, TELL_CAREGIVERS]
    clocks(scene)
    scene.change("UPDATE caregiver_alerts SET due_at = now() WHERE told_at IS NULL")
    clocks(scene)
    assert alerts_to(scene, caregiver) == 1


@encounter(200)
def a_scope_is_cut_while_a_clock_tells(scene: Scene) -> Script:
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    missed(scene, patient, caregiver)
    cut = patient.put(f"/patient/caregivers/{caregiver.id}", scopes=[])
    yield [MISS, TELL_CAREGIVERS, cut, TELL_CAREGIVERS]
    clocks(scene)
    assert alerts_to(scene, caregiver) == 0


@encounter(200, 404, 409)
def a_late_answer_meets_the_clocks(scene: Scene) -> Script:
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    path = missed(scene, patient, caregiver)
    yield [MISS, confirm(patient, path, "done"), TELL_CAREGIVERS, confirm(patient, path, "done")]
    clocks(scene)
    assert alerts_to(scene, caregiver) <= 2


@encounter(200)
def alerts_meet_delete_of_the_caregiver(scene: Scene) -> Script:
    admin, patient = scene.admin(), scene.person()
    leaving = scene.person(RoleName.PENDAMPING, RoleName.ADMIN)
    missed(scene, patient, leaving)
    yield [MISS, TELL_CAREGIVERS, remove(admin, leaving), TELL_CAREGIVERS]
    clocks(scene)
    assert alerts_to(scene, leaving) == 0


@encounter(200)
def alerts_meet_delete_of_the_patient(scene: Scene) -> Script:
    admin, caregiver = scene.admin(), scene.person(RoleName.PENDAMPING)
    leaving = scene.person(RoleName.PASIEN, RoleName.ADMIN)
    missed(scene, leaving, caregiver)
    yield [MISS, TELL_CAREGIVERS, remove(admin, leaving), TELL_CAREGIVERS]
    clocks(scene)
    assert left_of(scene, leaving) == 0
