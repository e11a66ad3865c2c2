"""Tests of the request for an erasure. A login within seven days cancels the request."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import RoleName, User
from app.notifications.models import Delivery, DeliveryState
from app.pengingat import jobs as pengingat_jobs
from app.pengingat.models import Occurrence
from app.pengingat.models import OccurrenceState as DoseState
from tests.accounts.resets import ask as ask_for_reset
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.personal_data.leaving import OBAT, PERSON, leave, let_the_grace_pass, log_in


def test_a_login_cancels_the_erasure_and_says_so_once(mine):
    leave(mine)
    body = log_in(mine).ok()
    assert body["message"] == "Penghapusan akun Anda dibatalkan. Akun Anda tetap ada."
    assert mine.with_token(body["access_token"]).get("/profile").status_code == 200
    assert "message" not in log_in(mine).json
    let_nobody = sa.select(User.erasure_due_at, User.erasure_posts).where(User.id == mine.id)
    assert db.session.execute(let_nobody).one() == (None, None)


def test_a_superadmin_login_cancels_the_erasure_and_says_so_once(client):
    make_superadmin()
    leave(client.as_(make_superadmin(username="bos")))
    texts = [client.post("/superadmin/login", {"username": "bos", "password": PASSWORD}).json["message"] for _ in "12"]
    assert texts == ["Penghapusan akun Anda dibatalkan. Akun Anda tetap ada.", "Berhasil masuk sebagai superadmin."]


def test_a_login_after_the_grace_period_is_refused(mine):
    leave(mine)
    let_the_grace_pass(mine.id)
    assert_error(log_in(mine), 401, "wrong_credentials")


def test_a_login_with_a_wrong_password_does_not_cancel_the_erasure(mine):
    leave(mine)
    assert_error(mine.post("/login", {"username": PERSON["username"], "password": "salah-sekali"}), 401)
    assert db.session.get_one(User, mine.id).erasure_due_at is not None


def test_administrators_still_list_the_person_in_the_grace_period(mine, client):
    leave(mine)
    row = next(row for row in client.as_(make_admin()).get("/admins/users").json if row["id"] == mine.id)
    assert row["erasure_due_at"] is not None


def test_reminders_stop_in_the_grace_period_and_resume_after_a_login(mine):
    assert mine.post("/pengingat/obat", OBAT).status_code == 201

    def states():
        return set(db.session.scalars(sa.select(Delivery.state).where(Delivery.user_id == mine.id)))

    def doses():
        return set(db.session.scalars(sa.select(Occurrence.state).where(Occurrence.user_id == mine.id)))

    assert states() == {DeliveryState.PENDING}
    leave(mine)
    assert states() == {DeliveryState.CANCELLED}
    assert doses() == {DoseState.VOID}
    pengingat_jobs.top_up()
    assert states() == {DeliveryState.CANCELLED}, "the scheduler plans nothing for a person whose erasure is pending"
    log_in(mine)
    pengingat_jobs.top_up()
    assert states() == {DeliveryState.PENDING}
    assert doses() == {DoseState.PENDING}


def test_a_caregivers_retry_after_the_erasure_request_is_404(client):
    rina = make_user(RoleName.PASIEN, **PERSON)
    theirs = client.as_(rina)
    budi = client.as_(make_user(RoleName.PENDAMPING))
    code = theirs.post("/patient/invitations", {"scopes": ["manage"]}).json["code"]
    assert budi.post("/caregiver/invitations", {"code": code}).status_code == 201
    path, key = f"/pengingat/obat?patient_id={rina.id}", {"Idempotency-Key": "kunci-sekali"}
    assert budi.post(path, OBAT, headers=key).status_code == 201
    leave(theirs)
    assert_error(budi.post(path, OBAT, headers=key), 404, "not_found")


def test_a_password_reset_works_in_the_grace_period(client, mine):
    leave(mine)
    assert ask_for_reset(client, PERSON["nomor_hp"])
