"""Phone numbers that answered SALAH NOMOR ("wrong number") and are therefore flagged as wrong."""

import pytest

from app.accounts.verification import Proof
from tests.accounts.phone_verification.proofs import (
    NEW,
    OWN,
    ask,
    messages,
    number_of,
    pushes,
    refuse,
    take_long_ago,
    use,
    write,
)
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of


def problem(client):
    return client.get("/profile").json["phone_problem"]


@pytest.fixture
def wrong(owner):
    """Siti, whose number is flagged as wrong because it answered SALAH NOMOR."""
    refuse(OWN)
    return owner


# --- the account ----------------------------------------------------------------------------------------------------


def test_a_wrong_number_reply_flags_the_profile_and_ends_the_verification(owner):
    write(ask(owner)["code"])
    assert (problem(owner), number_of(owner)) == (None, (OWN, True))
    refuse(OWN)
    assert (problem(owner), number_of(owner)) == ("wrong_number", (OWN, False))
    refuse(OWN)
    (told,) = messages("security_notice")
    assert (told.user_id, told.payload["event"]) == (owner.id, "number_wrong")
    assert_readable(str(words_of(told)["body"]))
    assert owner.put("/profile", {"nama_ktp": "Siti A."}).json["phone_problem"] == "wrong_number"


def test_an_invalid_number_is_shown_as_unreachable(owner):
    owner.user.phone_invalid_at = owner.user.created_at
    assert problem(owner) == "unreachable"


def test_the_flag_stays_on_the_wrong_number_for_each_account_that_has_it(client, wrong):
    wrong.put("/profile", {"nomor_hp": NEW})
    assert problem(wrong) is None
    later = client.as_(make_user(nomor_hp=OWN))
    assert problem(later) == "wrong_number"
    later.put("/profile", {"nomor_hp": "081300000001"})
    wrong.put("/profile", {"nomor_hp": OWN})
    assert problem(wrong) == "wrong_number"


def test_a_verification_removes_the_flag(wrong):
    assert write(ask(wrong)["code"]) is Proof.PROVEN
    assert (problem(wrong), number_of(wrong)) == (None, (OWN, True))
    refuse(OWN)
    assert [event for _, event in pushes()] == ["number_wrong", "number_wrong"]


def test_a_wrong_number_reply_does_not_end_an_open_verification_by_message(owner):
    code = ask(owner)["code"]
    refuse(OWN)
    assert write(code) is Proof.PROVEN


# --- reset links ----------------------------------------------------------------------------------------------------


def ask_for_a_link(client):
    """Request a link. Return what the latest message would contain now."""
    assert client.get("/send-verification-code", query_string={"phone": OWN}).status_code == 200
    return words_of(messages("password_reset")[-1])


def test_a_wrong_number_gets_no_reset_link_and_an_earlier_link_ends(client, owner):
    code = str(ask_for_a_link(client)["text"]).split("code=")[1].split()[0]
    refuse(OWN)
    assert words_of(messages("password_reset")[0]) == {}
    assert ask_for_a_link(client) == {}
    assert_error(client.post("/update-password", {"code": code, "new_password": "baru-sekali"}), 400, "invalid_code")


@pytest.mark.parametrize(
    ("held", "used", "is_proven", "links"),
    [(89, None, False, 1), (91, None, False, 0), (400, 89, False, 1), (400, 91, False, 0), (400, 91, True, 1)],
)
def test_a_number_unused_for_90_days_gets_a_reset_link_only_if_verified(client, owner, *, held, used, is_proven, links):
    take_long_ago(owner.id, days=held)
    if is_proven:
        write(ask(owner)["code"])
    if used is not None:
        use(OWN, days=used)
    assert len(ask_for_a_link(client)) == links
