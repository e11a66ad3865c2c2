"""Erasure of a person's data in stored idempotent responses to administrators."""

import sqlalchemy as sa

from app.core.database.session import db
from app.core.web.idempotency import IdempotencyKey
from app.identity.models import User
from tests.helpers.client import assert_error
from tests.helpers.factories import make_admin
from tests.personal_data.leaving import MARKS, PERSON

KEY = {"Idempotency-Key": "kunci-sekali"}
COLLEAGUE = {name: PERSON[name] for name in ("username", "nama_ktp", "nomor_hp", "email")}


def kept():
    answers = [bytes(body).decode().lower() for body in db.session.scalars(sa.select(IdempotencyKey.body)) if body]
    return {mark for mark in MARKS for answer in answers if mark.lower() in answer}


def test_an_erased_person_is_removed_from_stored_idempotent_responses(client):
    boss = client.as_(make_admin(username="bos"))
    wanted = {**COLLEAGUE, "password": "kucing-hitam-7"}
    made = boss.post("/admins", wanted, headers=KEY).ok(201)
    assert kept() == {"Jejakqx", "81277660044"}
    assert boss.delete(f"/admins/{made['id']}").status_code == 200
    assert kept() == set()
    # If the administrator's client retries the request late, the person must not be created again.
    assert_error(boss.post("/admins", wanted, headers=KEY), 409, "changed_meanwhile")
    assert db.session.scalar(sa.select(sa.func.count()).where(User.username == PERSON["username"])) == 0


def test_stored_responses_about_other_people_are_still_returned(client):
    boss = client.as_(make_admin(username="bos"))
    made = boss.post("/admins", {**COLLEAGUE, "password": "kucing-hitam-7"})
    db.session.execute(sa.update(User).where(User.id == made.json["id"]).values(nik="a"))
    other = {"email": "ani@contoh.id", "nama_ktp": "Ani", "password": "kucing-hitam-7"}
    first = boss.post("/admins", other, headers=KEY)
    assert boss.delete(f"/admins/{made.json['id']}").status_code == 200
    again = boss.post("/admins", other, headers=KEY)
    assert (again.status_code, again.json) == (201, first.json)
