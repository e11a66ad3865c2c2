"""Moves of a phone number to another account. PINDAH ("move") moves it, SALAH NOMOR ("wrong number") moves it back."""

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


def test_what_it_received_as_somebody_elses_number_does_not_count(owner: Client, holder: Client) -> None:
    use(NEW, days=10)
    take_long_ago(holder.id, days=9)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.PROVEN


def test_a_proven_number_is_in_use(owner: Client, holder: Client) -> None:
    write(ask(holder)["code"], NEW)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is Proof.ASKED


# --- the question ---------------------------------------------------------------------------------------------------


def test_the_question_names_both_accounts_and_nothing_moves_before_its_answer(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    text = questions.text(E164[NEW])
    assert text is not None
    assert text.startswith("Nomor ini dipakai akun ana. Kalau Anda mau memindahkannya ke akun siti, balas PINDAH.")
    assert_readable(text)
    assert (number_of(holder)[0], number_of(owner)[0]) == (NEW, OWN)


def test_the_number_moves_after_its_answer_once(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert [agree(), agree()] == ["siti", None]
    assert (number_of(holder), number_of(owner)) == ((None, False), (NEW, True))
    assert pushes() == [(holder.id, "number_taken")]


def test_an_answer_without_a_question_moves_nothing(owner: Client, holder: Client) -> None:
    ask(owner, nomor_hp=NEW)
    assert agree() is None
    assert number_of(holder)[0] == NEW


def test_a_question_lives_15_minutes(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    row = db.session.scalars(sa.select(PhoneVerification)).one()
    assert row.asked_at is not None
    assert abs(row.expires_at - row.asked_at - timedelta(minutes=15)) < timedelta(seconds=2)
    row.expires_at -= timedelta(minutes=16)
    assert agree() is None


def test_another_number_answers_nothing(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert agree(OWN) is None


def test_the_answer_means_the_question_asked_last(client: Client, owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    other = client.as_(make_user(username="budi"))
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    write(ask(other, nomor_hp=NEW)["code"], NEW)
    assert agree() == "budi"
    assert agree() is None
    assert (number_of(owner)[0], number_of(other)) == (OWN, (NEW, True))


def test_who_took_the_number_after_the_question_was_not_asked_about(
    client: Client, owner: Client, holder: Client
) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    third = client.as_(make_user(nomor_hp=None))
    assert third.put("/profile", {"nomor_hp": NEW}).status_code == 200
    assert agree() is None
    assert number_of(third)[0] == NEW


def test_a_number_that_its_holder_left_meanwhile_moves(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    assert agree() == "siti"


def test_a_username_that_is_an_address_is_not_sent(client: Client, holder: Client) -> None:
    use(NEW, days=1)
    thief = client.as_(make_user(username="klaim.help"))
    write(ask(thief, nomor_hp=NEW)["code"], NEW)
    assert "klaim" not in str(questions.text(E164[NEW]))


def test_the_question_ends_with_the_session_that_wanted_the_number(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    assert owner.post("/logout").status_code == 200
    assert agree() is None


# --- six digits -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("hears")
def test_six_digits_ask_the_number_too(owner: Client, holder: Client) -> None:
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


def test_where_messages_do_not_come_back_a_number_in_use_stays(owner: Client, holder: Client) -> None:
    use(NEW, days=1)
    assert_error(owner.put(PATH, {"code": digits(owner, nomor_hp=NEW)}), 409, "number_in_use")
    assert messages("phone_move") == []
    assert agree() is None


def test_six_digits_move_a_number_that_is_not_in_use(owner: Client, holder: Client) -> None:
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
def test_a_wrong_number_puts_the_number_and_its_proof_back(owner: Client, holder: Client, *, is_proven: bool) -> None:
    moved(owner, holder, is_proven=is_proven)
    assert refuse() is True
    assert (number_of(holder), number_of(owner)) == ((NEW, is_proven), (OWN, False))
    assert [client.get("/profile").json["phone_problem"] for client in (owner, holder)] == [None, None]
    assert pushes()[-1] == (owner.id, "number_returned")


def test_a_second_wrong_number_flags_it(owner: Client, holder: Client) -> None:
    moved(owner, holder, is_proven=True)
    assert [refuse(), refuse()] == [True, False]
    assert number_of(holder) == (NEW, False)
    assert holder.get("/profile").json["phone_problem"] == "wrong_number"


def test_after_24_hours_a_wrong_number_flags_it(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    db.session.execute(sa.update(PhoneMove).values(moved_at=sa.func.now() - timedelta(hours=24, seconds=1)))
    assert refuse() is False
    assert (number_of(holder)[0], number_of(owner)) == (None, (NEW, False))


def test_a_holder_with_another_number_by_then_keeps_that(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    holder.put("/profile", {"nomor_hp": "081255556666"})
    assert refuse() is True
    assert (number_of(holder)[0], number_of(owner)[0]) == ("081255556666", OWN)
    assert moves.lock_holder(E164[NEW]) is None


def test_a_taker_whose_former_number_is_anothers_has_none(client: Client, owner: Client, holder: Client) -> None:
    moved(owner, holder)
    other = client.as_(make_user(nomor_hp=OWN))
    assert refuse() is True
    assert (number_of(owner)[0], number_of(other)[0], number_of(holder)[0]) == (None, OWN, NEW)


def test_a_number_goes_back_although_its_taker_has_left_it(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    owner.put("/profile", {"nomor_hp": "081255556666"})
    assert refuse() is True
    assert (number_of(holder)[0], number_of(owner)[0]) == (NEW, "081255556666")


def test_a_number_goes_back_from_an_account_that_took_it_unproven(
    client: Client, owner: Client, holder: Client
) -> None:
    moved(owner, holder)
    owner.put("/profile", {"nomor_hp": "081255556666"})
    other = client.as_(make_user(username="budi"))
    assert other.put("/profile", {"nomor_hp": NEW}).status_code == 200
    assert refuse() is True
    assert (number_of(holder)[0], number_of(other)[0]) == (NEW, None)


def test_the_takers_former_number_counts_as_new(owner: Client, holder: Client) -> None:
    moved(owner, holder)
    assert refuse() is True
    taker = db.session.get_one(User, owner.id, populate_existing=True)
    assert taker.phone_changed_at is not None
    assert taker.phone_changed_at > local_time.now() - timedelta(minutes=1)


def test_a_question_ends_when_the_number_goes_back(client: Client, owner: Client, holder: Client) -> None:
    moved(owner, holder)
    other = client.as_(make_user(username="budi"))
    assert write(ask(other, nomor_hp=NEW)["code"], NEW) is Proof.ASKED
    assert refuse() is True
    assert agree() is None
    assert number_of(holder)[0] == NEW


def test_old_moves_are_forgotten(owner: Client, holder: Client) -> None:
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
def test_no_reset_link_goes_to_a_number_for_24_hours_after_its_move(
    client: Client, owner: Client, holder: Client, *, is_back: bool
) -> None:
    moved(owner, holder)
    if is_back:
        refuse()
    # Delete the time of the number change, because a recent change would also prevent the reset link.
    db.session.execute(sa.update(User).values(phone_changed_at=None))
    client.get("/send-verification-code", query_string={"phone": NEW})
    assert resets() == 0
    db.session.execute(sa.update(PhoneMove).values(moved_at=sa.func.now() - timedelta(hours=25)))
    client.get("/send-verification-code", query_string={"phone": NEW})
    assert resets() == 1


# --- concurrent requests --------------------------------------------------------------------------------------------


@pytest.fixture
def asked(committed: Flask) -> tuple[int, int]:
    """Ask Ana's number whether it may move to Siti. Return the ids of Siti and Ana."""
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


def test_of_two_answers_at_once_one_moves_the_number(committed: Flask, asked: tuple[int, int]) -> None:
    answers = both(committed, *[lambda: questions.agree(E164[NEW])] * 2)
    assert answers == ["siti", None]
    assert numbers_of(*asked) == [NEW, None]


def test_a_wrong_number_after_the_answer_puts_it_back(committed: Flask, asked: tuple[int, int]) -> None:
    assert both(committed, lambda: questions.agree(E164[NEW]), lambda: moves.refuse(E164[NEW])) == ["siti", True]
    assert numbers_of(*asked) == [OWN, NEW]


def test_a_wrong_number_before_the_answer_flags_it_and_it_moves(committed: Flask, asked: tuple[int, int]) -> None:
    assert both(committed, lambda: moves.refuse(E164[NEW]), lambda: questions.agree(E164[NEW])) == [False, "siti"]
    assert numbers_of(*asked) == [NEW, None]
    with unit_of_work():
        assert db.session.get_one(User, asked[0]).phone_verified_at is not None


def test_a_freed_number_moves_nobody_twice(committed: Flask, asked: tuple[int, int]) -> None:
    def free() -> None:
        moves.free(get_locked_or_404(User, asked[1], key_share=True))

    assert both(committed, free, lambda: questions.agree(E164[NEW])) == [None, "siti"]
    assert numbers_of(*asked) == [NEW, None]
    with unit_of_work():
        events = [event for user_id, event in pushes() if user_id == asked[1]]
    assert events == ["number_freed"]


def test_who_is_freed_while_they_prove_a_number_does_not_get_it(committed: Flask, asked: tuple[int, int]) -> None:
    def free() -> None:
        moves.free(get_locked_or_404(User, asked[0], key_share=True))

    assert both(committed, free, lambda: questions.agree(E164[NEW])) == [None, None]
    assert numbers_of(*asked) == [None, NEW]
