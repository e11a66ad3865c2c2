"""Tests of moves of a phone number to another account.

The answer `PINDAH` ("move") moves the number. The answer `SALAH NOMOR` ("wrong number") moves the number back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts import jobs, moves, questions
from app.accounts.verification import Proof
from app.core.database.session import db, get_locked_or_404, unit_of_work
from app.core.lib import local_time
from app.identity import sessions, users
from app.identity.models import PhoneMove, PhoneVerification, User
from tests.accounts.phone_verification.proofs import (
    E164,
    NEW,
    OWN,
    PATH,
    agree,
    ask,
    digits,
    messages,
    number_of,
    pushes,
    refuse,
    take_long_ago,
    use,
    write,
)
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.helpers.overlap import done_twice_at_once
from tests.notifications.deliveries import words_of


@pytest.fixture
def holder(client: Client) -> Client:
    """Ana, whose phone number other users want for their accounts."""
    user = make_user(username="ana", nomor_hp=NEW)
    user.created_at = local_time.now() - timedelta(days=400)
    return client.as_(user)


@pytest.fixture
def hears(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], fonnte_webhook_token="x" * 32))


# --- numbers in use -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("days", "proof"), [(1, Proof.ASKED), (89, Proof.ASKED), (91, Proof.PROVEN)])
def test_a_number_is_in_use_for_90_days_after_it_received_something(
    owner: Client, holder: Client, days: int, proof: Proof
) -> None:
    use(NEW, days=days)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is proof


def test_a_number_that_received_nothing_is_not_in_use(owner: Client, holder: Client) -> None:
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN


def test_a_use_before_the_account_had_the_number_does_not_count(owner: Client, holder: Client) -> None:
    use(NEW, days=10)
    take_long_ago(holder.id, days=9)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN


def test_a_verified_number_is_in_use(owner: Client, holder: Client) -> None:
    write(ask(holder)["code"], NEW)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.ASKED


# --- the question ---------------------------------------------------------------------------------------------------


def test_the_question_names_both_accounts_and_does_not_move_the_number(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    text = questions.text(E164[NEW])
    assert text is not None
    assert text.startswith("Nomor ini dipakai akun ana. Kalau Anda mau memindahkannya ke akun siti, balas PINDAH.")
    assert_readable(text)
    assert (number_of(holder)[0], number_of(owner)[0]) == (NEW, OWN)


def test_an_agreement_moves_the_number_once(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert [agree(), agree()] == ["siti", None]
    assert (number_of(holder), number_of(owner)) == ((None, False), (NEW, True))
    assert pushes() == [(holder.id, "number_taken")]


def test_an_agreement_without_a_question_does_not_move_the_number(owner: Client, holder: Client) -> None:
    ask(owner, nomor_hp=NEW)
    assert agree() is None
    assert number_of(holder)[0] == NEW


def test_a_question_expires_after_15_minutes(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    row = db.session.scalars(sa.select(PhoneVerification)).one()
    assert row.asked_at is not None
    assert abs(row.expires_at - row.asked_at - timedelta(minutes=15)) < timedelta(seconds=2)
    row.expires_at -= timedelta(minutes=16)
    assert agree() is None


def test_an_agreement_from_another_number_is_ignored(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert agree(OWN) is None


def test_an_agreement_answers_the_latest_question(client: Client, owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    other = client.as_(make_user(username="budi"))
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    write(ask(other, nomor_hp=NEW)["code"], NEW)
    assert agree() == "budi"
    assert agree() is None
    assert (number_of(owner)[0], number_of(other)) == (OWN, (NEW, True))


def test_a_question_does_not_move_a_number_that_a_third_account_took_later(
    client: Client, owner: Client, holder: Client
) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    third = client.as_(make_user(nomor_hp=None))
    assert third.put("/profile", {"nomor_hp": NEW}).status_code == 200
    assert agree() is None
    assert number_of(third)[0] == NEW


def test_a_number_moves_although_its_holder_has_changed_to_another_number(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    assert agree() == "siti"


def test_a_link_in_a_username_is_broken_in_the_question(client: Client, holder: Client) -> None:
    use(NEW, days=1)
    thief = client.as_(make_user(username="klaim.help"))
    write(ask(thief, nomor_hp=NEW)["code"], NEW)
    assert "akun klaim. help, balas PINDAH" in str(questions.text(E164[NEW]))


def test_a_logout_of_the_requesting_session_ends_the_question(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert owner.post("/logout").status_code == 200
    assert agree() is None


# --- six digits -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hears")
def test_a_six_digit_code_for_a_number_in_use_sends_a_question_to_it(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    code = digits(owner, nomor_hp=NEW)
    for _ in range(2):
        response = owner.put(PATH, {"code": code})
        assert (response.status_code, response.json) == (202, {"message": questions.ASKED})
    (question,) = messages("phone_move")
    assert (question.target, question.user_id) == (E164[NEW], None)
    assert str(words_of(question)["text"]) == questions.text(E164[NEW])
    assert_readable(questions.ASKED)
    assert number_of(holder)[0] == NEW
    assert agree() == "siti"
    assert number_of(owner) == (NEW, True)


def test_without_an_inbound_webhook_a_number_in_use_does_not_move(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    assert_error(owner.put(PATH, {"code": digits(owner, nomor_hp=NEW)}), 409, "number_in_use")
    assert messages("phone_move") == []
    assert agree() is None


def test_a_six_digit_code_moves_a_number_that_is_not_in_use(owner: Client, holder: Client) -> None:
    assert owner.put(PATH, {"code": digits(owner, nomor_hp=NEW)}).status_code == 200
    assert number_of(owner) == (NEW, True)


# --- moves back -----------------------------------------------------------------------------------------------------


def moved(owner: Client, holder: Client, *, is_proven: bool = False) -> None:
    if is_proven:
        write(ask(holder)["code"], NEW)
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert agree() == "siti"


@pytest.mark.parametrize("is_proven", [True, False])
def test_a_wrong_number_reply_returns_the_number_and_its_verification(
    owner: Client, holder: Client, *, is_proven: bool
) -> None:
    moved(owner, holder, is_proven=is_proven)
    assert refuse() is True
    assert (number_of(holder), number_of(owner)) == ((NEW, is_proven), (OWN, False))
    assert [client.get("/profile").json["phone_problem"] for client in (owner, holder)] == [None, None]
    assert pushes()[-1] == (owner.id, "number_returned")


def test_a_second_wrong_number_reply_flags_the_number(owner: Client, holder: Client) -> None:
    moved(owner, holder, is_proven=True)
    assert [refuse(), refuse()] == [True, False]
    assert number_of(holder) == (NEW, False)
    assert holder.get("/profile").json["phone_problem"] == "wrong_number"


def test_a_wrong_number_reply_after_24_hours_does_not_return_the_number(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    db.session.execute(sa.update(PhoneMove).values(moved_at=sa.func.now() - timedelta(hours=24, seconds=1)))
    assert refuse() is False
    assert (number_of(holder)[0], number_of(owner)) == (None, (NEW, False))


def test_a_returned_number_does_not_replace_the_former_holders_new_number(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    assert refuse() is True
    assert (number_of(holder)[0], number_of(owner)[0]) == ("081255556666", OWN)
    assert moves.lock_holder(E164[NEW]) is None


def test_a_taker_has_no_number_after_a_return_if_the_old_one_is_taken(
    client: Client, owner: Client, holder: Client
) -> None:
    moved(owner, holder)
    other = client.as_(make_user(nomor_hp=OWN))
    assert refuse() is True
    assert (number_of(owner)[0], number_of(other)[0], number_of(holder)[0]) == (None, OWN, NEW)


def test_a_number_is_returned_although_its_taker_has_changed_to_another(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    owner.put("/profile", {"nomor_hp": "081255556666"})
    assert refuse() is True
    assert (number_of(holder)[0], number_of(owner)[0]) == (NEW, "081255556666")


def test_a_number_is_returned_from_an_account_that_did_not_verify_it(
    client: Client, owner: Client, holder: Client
) -> None:
    moved(owner, holder)
    owner.put("/profile", {"nomor_hp": "081255556666"})
    other = client.as_(make_user(username="budi"))
    assert other.put("/profile", {"nomor_hp": NEW}).status_code == 200
    assert refuse() is True
    assert (number_of(holder)[0], number_of(other)[0]) == (NEW, None)


def test_the_takers_restored_number_counts_as_recently_changed(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    assert refuse() is True
    taker = db.session.get_one(User, owner.id, populate_existing=True)
    assert taker.phone_changed_at is not None
    assert taker.phone_changed_at > local_time.now() - timedelta(minutes=1)


def test_a_question_ends_when_the_number_is_returned(client: Client, owner: Client, holder: Client) -> None:
    moved(owner, holder)
    other = client.as_(make_user(username="budi"))
    assert write(ask(other, nomor_hp=NEW)["code"], NEW) is Proof.ASKED
    assert refuse() is True
    assert agree() is None
    assert number_of(holder)[0] == NEW


def test_old_moves_are_deleted(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    db.session.commit()
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneMove)) == 1
    db.session.execute(sa.update(PhoneMove).values(moved_at=sa.func.now() - timedelta(hours=25)))
    db.session.commit()
    jobs.delete_expired()
    assert db.session.scalar(sa.select(sa.func.count()).select_from(PhoneMove)) == 0


def resets() -> int:
    return sum(row.state == "pending" for row in messages("password_reset"))


@pytest.mark.parametrize("is_back", [True, False])
def test_no_reset_link_is_sent_to_a_number_for_24_hours_after_its_move(
    client: Client, owner: Client, holder: Client, *, is_back: bool
) -> None:
    moved(owner, holder)
    if is_back:
        refuse()
    # A recent change of the number also prevents the reset link. Delete the time of this change, so that only the
    # move can prevent the link.
    db.session.execute(sa.update(User).values(phone_changed_at=None))
    client.get("/send-verification-code", query_string={"phone": NEW})
    assert resets() == 0
    db.session.execute(sa.update(PhoneMove).values(moved_at=sa.func.now() - timedelta(hours=25)))
    client.get("/send-verification-code", query_string={"phone": NEW})
    assert resets() == 1


# --- concurrent requests --------------------------------------------------------------------------------------------


@pytest.fixture
def asked(committed: Flask) -> tuple[int, int]:
    """Ask Ana by message whether her number may move to Siti's account. Return the ids of Siti and Ana."""
    with unit_of_work():
        people = [make_user(username=name, nomor_hp=number).id for name, number in (("siti", OWN), ("ana", NEW))]
        use(NEW, days=-1)
    with unit_of_work():
        token = sessions.begin(users.get(people[0])).access_token
    assert write(ask(Client(committed, token), nomor_hp=NEW)["code"], NEW) is Proof.ASKED
    return people[0], people[1]


