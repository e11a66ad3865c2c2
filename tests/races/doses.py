"""Concurrent requests and jobs about medicine stocks, missed doses and alerts to caregivers."""

from dataclasses import dataclass

from app.identity.models import RoleName
from app.pengingat import jobs
from tests.races.meeting import Job, Person, Scene, encounter
from tests.races.people import remove
from tests.races.reminders import confirm, fall_due, left_of, medicine

MISS = Job(jobs.miss_overdue)


def stocked(scene, person, sisa):
    """Create a medicine with a stock and a due dose. Return its path and id."""
    details = {**medicine(1, 9, 17), "persediaan": {"sisa": sisa}}
    id_ = scene.new(person.post("/pengingat/obat", judul="Obat", details=details))
    fall_due(scene, id_)
    return f"/pengingat/{id_}", id_


def left(scene, id_):
    return float(scene.sql("SELECT details->'persediaan'->>'sisa' FROM reminders WHERE id = :id", id=id_))


@encounter(200)
def additions_meet_answers_and_the_clock(scene):
    person = scene.person()
    path, id_ = stocked(scene, person, 10)
    add = person.post(f"{path}/persediaan", tambah=2.5)
    yield [add, confirm(person, path, "done"), add, confirm(person, path, "done")]
    taken = scene.sql("SELECT coalesce(sum(taken), 0) FROM occurrences WHERE reminder_id = :id", id=id_)
    assert taken == scene.sql("SELECT count(*) FROM occurrences WHERE reminder_id = :id AND state = 'done'", id=id_)
    assert left(scene, id_) == 10 + 2 * 2.5 - taken


@encounter(200, 404)
def additions_meet_delete_of_the_reminder(scene):
    person = scene.person()
    path, id_ = stocked(scene, person, 1)
    add = person.post(f"{path}/persediaan", tambah=1)
    yield [add, person.delete(path), add]
    assert scene.sql("SELECT count(*) FROM reminders WHERE id = :id", id=id_) == 0


@encounter(200, 401, 404)
def stocks_meet_delete_of_the_person(scene):
    admin, leaving = scene.admin(), scene.person(RoleName.ADMIN)
    path, _ = stocked(scene, leaving, 1)
    yield [leaving.post(f"{path}/persediaan", tambah=1), remove(admin, leaving)]
    assert left_of(scene, leaving) == 0


def missed(scene, patient, caregiver):
    """Create a medicine whose dose was due an hour ago. The caregiver may get alerts about it. Return its path."""
    scene.send(caregiver.post("/caregiver/patients", patient_id=patient.id))
    scene.send(patient.put(f"/patient/caregivers/{caregiver.id}", scopes=["alerts"]))
    path, id_ = stocked(scene, patient, 10)
    scene.change("UPDATE occurrences SET due_at = due_at - interval '1 hour' WHERE reminder_id = :id", id=id_)
    return path


def alerts_to(scene, caregiver):
    query = """
        SELECT count(*) FROM deliveries
        WHERE kind = 'alert' AND channel = 'messaging' AND state = 'pending' AND user_id = :id"""
    return int(scene.sql(query, id=caregiver.id))


@encounter(200)
def a_caregiver_is_told_by_several_clocks(scene):
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    missed(scene, patient, caregiver)
    yield [MISS] * 4
    jobs.miss_overdue()
    assert alerts_to(scene, caregiver) == 1


@encounter(200, 404, 409)
def a_late_answer_meets_the_clocks(scene):
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    path = missed(scene, patient, caregiver)
    yield [MISS, confirm(patient, path, "done"), MISS, confirm(patient, path, "done")]
    jobs.miss_overdue()
    assert alerts_to(scene, caregiver) <= 2


# --- answers that are undone ---


@dataclass(frozen=True)
class Dose:
    """A due dose of a medicine with a counted stock, and the answers to the dose."""

    scene: Scene
    person: Person
    path: str
    id: int
    due_at: str

    @classmethod
    def of(cls, scene, person):
        path, id_ = stocked(scene, person, 10)
        return cls(scene, person, path, id_, cls._fallen(scene, "due_at", id_).strftime("%Y-%m-%dT%H:%M:%SZ"))

    @staticmethod
    def _fallen(scene, column, id_):
        last = "WHERE reminder_id = :id AND due_at <= now() ORDER BY due_at DESC"
        return scene.sql(f"SELECT {column} FROM occurrences {last}", id=id_)

    def say(self, status, **data):
        return self.person.post(f"{self.path}/konfirmasi", status=status, due_at=self.due_at, **data)

    def check(self):
        """Check that the dose ledger, the stock and the outbox agree."""
        rows = "FROM occurrences WHERE reminder_id = :id"
        taken = self.scene.sql(f"SELECT coalesce(sum(taken), 0) {rows}", id=self.id)
        assert left(self.scene, self.id) + taken == 10
        wrong = """
            AND ((state IN ('done', 'skipped')) <> (answered_at IS NOT NULL)
                OR (taken IS NOT NULL AND state <> 'done'))"""
        assert self.scene.sql(f"SELECT count(*) {rows} {wrong}", id=self.id) == 0


@encounter(200, 409)
def answers_meet_undos(scene):
    dose = Dose.of(scene, scene.person())
    yield [dose.say("done"), dose.say("undo"), dose.say("skipped"), dose.say("undo"), MISS]
    dose.check()


@encounter(200, 409)
def undos_meet_the_sweep(scene):
    patient, caregiver = scene.person(), scene.person(RoleName.PENDAMPING)
    path = missed(scene, patient, caregiver)
    scene.send(confirm(patient, path, "done"))
    undo = confirm(patient, path, "undo")
    responses = yield [undo, MISS, undo]
    assert sorted(response.status for response in responses) == [200, 200, 409]
    jobs.miss_overdue()
    assert scene.sql("SELECT state FROM occurrences WHERE due_at <= now() ORDER BY id DESC") == "missed"
    assert alerts_to(scene, caregiver) == 1


@encounter(200, 404, 409)
def undos_meet_edits(scene):
    dose = Dose.of(scene, scene.person())
    scene.send(dose.say("done"))
    other = dose.person.put(dose.path, details={**medicine(2, 10, 18), "persediaan": {"sisa": 20}})
    yield [dose.say("undo"), dose.person.put(dose.path, judul="Lain"), dose.say("done"), dose.say("undo"), other]
    # Whatever the order of the requests, each future dose has its two bells.
    coming = "SELECT count(*) FROM occurrences WHERE state = 'pending' AND due_at > now() AND reminder_id = :id"
    waiting = """
        SELECT count(*) FROM deliveries JOIN occurrences AS o USING (user_id, due_at)
        WHERE deliveries.state = 'pending' AND kind = 'reminder'
        AND o.state = 'pending' AND o.due_at > now() AND reminder_id = :id"""
    assert scene.sql(waiting, id=dose.id) == 2 * scene.sql(coming, id=dose.id)
    assert left(scene, dose.id) in (19, 20, 21)  # The stock may be edited before, between or after the answers.


@encounter(200)
def an_offline_answer_is_sent_again_beside_an_undo(scene):
    dose = Dose.of(scene, scene.person())
    scene.send(dose.say("skipped"))
    offline = dose.say("done", answered_at=dose.due_at)
    yield [offline, offline, dose.say("undo"), offline]
    dose.check()
    assert Dose._fallen(scene, "state", dose.id) == "pending"
