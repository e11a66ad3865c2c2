"""Somebody wants everything of theirs gone, and for seven days a login takes it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import erasure
from app.identity.models import LoginSession, PasswordReset, RoleName, User
from app.notifications.models import Delivery, State
from app.pengingat import jobs as pengingat_jobs
from app.pengingat.models import Occurrence
from app.pengingat.models import State as DoseState
from app.personal_data import jobs
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_superadmin, make_user
from tests.personal_data.leaving import OBAT, PERSON, leave, let_the_grace_pass, log_in

# --- asking -----------------------------------------------------------------------------------------------------------


def test_it_is_asked_for_with_the_password_and_takes_seven_days(mine: Client, siti: User) -> None:
    siti_id = siti.id
    told = leave(mine)
    due = datetime.fromisoformat(told["due_at"])
    assert timedelta(days=6, hours=23) < due - datetime.now(UTC) <= erasure.GRACE
    assert_error(mine.get("/profile"), 401, "session_ended")
    assert db.session.scalar(sa.select(sa.func.count()).where(LoginSession.user_id == siti_id)) == 0
    jobs.erase(siti_id)
    assert db.session.get(User, siti_id) is not None, "nothing is erased before it is due"


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({"password": "salah-sekali", "forum": "delete"}, "wrong_current_password", None),
        ({"forum": "delete"}, "validation_error", "password"),
        ({"password": PASSWORD}, "validation_error", "forum"),
        ({"password": PASSWORD, "forum": "keep"}, "validation_error", "forum"),
        ({}, "validation_error", "password"),
    ],
)
def test_what_is_not_asked_for_rightly_is_refused(mine: Client, body: dict[str, str], code: str, field: str) -> None:
    assert_error(mine.delete("/profile", body), 400, code, field)
    assert mine.get("/profile").status_code == 200


def test_it_takes_a_token(client: Client) -> None:
    assert_error(client.delete("/profile", {"password": PASSWORD, "forum": "delete"}), 401)


@pytest.mark.parametrize("make", [make_admin, make_superadmin])
def test_the_last_administrator_and_the_last_superadmin_stay(client: Client, make: object) -> None:
    last = client.as_(make())
    assert_error(last.delete("/profile", {"password": PASSWORD, "forum": "delete"}), 409, "last_admin")
    another = client.as_(make())
    assert leave(another)
    # Who waits for the end does not count as one who is left.
    assert_error(last.delete("/profile", {"password": PASSWORD, "forum": "delete"}), 409, "last_admin")


# --- the seven days ---------------------------------------------------------------------------------------------------


def test_a_login_takes_it_back_and_says_so_once(mine: Client, siti: User) -> None:
    siti_id = siti.id
    leave(mine)
    response = log_in(mine)
    assert response.status_code == 200
    assert response.json["message"] == "Penghapusan akun Anda dibatalkan. Akun Anda tetap ada."
    assert mine.with_token(response.json["access_token"]).get("/profile").status_code == 200
    assert "message" not in log_in(mine).json
    let_nobody = sa.select(User.erasure_due_at, User.erasure_posts).where(User.id == siti_id)
    assert db.session.execute(let_nobody).one() == (None, None)


def test_the_login_of_a_superadmin_takes_it_back_and_says_so_too(client: Client) -> None:
    make_superadmin()
    leave(client.as_(make_superadmin(username="bos")))
    texts = [client.post("/superadmin/login", {"username": "bos", "password": PASSWORD}).json["message"] for _ in "12"]
    assert texts == ["Penghapusan akun Anda dibatalkan. Akun Anda tetap ada.", "Berhasil masuk sebagai superadmin."]


def test_a_login_that_comes_too_late_finds_nobody(mine: Client, siti: User) -> None:
    siti_id = siti.id
    leave(mine)
    let_the_grace_pass(siti_id)
    assert_error(log_in(mine), 401, "wrong_credentials")


def test_a_wrong_password_takes_nothing_back(mine: Client, siti: User) -> None:
    siti_id = siti.id
    leave(mine)
    assert_error(mine.post("/login", {"username": PERSON["username"], "password": "salah-sekali"}), 401)
    assert db.session.get_one(User, siti_id).erasure_due_at is not None


def test_who_waits_is_in_no_list_but_the_administrators(mine: Client, client: Client, siti: User) -> None:
    budi = client.as_(make_user(RoleName.PENDAMPING))
    assert budi.post("/caregiver/patients", {"patient_id": siti.id}).status_code == 201
    siti_id = siti.id
    leave(mine)
    assert siti_id not in [row["id"] for row in budi.get("/patients").json]
    assert budi.get("/caregiver/patients").json == []
    row = next(row for row in client.as_(make_admin()).get("/admins/users").json if row["id"] == siti_id)
    assert row["erasure_due_at"] is not None
    log_in(mine)
    assert siti_id in [row["id"] for row in budi.get("/patients").json]
    assert [row["id"] for row in budi.get("/caregiver/patients").json] == [siti_id]


def test_nothing_is_sent_meanwhile_and_reminders_go_on_after_it_is_taken_back(mine: Client, siti: User) -> None:
    assert mine.post("/pengingat/obat", OBAT).status_code == 201
    siti_id = siti.id

    def states() -> set[str]:
        return set(db.session.scalars(sa.select(Delivery.state).where(Delivery.user_id == siti_id)))

    def doses() -> set[str]:
        return set(db.session.scalars(sa.select(Occurrence.state).where(Occurrence.user_id == siti_id)))

    assert states() == {State.PENDING}
    leave(mine)
    assert states() == {State.CANCELLED}
    assert doses() == {DoseState.VOID}
    pengingat_jobs.top_up()
    assert states() == {State.CANCELLED}, "the clock plans nothing for who waits"
    log_in(mine)
    pengingat_jobs.top_up()
    assert states() == {State.PENDING}
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


def test_a_reset_of_the_password_still_comes(mine: Client, siti: User) -> None:
    siti_id = siti.id
    leave(mine)
    mine.get(f"/send-verification-code?phone={PERSON['nomor_hp']}")
    assert db.session.scalar(sa.select(sa.func.count()).where(PasswordReset.user_id == siti_id)) == 1
