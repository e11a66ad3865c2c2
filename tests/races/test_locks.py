"""Tests of single locks. Each test fails if the lock is gone, also where the rows that are left look right."""

from dataclasses import replace

import pytest

from app.accounts import moves
from app.accounts.verification import Proof
from tests.races.overlap import AT_COMMIT
from tests.races.world import remind, write

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]


def test_two_messages_with_one_code_verify_the_number_once(pairs, world):
    answers = pairs.overlap.run(world.proof, world.proof, AT_COMMIT)
    assert [answer.body[0] for answer in answers] == [Proof.PROVEN, Proof.UNKNOWN_CODE], answers
    pairs.restore()


def test_two_people_who_take_the_number_of_one_another_cause_no_deadlock(pairs, world, monkeypatch):
    lock_holder = moves.lock_holder

    def stop_and_lock(*args):
        pairs.overlap.stop("holder")
        return lock_holder(*args)

    monkeypatch.setattr(moves, "lock_holder", stop_and_lock)
    answers = pairs.overlap.run(*world.swaps, "holder")
    assert (pairs.overlap.deadlocks, [answer.status for answer in answers]) == ([], [200, 200]), answers
    pairs.restore()


def test_a_cut_during_a_change_leaves_the_caregiver_no_stored_response(pairs, world):
    change = replace(remind(world.budi, query=f"?patient_id={world.siti.id}"), key="kunci-sekali-pakai")
    for cut in (
        world.siti.delete(f"/caregiver/patients/{world.budi.id}"),
        world.siti.put(f"/patient/caregivers/{world.budi.id}", scopes=[]),
    ):
        answers = pairs.overlap.run(change, cut, AT_COMMIT)
        assert [answer.status for answer in answers] == [201, 200], answers
        assert not world.sql("SELECT count(*) FROM idempotency_keys WHERE user_id = :id", id=world.budi.id), cut
        pairs.restore()


def test_two_creates_with_one_key_get_one_response(pairs, world):
    create = replace(write(world.ana), key="kunci-sekali-pakai")
    first, second = pairs.overlap.run(create, create, AT_COMMIT)
    assert (first.status, second) == (201, first)
    pairs.restore()


def test_a_like_that_waited_for_the_deletion_of_its_reply_is_refused(pairs, world):
    """A stub stays, because somebody has answered the reply."""
    path = f"/forum/replies/{world.reply}"
    delete, like = world.siti.delete(path), world.ana.post(f"{path}/like")
    answers = pairs.overlap.run(delete, like, AT_COMMIT)
    assert [answer.status for answer in answers] == [200, 404], answers
    pairs.restore()
