"""Tests of handovers. A dependent (a person without a phone) takes over the account that a caregiver managed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import service as accounts
from app.caregivers import dependents, jobs
from app.core.database.session import db, unit_of_work
from app.core.errors import NotFound, ValidationFailed
from app.identity.care import CaregiverLink
from app.identity.dependents import Handover
from app.identity.models import LoginSession, RoleName, User
from app.notifications.models import Delivery
from app.personal_data import service as personal_data
from tests.caregivers.dependents import PATH, REGISTRATION, hand_over, keep, take_over
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user, signed_in
from tests.helpers.overlap import done_twice_at_once, run_together
from tests.notifications.deliveries import words_of
from tests.personal_data.leaving import OBAT


@pytest.fixture
def ibu(budi: Client) -> int:
    """Create Budi's mother, a dependent. Return her id."""
    return keep(budi)


def expire(days: int = 0) -> None:
    db.session.execute(sa.update(Handover).values(expires_at=sa.func.now() - timedelta(days=days, seconds=1)))


def scopes_of(patient_id: int) -> list[str]:
    db.session.expire_all()
    return db.session.scalars(sa.select(CaregiverLink).filter_by(patient_id=patient_id)).one().scopes


def told(user_id: int) -> list[str]:
    rows = db.session.scalars(sa.select(Delivery).filter_by(user_id=user_id, channel="messaging"))
    return [str(words_of(row)["text"]) for row in rows if row.payload.get("event") == "handed_over"]