def numbers_of(*people: int) -> list[str | None]:
    db.session.rollback()
    return [db.session.scalar(sa.select(User.nomor_hp).where(User.id == user_id)) for user_id in people]


def both(app: Flask, *works: Callable[[], object]) -> list[object]:
    done, queue = [], list(works)
    done_twice_at_once(app, lambda: done.append(queue.pop(0)())).result()
    return done


def test_two_concurrent_agreements_move_the_number_once(committed: Flask, asked: tuple[int, int]) -> None:
    answers = both(committed, *[lambda: questions.agree(E164[NEW])] * 2)
    assert answers == ["siti", None]
    assert numbers_of(*asked) == [NEW, None]


def test_a_wrong_number_reply_right_after_the_agreement_returns_the_number(
    committed: Flask, asked: tuple[int, int]
) -> None:
    assert both(committed, lambda: questions.agree(E164[NEW]), lambda: moves.refuse(E164[NEW])) == ["siti", True]
    assert numbers_of(*asked) == [OWN, NEW]


def test_a_wrong_number_reply_right_before_the_agreement_does_not_stop_it(
    committed: Flask, asked: tuple[int, int]
) -> None:
    assert both(committed, lambda: moves.refuse(E164[NEW]), lambda: questions.agree(E164[NEW])) == [False, "siti"]
    assert numbers_of(*asked) == [NEW, None]
    with unit_of_work():
        assert db.session.get_one(User, asked[0]).phone_verified_at is not None


def test_the_holder_of_a_number_freed_before_its_move_is_notified_once(
    committed: Flask, asked: tuple[int, int]
) -> None:
    def free() -> None:
        moves.free(get_locked_or_404(User, asked[1], key_share=True))

    assert both(committed, free, lambda: questions.agree(E164[NEW])) == [None, "siti"]
    assert numbers_of(*asked) == [NEW, None]
    with unit_of_work():
        events = [event for user_id, event in pushes() if user_id == asked[1]]
    assert events == ["number_freed"]


def test_a_taker_whose_number_is_freed_concurrently_does_not_get_the_number(
    committed: Flask, asked: tuple[int, int]
) -> None:
    def free() -> None:
        moves.free(get_locked_or_404(User, asked[0], key_share=True))

    assert both(committed, free, lambda: questions.agree(E164[NEW])) == [None, None]
    assert numbers_of(*asked) == [None, NEW]
