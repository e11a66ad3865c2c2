"""Tests of the request for an erasure. A login within seven days cancels the request."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import PasswordReset, RoleName, User
from app.notifications.models import Delivery, DeliveryState
from app.pengingat import jobs as pengingat_jobs
from app.pengingat.models import Occurrence
from app.pengingat.models import OccurrenceState as DoseState
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.personal_data.leaving import OBAT, PERSON, leave, let_the_grace_pass, log_in


def test_a_login_takes_it_back_and_says_so_once(mine: Client) -> None:
    leave(mine)
    response = log_in(mine)
    assert response.status_code == 200
    assert response.json["message"] == "Penghapusan akun Anda dibatalkan. Akun Anda tetap ada."
    assert mine.with_token(response.json["access_token"]).get("/profile").status_code == 200
    assert "message" not in log_in(mine).json
    let_nobody = sa.select(User.erasure_due_at, User.erasure_posts).where(User.id == mine.id)
    assert db.session.execute(let_nobody).one() == (None, None)


def test_the_login_of_a_superadmin_takes_it_back_and_says_so_too(client: Client) -> None:
    make_superadmin()
    leave(client.as_(make_superadmin(username="bos")))
    texts = [client.post("/superadmin/login", {"username": "bos", "password": PASSWORD}).json["message"] for _ in "12"]
    assert texts == ["Penghapusan akun Anda dibatalkan. Akun Anda tetap ada.", "Berhasil masuk sebagai superadmin."]


def test_a_login_that_comes_too_late_finds_nobody(mine: Client) -> None:
    leave(mine)
    let_the_grace_pass(mine.id)
    assert_error(log_in(mine), 401, "wrong_credentials")


def test_a_wrong_password_takes_nothing_back(mine: Client) -> None:
    leave(mine)
    assert_error(mine.post("/login", {"username": PERSON["username"], "password": "salah-sekali"}), 401)
    assert db.session.get_one(User, mine.id).erasure_due_at is not None


def test_who_waits_is_in_no_list_but_the_administrators(mine: Client, client: Client) -> None:
    budi = client.as_(make_user(RoleName.PENDAMPING))
    assert budi.post("/caregiver/patients", {"patient_id": mine.id}).status_code == 201
    leave(mine)
    assert mine.id not in [row["id"] for row in budi.get("/patients").json]
    assert budi.get("/caregiver/patients").json == []
    row = next(row for row in client.as_(make_admin()).get("/admins/users").json if row["id"] == mine.id)
    assert row["erasure_due_at"] is not None
    log_in(mine)
    assert mine.id in [row["id"] for row in budi.get("/patients").json]
    assert [row["id"] for row in budi.get("/caregiver/patients").json] == [mine.id]


def test_nothing_is_sent_meanwhile_and_reminders_go_on_after_it_is_taken_back(mine: Client) -> None:
    assert mine.post("/pengingat/obat", OBAT).status_code == 201

    def states() -> set[str]:
        return set(db.session.scalars(sa.select(Delivery.state).where(Delivery.user_id == mine.id)))

    def doses() -> set[str]:
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


@pytest.mark.parametrize("how", ["leaves", "is deleted"])
def test_a_caregiver_is_not_answered_again_with_a_reminder_of_theirs(client: Client, how: str) -> None:
    rina = make_user(RoleName.PASIEN, RoleName.ADMIN, **PERSON)
    theirs, boss = client.as_(rina), client.as_(make_admin())
    budi = client.as_(make_user(RoleName.PENDAMPING))
    code = theirs.post("/patient/invitations", {"scopes": ["manage"]}).json["code"]
    assert budi.post("/caregiver/invitations", {"code": code}).status_code == 201
    path, key = f"/pengingat/obat?patient_id={rina.id}", {"Idempotency-Key": "kunci-sekali"}
    assert budi.post(path, OBAT, headers=key).status_code == 201
    if how == "leaves":
        leave(theirs)
    else:
        assert boss.delete(f"/admins/{rina.id}").status_code == 200
    assert_error(budi.post(path, OBAT, headers=key), 404, "not_found")


def test_a_reset_of_the_password_still_comes(mine: Client) -> None:
    leave(mine)
    mine.get(f"/send-verification-code?phone={PERSON['nomor_hp']}")
    assert db.session.scalar(sa.select(sa.func.count()).where(PasswordReset.user_id == mine.id)) == 1
