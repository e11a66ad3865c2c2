"""Tests of invitations by code and link."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.caregivers import jobs
from app.caregivers.models import Invitation
from app.core.database.session import db
from app.identity.models import LoginSession
from tests.caregivers.invitations import PATH, invite
from tests.helpers.client import assert_error


def expire():
    db.session.execute(sa.update(Invitation).values(expires_at=sa.func.now() - timedelta(seconds=1)))


def test_only_the_hash_of_the_code_is_stored(siti):
    code = invite(siti)["code"]
    assert code not in str(db.session.execute(sa.select(Invitation.__table__)).all())


def test_a_code_may_be_typed_in_lower_case_with_spaces_and_hyphens(siti, budi):
    code = invite(siti)["code"].lower()
    typed = f" {code[:5]}-{code[5:]} "
    assert budi.post("/caregiver/invitations", {"code": typed}).status_code == 201


def test_an_expired_invitation_is_refused_and_deleted(siti, budi):
    code = invite(siti)["code"]
    expire()
    assert_error(budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")
    assert siti.get(PATH).json == []
    invite(siti)
    db.session.commit()
    jobs.delete_expired()
    assert len(db.session.scalars(sa.select(Invitation.id)).all()) == 1


def test_logging_out_revokes_the_invitations_of_the_session(client, siti, budi):
    """Otherwise, a thief who invites a caregiver from a stolen session could still read the data after the session."""
    stolen = client.as_(siti.user)
    own, thiefs = invite(siti, "history"), invite(stolen, "history", "manage")
    assert stolen.post("/logout").status_code == 200
    assert_error(budi.post("/caregiver/invitations", {"code": thiefs["code"]}), 404, "not_found")
    assert [row["id"] for row in siti.get(PATH).json] == [own["id"]]
    assert budi.post("/caregiver/invitations", {"code": own["code"]}).status_code == 201


def test_an_invitation_of_an_expired_session_is_refused(siti, budi):
    """The row of an expired session is deleted days later, so it does not prove that the session is active."""
    code = invite(siti, "history")["code"]
    db.session.execute(sa.update(LoginSession).filter_by(user_id=siti.id).values(expires_at=sa.func.now()))
    assert_error(budi.post("/caregiver/invitations", {"code": code}), 404, "not_found")


@pytest.mark.parametrize("way", ["password", "sign out"])
def test_ending_all_other_sessions_revokes_their_invitations(client, siti, way):
    own, _ = invite(siti), invite(client.as_(siti.user))
    if way == "password":
        assert siti.put("/profile", {"password": "baru-sekali"}).status_code == 200
    else:
        assert siti.delete("/profile/sesi").status_code == 200
    assert [row["id"] for row in siti.get(PATH).json] == [own["id"]]


def test_guesses_of_the_code_are_limited_for_each_caregiver_at_any_address(siti, budi, limited):
    code = invite(siti)["code"]
    for n in range(10):
        at = {"REMOTE_ADDR": f"10.0.{n}.1"}
        assert_error(budi.post("/caregiver/invitations", {"code": f"X{n:09d}"}, environ_base=at), 404)
    assert_error(budi.post("/caregiver/invitations", {"code": code}), 429)
