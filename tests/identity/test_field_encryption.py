"""Encryption of stored NIK."""

import base64
import os
import signal
import subprocess
import sys

import pytest
import sqlalchemy as sa

from app.cli import rotate_nik, verify_nik
from app.core.database.session import db, unit_of_work
from app.identity import field_encryption, jobs, second_factor
from app.identity.models import User
from app.identity.second_factor import SecondFactor
from config import ROOT
from dev.stack.waiting import wait_until
from tests.conftest import config_for_tests
from tests.helpers.factories import make_admin, make_user

NIK = "3273014502900001"
OLD = "old:" + base64.b64encode(b"o" * 32).decode()
#: First id of the people whose NIK the test encrypts with a new key. All other people have smaller ids.
FIRST = 1_000_000
OTHER = "other:" + base64.b64encode(b"x" * 32).decode()
NEW = "new:" + base64.b64encode(b"n" * 32).decode()


def use_keys(app, monkeypatch, keys):
    monkeypatch.setitem(app.extensions, "config", config_for_tests(NIK_KEYS=keys))


def test_each_encryption_of_a_nik_differs_and_decrypts_to_the_nik(app):
    sealed = {field_encryption.encrypt(NIK, 7) for _ in range(5)}
    assert len(sealed) == 5
    assert not any(NIK in text for text in sealed)
    assert {field_encryption.decrypt(text, 7) for text in sealed} == {NIK}


def test_a_ciphertext_of_another_person_or_field_does_not_decrypt(app):
    factor = field_encryption.encrypt("JBSWY3DPEHPK3PXP", 7, field=second_factor.FIELD)
    for sealed, user_id in ((field_encryption.encrypt(NIK, 7), 8), (factor, 7)):
        with pytest.raises(field_encryption.UndecryptableField):
            field_encryption.decrypt(sealed, user_id)


def test_what_is_no_ciphertext_of_a_known_key_is_refused(app):
    for stored in ("v1:dev:AAAA", "v1:dev:not base64!", "v1:gone:AAAA", "v1:", "v1:dev"):
        with pytest.raises(field_encryption.UndecryptableField):
            field_encryption.decrypt(stored, 7)


def test_a_legacy_or_missing_value_is_returned_unchanged(app):
    for legacy in (NIK, "12-34/x", "gAAAAABlegacy==", None):
        assert field_encryption.decrypt(legacy, 7) == legacy


def test_key_rotation_encrypts_every_nik_with_the_first_key_even_legacy_values(committed, monkeypatch):
    use_keys(committed, monkeypatch, OLD)
    with unit_of_work():
        ids = [make_user(nik=NIK).id for _ in range(5)]
        legacy = make_user()
        legacy.nik = "nilai lama"
        ids.append(legacy.id)
    use_keys(committed, monkeypatch, f"{NEW},{OLD}")
    assert jobs.rotate_nik() == (6, [])
    assert jobs.rotate_nik() == (0, [])
    use_keys(committed, monkeypatch, NEW)
    stored = dict(db.session.execute(sa.select(User.id, User.nik)).all())
    assert [field_encryption.decrypt(stored[user_id], user_id) for user_id in ids] == [NIK] * 5 + ["nilai lama"]
    assert jobs.verify_nik() == (6, [])


def add_factor(user_id):
    secret = field_encryption.encrypt("rahasia", user_id, field=second_factor.FIELD)
    db.session.add(SecondFactor(user_id=user_id, secret=secret, recovery_hashes=[]))


def test_key_rotation_skips_and_names_what_cannot_be_decrypted(committed, monkeypatch):
    use_keys(committed, monkeypatch, f"{OTHER},{OLD}")
    with unit_of_work():
        lost, broken_factor = make_user(nik=NIK).id, make_admin().id
        add_factor(broken_factor)
    use_keys(committed, monkeypatch, OLD)
    with unit_of_work():
        fine, fine_factor = make_user(nik=NIK).id, make_admin().id
        add_factor(fine_factor)
    use_keys(committed, monkeypatch, f"{NEW},{OLD}")
    runner = committed.test_cli_runner()
    for command in (rotate_nik, rotate_nik, verify_nik):  # a repeated run names them too
        result = runner.invoke(command)
        assert result.exit_code == 1
        assert f"NIK that cannot be read: 1, of the users {lost}" in result.output
        assert f"second factors that cannot be read: 1, of the users {broken_factor}" in result.output
    use_keys(committed, monkeypatch, NEW)
    assert field_encryption.decrypt(db.session.get_one(User, fine, populate_existing=True).nik, fine) == NIK
    secret = db.session.get_one(SecondFactor, fine_factor).secret
    assert field_encryption.decrypt(secret, fine_factor, field=second_factor.FIELD) == "rahasia"


@pytest.mark.processes
def test_a_key_rotation_killed_five_times_can_be_completed_without_data_loss(committed, variables, monkeypatch):
    use_keys(committed, monkeypatch, OLD)
    people = 10_000
    with unit_of_work():
        db.session.execute(
            sa.text(
                "INSERT INTO users (id, username, password_hash, nama_ktp)"
                " SELECT n, 'orang' || n, '', 'Orang' FROM generate_series(CAST(:first AS bigint), :last) n"
            ),
            {"first": FIRST, "last": FIRST + people - 1},
        )
        rows = [
            {"user_id": n, "sealed": field_encryption.encrypt(f"{n:016d}", n)} for n in range(FIRST, FIRST + people)
        ]
        db.session.execute(sa.text("UPDATE users SET nik = :sealed WHERE id = :user_id"), rows)
    env = {**os.environ, **variables, "ENVIRONMENT": "testing", "NIK_KEYS": f"{NEW},{OLD}"}
    command = [sys.executable, "-m", "flask", "nik", "rotate"]
    kills = 0
    while kills < 5:
        before = _under_new_key()
        kills += 1
        with db.engine.begin() as connection:
            # Lock one row, so that the command waits in the middle of its work until it is killed.
            held = FIRST + kills * people // 5 - 1
            connection.execute(sa.text("SELECT FROM users WHERE id = :held FOR UPDATE"), {"held": held})
            process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_until(lambda: _under_new_key() > before or process.poll() is not None)  # noqa: B023  # waited for here
            assert process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
    assert 0 < _under_new_key() < people
    subprocess.run(command, env=env, cwd=ROOT, check=True, capture_output=True)
    use_keys(committed, monkeypatch, NEW)
    assert _under_new_key() == people
    db.session.rollback()
    stored = db.session.execute(sa.select(User.id, User.nik).where(User.id >= FIRST)).all()
    assert len(stored) == people
    assert all(field_encryption.decrypt(sealed, user_id) == f"{user_id:016d}" for user_id, sealed in stored)


def _under_new_key():
    db.session.rollback()
    query = sa.select(sa.func.count()).select_from(User).where(User.nik.startswith("v1:new:"))
    return db.session.scalar(query) or 0
