"""Tests of the seven days before an erasure. The person is in no list, and the person's posts stay."""

from app.identity.models import RoleName
from tests.forum.posts import write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.personal_data.leaving import PERSON, leave, log_in


def test_posts_do_not_change_during_the_grace_period(client, mine, budi):
    thread_id = write_thread(mine, title="Rawatanku")["id"]
    theirs = write_thread(budi)["id"]
    write_reply(mine, theirs, use_pseudonym=True)
    paths = ("/forum/threads", "/forum/threads?q=Rawatanku", f"/forum/threads/{thread_id}", f"/forum/threads/{theirs}")
    before = [budi.get(path).json for path in paths]
    assert PERSON["nama_ktp"] in str(before)
    leave(mine)
    assert [budi.get(path).json for path in paths] == before


def test_a_patient_in_the_grace_period_cannot_be_found_or_linked(client, mine, budi):
    code = mine.post("/patient/invitations", {"scopes": ["manage"]}).json["code"]
    other = client.as_(make_user(RoleName.PENDAMPING, nama_ktp="Rina"))
    assert other.post("/caregiver/patients", {"patient_id": mine.id}).status_code == 201
    lists = (budi, "/patients"), (budi, "/patients?q=Jejak"), (other, "/caregiver/patients")
    assert all(mine.id in [row["id"] for row in who.get(path).json] for who, path in lists)
    leave(mine)
    assert not any(mine.id in [row["id"] for row in who.get(path).json] for who, path in lists)
    assert_error(budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")
    assert_error(budi.get(f"/users/{mine.id}/roles"), 403, "forbidden")
    nobody = 987_654
    answers = [budi.post("/caregiver/patients", {"patient_id": patient_id}) for patient_id in (mine.id, nobody)]
    assert answers[0].status_code == answers[1].status_code == 404
    assert answers[0].json["message"] == answers[1].json["message"]
    for path in (f"/pengingat/riwayat?patient_id={mine.id}", f"/pengingat?patient_id={mine.id}"):
        assert_error(other.get(path), 404, "not_found")
    assert log_in(mine).status_code == 200
    assert all(mine.id in [row["id"] for row in who.get(path).json] for who, path in lists)
    assert_error(budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")  # it ended with its session


def test_a_caregiver_in_the_grace_period_is_in_no_list(client):
    mine = client.as_(make_user(RoleName.PENDAMPING, **PERSON))
    ani = make_user(nama_ktp="Ani")
    patient = client.as_(ani)
    assert mine.post("/caregiver/patients", {"patient_id": ani.id}).status_code == 201
    lists = "/caregivers", "/caregivers?q=Jejak", "/patient/caregivers"
    assert all(mine.id in [row["id"] for row in patient.get(path).json] for path in lists)
    leave(mine)
    assert not any(mine.id in [row["id"] for row in patient.get(path).json] for path in lists)
    assert log_in(mine).status_code == 200
    assert all(mine.id in [row["id"] for row in patient.get(path).json] for path in lists)
