"""Access of caregivers to a patient's reminders: the required scope of each route, and its access log entry."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.access_log import AccessAction, AccessLogEntry
from app.identity.care import CaregiverLink, Scope
from app.identity.models import RoleName, User
from app.pengingat.models import Occurrence, Pengingat
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.helpers.offenders import assert_none
from tests.pengingat.answering import with_doses
from tests.routes.registry import ACCESS
from tests.routes.requests import undone

#: Routes that read a patient's reminders, by the entry that they leave in the access log.
READ = {
    "GET /pengingat": AccessAction.REMINDERS_READ,
    "GET /pengingat/<int:pengingat_id>": AccessAction.REMINDERS_READ,
    "GET /pengingat/riwayat": AccessAction.HISTORY_READ,
    "GET /pengingat/<int:pengingat_id>/riwayat": AccessAction.HISTORY_READ,
    "GET /pengingat/hari-ini": AccessAction.HISTORY_READ,
    "GET /pengingat/kepatuhan": AccessAction.HISTORY_READ,
    "GET /pengingat/kepatuhan/laporan": AccessAction.HISTORY_READ,
}

#: Routes that change them, by the body of a request.
CHANGE = {
    "POST /pengingat": "obat",
    "POST /pengingat/obat": "obat",
    "PUT /pengingat/<int:pengingat_id>": {"judul": "Obat lain"},
    "DELETE /pengingat/<int:pengingat_id>": None,
    "POST /pengingat/<int:pengingat_id>/persediaan": {"tambah": 10},
    "POST /pengingat/<int:pengingat_id>/konfirmasi": {"status": "done"},
}

#: Callers, and the scopes that the patient Siti grants them.
IDENTITIES = {
    "alerts": {Scope.ALERTS},
    "history": {Scope.HISTORY},
    "manage": {Scope.MANAGE},
    "of another patient": set(),
    "after the cut": set(),
}


@pytest.fixture
def obat(obat):
    """Return the request body of a medicine with a stock. Its dose is due in half an hour."""
    return {"tipe": "obat", **obat, "details": with_doses(obat, "01:30", persediaan={"sisa": 10})}


@pytest.fixture
def reminder(client, moment, siti, obat):
    return int(siti.post("/pengingat/obat", obat).json["id"])


@pytest.fixture
def linked_as(client, siti):
    def make(identity):
        user = make_user(RoleName.PENDAMPING, nama_ktp="Budi Santoso")
        theirs = client.as_(user)
        patient = client.as_(make_user()) if identity == "of another patient" else siti
        assert theirs.post("/caregiver/patients", {"patient_id": patient.id}).status_code == 201
        scopes = IDENTITIES[identity] or set(Scope)
        assert patient.put(f"/patient/caregivers/{user.id}", {"scopes": sorted(scopes)}).status_code == 200
        if identity == "after the cut":
            assert siti.delete(f"/caregiver/patients/{user.id}").status_code == 200
        return theirs

    return make


def path_of(route, reminder, patient):
    method, path = route.split()
    return method, f"{path.replace('<int:pengingat_id>', str(reminder))}?patient_id={patient.id}"


def noted(patient):
    query = sa.select(AccessLogEntry.action).filter_by(user_id=patient.id).order_by(AccessLogEntry.id)
    return list(db.session.scalars(query))


def test_the_tested_routes_include_all_reminder_routes():
    assert {route for route in ACCESS if route.split()[1].startswith("/pengingat")} == READ.keys() | CHANGE.keys()


def wrong_with(response, siti, route, *, is_open):
    """Return an error text if the response or the access log is wrong. Otherwise return None."""
    if is_open:
        action = READ.get(route, AccessAction.REMINDERS_CHANGED)
        if response.status_code not in (200, 201) or noted(siti) != [action]:
            return f"is refused, or leaves no line `{action}`: {response.status_code}, {noted(siti)}"
        return None
    if response.status_code != 404 or response.json["error"] != "not_found" or "Siti" in response.text:
        return f"is no plain 404: {response.text}"
    titles = db.session.scalars(sa.select(Pengingat.judul)).all()
    states = db.session.scalars(sa.select(Occurrence.state).distinct()).all()
    if (noted(siti), titles, states) != ([], ["Obat diabetes"], ["pending"]):
        return f"leaves a line or changes something: {noted(siti)}, {titles}, {states}"
    return None


@pytest.mark.parametrize("identity", IDENTITIES)
def test_each_route_accepts_only_caregivers_with_its_scope(linked_as, reminder, siti, obat, identity):
    theirs, wrong = linked_as(identity), {}
    assert noted(siti) == []
    for route in (*READ, *CHANGE):
        needed = {Scope.MANAGE, *([Scope.HISTORY] if READ.get(route) == AccessAction.HISTORY_READ else [])}
        method, path = path_of(route, reminder, siti)
        body = obat if CHANGE.get(route) == "obat" else CHANGE.get(route)
        with undone():
            response = theirs.open(method, path, body)
            wrong[route] = wrong_with(response, siti, route, is_open=bool(needed & IDENTITIES[identity]))
    assert_none(
        (f"{route} {fault}" for route, fault in wrong.items() if fault), f"What a caregiver ({identity}) is answered:"
    )


def test_a_refusal_is_the_same_for_existing_and_unknown_patients(linked_as, siti):
    theirs = linked_as("alerts")
    for method, path, body in (("GET", "/pengingat", None), ("PUT", "/pengingat/1", {"judul": "x"})):
        answers = []
        for patient_id in (siti.id, 999999999):
            answer = theirs.open(method, f"{path}?patient_id={patient_id}", body)
            assert_error(answer, 404)
            answers.append({**answer.json, "request_id": ""})
        assert answers[0] == answers[1]


def test_a_caller_with_their_own_patient_id_is_not_logged_as_a_caregiver(client, reminder, siti):
    assert siti.get(f"/pengingat?patient_id={siti.id}").json == siti.get("/pengingat").json
    assert noted(siti) == []


def test_a_request_with_a_patient_id_is_about_reminders_of_this_patient_only(client, moment, linked_as, siti, obat):
    others = client.as_(make_user()).post("/pengingat/obat", obat).json["id"]
    theirs = linked_as("manage")
    made = theirs.post(f"/pengingat/obat?patient_id={siti.id}", obat).ok(201)
    assert [row["id"] for row in siti.get("/pengingat").json] == [made["id"]]
    assert theirs.get("/pengingat").json == []
    assert theirs.get(f"/pengingat/{made['id']}").status_code == 404
    for method, body in (("GET", None), ("PUT", {"judul": "x"}), ("DELETE", None)):
        assert_error(theirs.open(method, f"/pengingat/{others}?patient_id={siti.id}", body), 404)


@pytest.mark.parametrize("way", ["konfirmasi", "is_done"])
def test_the_ledger_records_that_a_caregiver_answered(linked_as, reminder, siti, way):
    theirs, query = linked_as("manage"), f"?patient_id={siti.id}"
    if way == "konfirmasi":
        answer = theirs.post(f"/pengingat/{reminder}/konfirmasi{query}", {"status": "done"})
        assert answer.json["answered_via"] == "caregiver"
    else:
        assert theirs.put(f"/pengingat/{reminder}{query}", {"is_done": True}).status_code == 200
    first = sa.select(Occurrence.state, Occurrence.answered_via).order_by(Occurrence.due_at).limit(1)
    assert tuple(db.session.execute(first).one()) == ("done", "caregiver")


def test_the_access_log_names_the_caregiver_of_each_read_but_no_failed_request(linked_as, reminder, siti):
    theirs = linked_as("manage")
    assert_error(theirs.put(f"/pengingat/{reminder}?patient_id={siti.id}", {"timezone": "Mars"}), 400)
    assert_error(theirs.get(f"/pengingat/999999?patient_id={siti.id}"), 404)
    for _ in range(2):
        theirs.get(f"/pengingat/kepatuhan?patient_id={siti.id}")
    query = sa.select(AccessLogEntry.action, User.nama_ktp).join(User, User.id == AccessLogEntry.actor_id)
    assert [tuple(row) for row in db.session.execute(query)] == [("history_read", "Budi Santoso")] * 2


def test_a_stored_idempotent_response_needs_the_permission_for_its_own_patient(client, moment, linked_as, siti, obat):
    theirs = linked_as("manage")
    path, key = f"/pengingat/obat?patient_id={siti.id}", {"Idempotency-Key": "kunci-sekali"}
    first = theirs.post(path, obat, headers=key)
    other, by = make_user(), db.session.scalars(sa.select(CaregiverLink.caregiver_id)).one()
    theirs.post("/caregiver/patients", {"patient_id": other.id})
    for scopes in (["history"], []):
        assert client.as_(other).put(f"/patient/caregivers/{by}", {"scopes": scopes}).status_code == 200
    client.as_(other).delete(f"/caregiver/patients/{by}")
    again = theirs.post(path, obat, headers=key)
    assert (again.status_code, again.json, again.headers["Idempotency-Replayed"]) == (201, first.json, "true")
    for cut in (
        lambda: siti.delete(f"/caregiver/patients/{by}"),
        lambda: siti.put(f"/patient/caregivers/{by}", {"scopes": ["alerts", "history"]}),
    ):
        with undone():
            assert cut().status_code == 200
            assert_error(theirs.post(path, obat, headers=key), 404, "not_found")
            assert len(siti.get("/pengingat").json) == 1
