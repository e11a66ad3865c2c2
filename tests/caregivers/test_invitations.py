"""Invitations: a code and a link that a patient gives to somebody."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.caregivers import invitations, jobs
from app.caregivers.models import Invitation
from app.core.database.session import db, unit_of_work
from app.core.errors import NotFound
from app.identity import care, sessions
from app.identity.care import Scope
from app.identity.models import RoleName, User
from tests.caregivers.conftest import PATH, invite
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user, signed_in
from tests.helpers.language import assert_readable
from tests.helpers.overlap import done_twice_at_once

ADDRESS = "https://sehat.example.org"


@pytest.fixture
def public(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], public_url=ADDRESS))


def expire() -> None:
    db.session.execute(sa.update(Invitation).values(expires_at=sa.func.now() - timedelta(seconds=1)))


def test_an_invitation_has_a_code_and_a_link(as_siti: Client, public: None) -> None:
    invitation = invite(as_siti, "history", "alerts")
    assert set(invitation) == {"id", "code", "link", "scopes", "expires_at"}
    assert re.fullmatch("[2-9A-HJKMNP-Z]{10}", invitation["code"])
    assert invitation["link"] == f"{ADDRESS}/undangan/{invitation['code']}"
    assert invitation["scopes"] == ["alerts", "history"]
    lifetime = db.session.scalars(sa.select(Invitation.expires_at - Invitation.created_at)).one()
    assert abs(lifetime - timedelta(days=7)) < timedelta(minutes=1)


def test_without_an_address_there_is_no_link(as_siti: Client) -> None:
    assert invite(as_siti)["link"] is None


def test_the_code_is_kept_as_a_hash_alone(as_siti: Client) -> None:
    code = invite(as_siti)["code"]
    assert code not in str(db.session.execute(sa.select(Invitation.__table__)).all())


def test_whoever_has_the_code_becomes_a_caregiver(as_siti: Client, as_budi: Client, budi: User, siti: User) -> None:
    code = invite(as_siti, "alerts", "history")["code"]
    response = as_budi.post("/caregiver/invitations", {"code": code})
    assert response.status_code == 201
    assert set(response.json) == {"id", "caregiver_id", "patient_id", "created_at", "scopes"}
    assert (response.json["caregiver_id"], response.json["patient_id"]) == (budi.id, siti.id)
    assert response.json["scopes"] == ["alerts", "history"]
    assert as_siti.get("/patient/caregivers").json[0]["scopes"] == ["alerts", "history"]
    assert not care.allows(budi.id, siti.id, Scope.MANAGE)


def test_a_code_may_be_typed_in_small_letters_and_in_groups(as_siti: Client, as_budi: Client) -> None:
    code = invite(as_siti)["code"].lower()
    typed = f" {code[:5]}-{code[5:]} "
    assert as_budi.post("/caregiver/invitations", {"code": typed}).status_code == 201


def test_an_invitation_works_once(client: Client, as_siti: Client, as_budi: Client) -> None:
    code = invite(as_siti, "manage")["code"]
    assert as_budi.post("/caregiver/invitations", {"code": code}).status_code == 201
    ani = client.as_(make_user(RoleName.PENDAMPING))
    for late in (ani, as_budi):
        assert_error(late.post("/caregiver/invitations", {"code": code}), 404, "not_found")
    assert len(as_siti.get("/patient/caregivers").json) == 1


def test_an_invitation_adds_to_what_a_link_allows(as_siti: Client, as_budi: Client, budi: User, siti: User) -> None:
    as_budi.post("/caregiver/patients", {"patient_id": siti.id})
    as_siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["manage"]})
    response = as_budi.post("/caregiver/invitations", {"code": invite(as_siti, "alerts")["code"]})
    assert (response.status_code, response.json["scopes"]) == (200, ["alerts", "manage"])


def test_an_invitation_lives_seven_days(client: Client, as_siti: Client, as_budi: Client) -> None:
    code = invite(as_siti)["code"]
    expire()
    assert_error(as_budi.post("/caregiver/invitations", {"code": code}), 404)
    assert client.get(f"/undangan/{code}").status_code == 404
    assert as_siti.get(PATH).json == []
    db.session.commit()
    jobs.forget_expired()
    assert db.session.scalars(sa.select(Invitation.id)).all() == []


def test_a_patient_sees_and_deletes_what_is_open(client: Client, as_siti: Client, as_budi: Client) -> None:
    first, second = invite(as_siti), invite(as_siti, "history")
    rows = as_siti.get(PATH).json
    assert rows == [{name: each[name] for name in ("id", "scopes", "expires_at")} for each in (second, first)]
    assert as_siti.delete(f"{PATH}/{first['id']}").status_code == 204
    assert_error(as_siti.delete(f"{PATH}/{first['id']}"), 404)
    assert_error(as_budi.post("/caregiver/invitations", {"code": first["code"]}), 404)
    as_budi.post("/caregiver/invitations", {"code": second["code"]})
    assert as_siti.get(PATH).json == []


def test_an_invitation_ends_with_the_session_that_made_it(
    client: Client, as_siti: Client, as_budi: Client, siti: User
) -> None:
    """A thief of the session invites themselves, to read on after they were signed out."""
    stolen = client.as_(siti)
    own, thiefs = invite(as_siti, "history"), invite(stolen, "history", "manage")
    assert stolen.post("/logout").status_code == 200
    assert_error(as_budi.post("/caregiver/invitations", {"code": thiefs["code"]}), 404, "not_found")
    assert client.get(f"/undangan/{thiefs['code']}").status_code == 404
    assert [row["id"] for row in as_siti.get(PATH).json] == [own["id"]]
    assert as_budi.post("/caregiver/invitations", {"code": own["code"]}).status_code == 201


@pytest.mark.parametrize("way", ["password", "sign out"])
def test_invitations_of_others_end_when_all_other_sessions_end(
    client: Client, as_siti: Client, siti: User, way: str
) -> None:
    own, _ = invite(as_siti), invite(client.as_(siti))
    if way == "password":
        assert as_siti.put("/profile", {"password": "baru-sekali"}).status_code == 200
    else:
        assert as_siti.delete("/profile/sesi").status_code == 200
    assert [row["id"] for row in as_siti.get(PATH).json] == [own["id"]]


def test_anothers_invitation_is_none(client: Client, as_siti: Client, as_budi: Client) -> None:
    invitation = invite(as_siti)
    for stranger in (as_budi, client.as_(make_user())):
        assert stranger.get(PATH).json == []
        assert_error(stranger.delete(f"{PATH}/{invitation['id']}"), 404)
    assert len(as_siti.get(PATH).json) == 1


def test_nobody_invites_themselves(client: Client) -> None:
    both = client.as_(make_user(RoleName.PENDAMPING, RoleName.PASIEN))
    code = invite(both)["code"]
    assert_error(both.post("/caregiver/invitations", {"code": code}), 400, "same_person")
    assert len(both.get(PATH).json) == 1


def test_the_roles_are_those_of_a_link(as_siti: Client, as_budi: Client) -> None:
    assert_error(as_budi.post(PATH, {"scopes": []}), 403, "forbidden")
    assert_error(as_siti.post("/caregiver/invitations", {"code": "K7MP4WQX9R"}), 403, "forbidden")


@pytest.mark.parametrize("body", [{}, {"scopes": None}, {"scopes": "manage"}, {"scopes": ["all"]}])
def test_a_wrong_scope_is_bad_input(as_siti: Client, body: dict[str, Any]) -> None:
    assert_error(as_siti.post(PATH, body), 400, "validation_error", "scopes")


@pytest.mark.parametrize("body", [{}, {"code": None}, {"code": ""}, {"code": "x" * 21}, {"code": 7}])
def test_a_wrong_code_is_bad_input(as_budi: Client, body: dict[str, Any]) -> None:
    assert_error(as_budi.post("/caregiver/invitations", body), 400, "validation_error", "code")


def test_a_list_costs_the_same_however_long(as_siti: Client, statements: Any) -> None:
    for _ in range(12):
        invite(as_siti)
    with statements.at_most(3):  # the session, the page, the count
        assert len(as_siti.get(f"{PATH}?per_page=10").json) == 10


# --- guessing -------------------------------------------------------------------------------------------------------


def test_a_thousand_guesses_are_stopped_after_ten(as_siti: Client, as_budi: Client, limited: None) -> None:
    """And with them the right one, which comes too late."""
    code = invite(as_siti)["code"]
    statuses = [as_budi.post("/caregiver/invitations", {"code": f"X{n:09d}"}).status_code for n in range(1000)]
    assert statuses == [404] * 10 + [429] * 990
    assert as_budi.post("/caregiver/invitations", {"code": code}).status_code == 429


def test_a_thousand_looks_at_the_page_are_stopped(client: Client, limited: None) -> None:
    statuses = [client.get(f"/undangan/X{n:09d}").status_code for n in range(1000)]
    assert statuses == [404] * 60 + [429] * 940


# --- the page -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scopes", [(), ("alerts",), ("alerts", "history", "manage")])
def test_the_page_says_what_it_is_and_names_nobody(client: Client, as_siti: Client, scopes: tuple[str, ...]) -> None:
    code = invite(as_siti, *scopes)["code"]
    response = client.get(f"/undangan/{code}")
    assert response.status_code == 200
    assert code in response.text
    assert response.text.count("<li>") == len(scopes) + 3
    for word in ("Siti", "Aminah", "siti", "<script", "src="):
        assert word not in response.text
    for paragraph in re.findall(r"<(?:p|li)[^>]*>([^<]+)", response.text):
        assert_readable(paragraph)
    assert len(response.get_data()) < 6000


@pytest.mark.parametrize("is_known", [True, False])
def test_the_page_is_kept_nowhere_and_runs_nothing(client: Client, as_siti: Client, is_known: bool) -> None:
    code = invite(as_siti)["code"] if is_known else "K7MP4WQX9R"
    headers = client.get(f"/undangan/{code}").headers
    assert headers["Cache-Control"] == "no-store"
    assert "noindex" in headers["X-Robots-Tag"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "script-src" not in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")


def test_previews_use_nothing_up(client: Client, as_siti: Client, as_budi: Client) -> None:
    code = invite(as_siti)["code"]
    for _ in range(20):
        assert client.get(f"/undangan/{code}").status_code == 200
    assert as_budi.post("/caregiver/invitations", {"code": code}).status_code == 201
    gone = client.get(f"/undangan/{code}")
    assert (gone.status_code, "sudah dipakai" in gone.text) == (404, True)


def test_a_code_that_nobody_has_is_shown_to_nobody(client: Client) -> None:
    response = client.get("/undangan/%3Cscript%3E")
    assert response.status_code == 404
    assert "script" not in response.text


# --- races ----------------------------------------------------------------------------------------------------------


def _people(*roles: RoleName) -> list[int]:
    with unit_of_work():
        return [make_user(role).id for role in roles]


def test_of_two_who_take_an_invitation_at_once_one_gets_it(committed: Flask) -> None:
    siti_id, *caregivers = _people(RoleName.PASIEN, RoleName.PENDAMPING, RoleName.PENDAMPING)
    caller = signed_in(siti_id).ask()
    with unit_of_work():
        code = invitations.create(caller, ["manage"])["code"]
    left = list(caregivers)
    second = done_twice_at_once(committed, lambda: invitations.redeem(left.pop(), code))
    with pytest.raises(NotFound):
        second.result()
    assert db.session.scalars(sa.select(care.CaregiverLink.caregiver_id)).all() == [caregivers[1]]


def test_of_many_who_take_an_invitation_at_once_one_gets_it(committed: Flask) -> None:
    siti_id, *caregivers = _people(RoleName.PASIEN, *[RoleName.PENDAMPING] * 6)
    caller = signed_in(siti_id).ask()
    with unit_of_work():
        code = invitations.create(caller, ["history"])["code"]
    with unit_of_work():
        tokens = [sessions.begin(db.session.get_one(User, user_id)).access_token for user_id in caregivers]

    def take(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return (
            committed.test_client().post("/api/caregiver/invitations", json={"code": code}, headers=headers).status_code
        )

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(take, tokens)) == [201] + [404] * 5
    with unit_of_work():
        assert db.session.scalar(sa.select(sa.func.count()).select_from(care.CaregiverLink)) == 1


def test_while_the_patient_is_leaving_nobody_takes_an_invitation(
    client: Client, as_siti: Client, as_budi: Client, siti: User
) -> None:
    code = invite(as_siti, "history")["code"]
    assert as_siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    assert_error(as_budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")
    assert client.get(f"/undangan/{code}").status_code == 404
    assert client.post("/login", {"username": "siti", "password": PASSWORD}).status_code == 200
    assert_error(as_budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")


def test_while_the_patient_is_leaving_a_caregiver_reads_nothing(as_siti: Client, as_budi: Client, siti: User) -> None:
    code = invite(as_siti, "history", "manage")["code"]
    assert as_budi.post("/caregiver/invitations", {"code": code}).status_code == 201
    paths = (f"/caregiver/patients/{siti.id}/riwayat", f"/pengingat?patient_id={siti.id}")
    assert [as_budi.get(path).status_code for path in paths] == [200, 200]
    assert as_siti.delete("/profile", {"password": PASSWORD, "forum": "delete"}).status_code == 202
    for path in paths:
        assert_error(as_budi.get(path), 404, "not_found")