class TestCodes:
    def test_a_code_has_a_link_and_expires_after_seven_days(
        self, app: Flask, budi: Client, ibu: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        config = replace(app.extensions["config"], public_url="https://sehat.example.org")
        monkeypatch.setitem(app.extensions, "config", config)
        response = budi.post(f"{PATH}/{ibu}/handover")
        assert response.status_code == 201
        assert response.json.keys() == {"code", "link", "expires_at"}
        assert response.json["link"] == f"https://sehat.example.org/undangan/{response.json['code']}"
        left = db.session.scalar(sa.select(Handover.expires_at - sa.func.clock_timestamp()))
        assert left is not None
        assert timedelta(days=7, minutes=-1) < left < timedelta(days=7)

    def test_only_the_hash_of_the_code_is_stored(self, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        assert code not in str(db.session.execute(sa.select(Handover.__table__)).all())

    def test_a_new_code_ends_the_older_one(self, client: Client, budi: Client, ibu: int) -> None:
        old, new = hand_over(budi, ibu), hand_over(budi, ibu)
        refused = client.post("/register", {**REGISTRATION, "handover_code": old})
        assert_error(refused, 400, "validation_error", "handover_code")
        assert take_over(client, new).id == ibu

    def test_a_caregiver_revokes_the_code(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        assert budi.delete(f"{PATH}/{ibu}/handover").status_code == 204
        assert_error(budi.delete(f"{PATH}/{ibu}/handover"), 404, "not_found")
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")

    def test_an_expired_code_is_not_found_and_is_deleted_later(self, client: Client, budi: Client, ibu: int) -> None:
        hand_over(budi, ibu)
        expire()
        assert_error(budi.delete(f"{PATH}/{ibu}/handover"), 404, "not_found")
        code = hand_over(budi, ibu)
        expire()
        db.session.commit()
        jobs.delete_expired()
        assert client.get(f"/undangan/{code}").status_code == 410
        expire(days=8)
        db.session.commit()
        jobs.delete_expired()
        assert db.session.scalars(sa.select(Handover.user_id)).all() == []

    def test_logging_out_revokes_the_codes_of_the_session(self, client: Client, budi: Client, ibu: int) -> None:
        """If the codes stayed valid, a thief with a stolen session could create a code.

        The thief could then take the account after the session ends.
        """
        stolen = client.as_(budi.user)
        code = hand_over(stolen, ibu)
        assert stolen.post("/logout").status_code == 200
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")

    def test_a_code_of_an_expired_session_is_refused(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        db.session.execute(sa.update(LoginSession).filter_by(user_id=budi.id).values(expires_at=sa.func.now()))
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")

    def test_deleting_a_dependent_revokes_the_code_for_good(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        assert budi.delete(f"{PATH}/{ibu}").status_code == 202
        assert_error(budi.post(f"{PATH}/{ibu}/handover"), 404)
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")
        assert budi.post(f"{PATH}/{ibu}/undelete").status_code == 200
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")


class TestPage:
    def test_the_page_shows_no_name_and_does_not_use_up_the_code(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        page = [client.get(f"/undangan/{code}") for _ in range(2)][1]
        assert page.status_code == 200
        assert code in page.text
        assert not any(name in page.text for name in ("Siti", "Budi", "Hartono"))
        assert page.headers["X-Robots-Tag"].startswith("noindex")
        assert take_over(client, code).id == ibu
        assert client.get(f"/undangan/{code}").status_code == 404


class TestRegistering:
    def test_registering_with_a_code_takes_over_the_account_and_its_data(
        self, client: Client, budi: Client, ibu: int
    ) -> None:
        reminder = budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).json["id"]
        siti = take_over(client, hand_over(budi, ibu), nik="3273014502900001", domicile="bali")
        profile = siti.get("/profile").json
        assert (profile["id"], profile["username"], profile["nama_ktp"]) == (ibu, "ibusiti", "Siti Rahayu")
        assert (profile["nik"], profile["domicile"], profile["nama_samaran"]) == ("3273014502900001", "Bali", "Anggrek")
        assert [row["id"] for row in siti.get("/pengingat").json] == [reminder]
        assert client.post("/login", {"username": "081355550001", "password": "rahasia123"}).status_code == 200
        user = db.session.get_one(User, ibu)
        assert user.guardian_id is None
        assert user.phone_changed_at is not None  # the account is old, but its number is new

    def test_fields_missing_from_the_registration_keep_their_values(self, client: Client, budi: Client) -> None:
        ibu = keep(budi, domicile="Jawa Barat", preferences={"medical": True})
        profile = take_over(client, hand_over(budi, ibu)).get("/profile").json
        assert (profile["domicile"], profile["preferences"]) == ("Jawa Barat", {"medical": True})

    @pytest.mark.parametrize("role", ["pendamping", "admin", "superadmin", "siapa", None])
    def test_the_role_is_pasien_whatever_the_body_says(
        self, client: Client, budi: Client, ibu: int, role: str | None
    ) -> None:
        body = {} if role is None else {"role": role}
        ids = [row["id"] for row in client.get("/roles").json]
        siti = take_over(client, hand_over(budi, ibu), role_ids=ids, **body)
        assert siti.user.role_names == {"pasien"}

    def test_the_caregiver_keeps_only_the_alerts_scope(self, client: Client, budi: Client, ibu: int) -> None:
        export = budi.post(f"/profile/ekspor?patient_id={ibu}", {"password": "rahasia123"}).json["id"]
        siti = take_over(client, hand_over(budi, ibu))
        assert scopes_of(ibu) == ["alerts"]
        assert budi.get(PATH).json == []
        for path in (
            f"/pengingat?patient_id={ibu}",
            f"/profile/ekspor/{export}?patient_id={ibu}",
            f"/pengingat/riwayat?patient_id={ibu}",
        ):
            assert_error(budi.get(path), 404)
        assert_error(budi.delete(f"{PATH}/{ibu}"), 404)
        assert_error(budi.post(f"{PATH}/{ibu}/handover"), 404)
        assert ibu in [row["id"] for row in budi.get("/patients").json]
        assert siti.delete(f"/caregiver/patients/{budi.id}").status_code == 200

    def test_patient_and_caregiver_are_both_notified(self, client: Client, budi: Client, ibu: int) -> None:
        take_over(client, hand_over(budi, ibu))
        assert told(ibu) == [
            "Akun ini sekarang milik Anda, dengan semua pengingat dan riwayatnya. "
            "Budi Hartono masih dikabari kalau obat belum ditandai. "
            "Kalau Anda tidak setuju, hapus hubungan ini di aplikasi."
        ]
        assert told(budi.id) == [
            "Siti Rahayu sekarang memegang akunnya sendiri. Anda tidak lagi mengatur pengingatnya. "
            "Anda masih dikabari kalau obat belum ditandai."
        ]


class TestRefusals:
    @pytest.mark.parametrize("code", ["K7MP4WQX9R", "", "x" * 21, 5, ["K7MP4WQX9R"]])
    def test_an_invalid_code_creates_no_account(self, client: Client, ibu: int, code: Any) -> None:
        refused = client.post("/register", {**REGISTRATION, "handover_code": code})
        assert_error(refused, 400, "validation_error", "handover_code")
        assert db.session.scalar(sa.select(User.id).filter_by(username="ibusiti")) is None

    def test_a_code_works_once(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        take_over(client, code)
        again = {**REGISTRATION, "username": "lain", "nama_samaran": "Lain", "nomor_hp": "081355550009"}
        assert_error(client.post("/register", {**again, "handover_code": code}), 400, field="handover_code")
        assert db.session.scalar(sa.select(User.id).filter_by(username="lain")) is None

    def test_an_expired_code_does_not_hand_over_the_account(self, client: Client, budi: Client, ibu: int) -> None:
        code = hand_over(budi, ibu)
        expire()
        assert_error(client.post("/register", {**REGISTRATION, "handover_code": code}), 400, field="handover_code")
        assert db.session.get_one(User, ibu).guardian_id == budi.id

    @pytest.mark.parametrize(
        ("change", "status", "code"),
        [
            ({"username": "budi"}, 409, "username_taken"),
            ({"nomor_hp": None}, 400, "validation_error"),
            ({"password": "123"}, 400, "validation_error"),
            ({"nama_ktp": ""}, 400, "validation_error"),
            ({"consents": {"health_data": False}}, 400, "validation_error"),
        ],
    )
    def test_a_registration_refused_for_another_reason_keeps_the_code_valid(
        self, client: Client, budi: Client, ibu: int, change: dict[str, Any], status: int, code: str
    ) -> None:
        handover = hand_over(budi, ibu)
        refused = client.post("/register", {**REGISTRATION, "handover_code": handover, **change})
        assert_error(refused, status, code)
        db.session.expire_all()
        assert db.session.get_one(User, ibu).guardian_id == budi.id
        assert take_over(client, handover).id == ibu


class TestRaces:
    @pytest.fixture
    def kept(self, committed: Flask) -> tuple[int, int, str]:
        with unit_of_work():
            budi_id = make_user(RoleName.PENDAMPING).id
        caller = signed_in(budi_id)
        with unit_of_work():
            ibu = dependents.create(caller, {"nama_ktp": "Ibu Siti"}).id
        with unit_of_work():
            code = dependents.create_handover(caller, ibu)["code"]
        return budi_id, ibu, code

    def test_only_one_of_two_concurrent_registrations_gets_the_account(
        self, committed: Flask, kept: tuple[int, int, str]
    ) -> None:
        names = iter("ab")

        def register() -> None:
            name = next(names)
            data = {"username": f"ibu_{name}", "nama_samaran": name, "nomor_hp": f"08135555000{ord(name) % 10}"}
            accounts._take_over(kept[2], {**REGISTRATION, **data})

        second = done_twice_at_once(committed, register)
        assert isinstance(second.exception(), ValidationFailed)
        db.session.rollback()
        assert db.session.get_one(User, kept[1]).username == "ibu_a"
        assert db.session.scalar(sa.select(sa.func.count()).select_from(User)) == 2

    def test_of_a_concurrent_deletion_and_handover_only_one_succeeds(
        self, committed: Flask, kept: tuple[int, int, str]
    ) -> None:
        """Two results are allowed: the account is handed over, or it is deleted and the registration fails."""
        budi_id, ibu, code = kept
        caller = signed_in(budi_id)
        refusals: list[Exception] = []

        def attempt(work: Any) -> Any:
            def run() -> None:
                try:
                    with unit_of_work():
                        work()
                except (NotFound, ValidationFailed) as refusal:
                    refusals.append(refusal)

            return run

        run_together(
            committed,
            attempt(lambda: personal_data.delete_dependent(caller, ibu)),
            attempt(lambda: accounts._take_over(code, REGISTRATION)),
        )
        db.session.rollback()
        user = db.session.get_one(User, ibu)
        assert len(refusals) == 1
        if user.guardian_id is None:
            assert (user.erasure_due_at, user.username) == (None, "ibusiti")
        else:
            assert user.erasure_due_at is not None
            assert db.session.scalar(sa.select(User.id).filter_by(username="ibusiti")) is None
