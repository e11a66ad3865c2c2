"""Verification of a number that another account has: the number moves if it is not in use, and else it stays."""

from datetime import timedelta

import pytest

from app.accounts import moves, verification
from app.accounts.verification import Proof
from app.core.database.session import db, get_locked_or_404, unit_of_work
from app.core.lib import local_time
from app.identity import sessions, users
from app.identity.models import User
from app.notifications.senders import numbers
from tests.accounts.phone_verification.proofs import (
    E164,
    NEW,
    OWN,
    answer,
    ask,
    messages,
    number_of,
    pushes,
    refuse,
    take_long_ago,
    use,
    write,
)
from tests.accounts.resets import ask as ask_for_reset
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.helpers.overlap import done_twice_at_once
from tests.notifications.deliveries import words_of


@pytest.fixture
def holder(client):
    """Ana, whose phone number other users want for their accounts."""
    user = make_user(username="ana", nomor_hp=NEW)
    user.created_at = local_time.now() - timedelta(days=400)
    return client.as_(user)


@pytest.mark.parametrize(
    ("used", "since", "is_proven", "proof"),
    [
        (None, 400, False, Proof.PROVEN),
        (1, 400, False, Proof.IN_USE),
        (89, 400, False, Proof.IN_USE),
        (91, 400, False, Proof.PROVEN),
        (10, 9, False, Proof.PROVEN),  # used before the account had the number
        (None, 400, True, Proof.IN_USE),
        (91, 400, True, Proof.IN_USE),
    ],
)
def test_a_number_moves_unless_it_is_proven_or_used_in_90_days(owner, holder, *, used, since, is_proven, proof):
    if is_proven:
        assert write(ask(holder)["code"], NEW) is Proof.PROVEN
    if used is not None:
        use(NEW, days=used)
    take_long_ago(holder.id, days=since)
    assert write(ask(owner, nomor_hp=NEW)["code"], NEW) is proof
    if proof is Proof.PROVEN:
        assert (number_of(holder), number_of(owner)) == ((None, False), (NEW, True))
        assert pushes() == [(holder.id, "number_taken")]
    else:
        assert (number_of(holder)[0], number_of(owner)[0]) == (NEW, OWN)
        assert pushes() == []


@pytest.mark.parametrize(
    ("contact", "more"), [(None, ""), ("0800-1", " Kalau tidak bisa, hubungi administrator (0800-1).")]
)
def test_the_answer_about_a_number_in_use_names_the_account_and_the_ways(client, change_settings, *, contact, more):
    change_settings(contact=contact)
    make_user(username="klaim.help", nomor_hp=NEW)
    use(NEW, days=-1)
    taker = client.as_(make_user())
    code = ask(taker, nomor_hp=NEW)["code"]
    proof, text = answer(code, NEW)
    assert (proof, text) == (
        Proof.IN_USE,
        f"Nomor ini masih dipakai akun klaim. help. Masuk ke akun itu, lalu lepas nomornya di profil.{more}",
    )
    assert_readable(text)


def test_the_push_says_where_the_number_is_now(owner, holder):
    write(ask(owner, nomor_hp=NEW)["code"], NEW)
    (told,) = [row for row in messages("security_notice") if row.user_id == holder.id]
    assert words_of(told)["body"] == (
        "Nomor HP di akun Anda sekarang dipakai akun lain, jadi kami lepas dari akun Anda. "
        "Masuk dengan nama pengguna, lalu isi nomor Anda sendiri."
    )


# --- the own number is freed ----------------------------------------------------------------------------------------


def test_a_freed_number_ends_proofs_links_and_messages(client, owner):
    write(ask(owner)["code"])
    code = ask(owner)["code"]
    link = ask_for_reset(client, OWN)
    assert owner.delete("/profile/phone", {}).json["phone_verified_at"] is None
    assert write(code) is Proof.UNKNOWN_CODE
    assert_error(client.post("/update-password", {"code": link, "new_password": "baru-sekali"}), 400, "invalid_code")
    assert words_of(messages("password_reset")[0]) == {}
    (notice,) = messages("security_notice")
    assert (notice.target, words_of(notice)["text"]) == (E164[OWN], "Data akun Anda baru saja diubah: nomor HP.")
    assert owner.delete("/profile/phone", {}).status_code == 200
    assert len(messages("security_notice")) == 1


# --- concurrent requests --------------------------------------------------------------------------------------------


@pytest.fixture
def asked(committed):
    """Siti asks for Ana's number, which is not in use. Return the ids of Siti and Ana, and Siti's code."""
    with unit_of_work():
        people = [make_user(username=name, nomor_hp=number).id for name, number in (("siti", OWN), ("ana", NEW))]
    with unit_of_work():
        token = sessions.begin(users.get(people[0])).access_token
    return people[0], people[1], ask(Client(committed, token), nomor_hp=NEW)["code"]


def both(app, *works):
    done, queue = [], list(works)
    done_twice_at_once(app, lambda: done.append(queue.pop(0)())).result()
    return done


def state_of(*people):
    db.session.rollback()
    rows = [db.session.get_one(User, user_id) for user_id in people]
    return [(row.nomor_hp, row.phone_verified_at is not None) for row in rows]


def test_a_wrong_number_reply_and_a_proof_at_once_count_in_their_order(committed, asked):
    *people, code = asked

    def prove():
        return verification.confirm_by_message(E164[NEW], code)[0]

    both(committed, lambda: moves.refuse(E164[NEW]), prove)
    assert state_of(*people) == [(NEW, True), (None, False)]
    refuse(NEW)
    assert state_of(*people) == [(NEW, False), (None, False)]
    with unit_of_work():
        assert numbers.is_wrong(E164[NEW])


@pytest.mark.parametrize(("freed", "proof"), [(1, Proof.PROVEN), (0, Proof.UNKNOWN_CODE)])
def test_a_number_that_is_freed_at_the_same_time_moves_only_with_an_open_proof(committed, asked, freed, proof):
    """The freed number is the holder's, or that of the person who proves the other number."""
    code = asked[2]

    def free():
        moves.free(get_locked_or_404(User, asked[freed], key_share=True))

    answers = both(committed, free, lambda: verification.confirm_by_message(E164[NEW], code)[0])
    assert answers == [None, proof]
    owners = [(NEW, True), (None, False)] if proof is Proof.PROVEN else [(None, False), (NEW, False)]
    assert state_of(*asked[:2]) == owners
