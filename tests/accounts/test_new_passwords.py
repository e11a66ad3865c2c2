"""Limit of new passwords: five per hour. Each change sends one notice."""

import sqlalchemy as sa

from app.core.database.session import db
from app.core.web.rate_limits import RateLimits
from app.notifications.models import Delivery
from tests.accounts.resets import ask
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.notifications.deliveries import words_of

PHONE = "081234567890"


def change(client, n):
    response = client.put("/profile", {"password": f"baru-sekali-{n}"})
    assert response.status_code == 200, response.json


def test_the_sixth_new_password_of_an_hour_is_refused(owner, limited):
    for n in range(5):
        change(owner, n)
    before = owner.user.password_hash
    assert_error(owner.put("/profile", {"password": "baru-sekali-6"}), 429, "too_many_requests")
    assert owner.user.password_hash == before
    assert owner.put("/profile", {"nama_ktp": "Siti A."}).status_code == 200


def test_each_change_sends_one_notice(owner):
    owner.put("/profile", {"password": "baru-sekali", "email": "maling@example.com"})
    owner.put("/profile", {"email": "lain@example.com"})
    notices = db.session.scalars(sa.select(Delivery).filter_by(kind="security_notice").order_by(Delivery.id)).all()
    assert [(notice.target, words_of(notice)["text"]) for notice in notices] == [
        ("+6281234567890", "Data akun Anda baru saja diubah: kata sandi, alamat e-mail."),
        ("+6281234567890", "Data akun Anda baru saja diubah: alamat e-mail."),
    ]


def test_refused_passwords_do_not_count_for_the_limit(owner, limited):
    for _ in range(6):
        assert_error(owner.put("/profile", {"password": "12345"}), 400, "validation_error", "password")
    change(owner, 1)


def test_an_exhausted_password_limit_does_not_block_a_reset_by_link(client, owner, limited):
    for n in range(5):
        change(owner, n)
    code = ask(client, PHONE)
    assert client.post("/update-password", {"code": code, "new_password": "milik-saya-lagi"}).status_code == 200


def test_only_five_of_six_concurrent_password_changes_are_accepted(committed):
    user = make_user()
    client = Client(committed).as_(user)
    db.session.commit()
    before = committed.extensions["limits"]
    committed.extensions["limits"] = RateLimits(committed.extensions["redis"], enabled=True)
    try:
        statuses = []

        def work(n):
            statuses.append(client.put("/profile", {"password": f"baru-sekali-{n}"}).status_code)

        run_together(committed, *(lambda n=n: work(n) for n in range(6)))
    finally:
        committed.extensions["limits"] = before
    assert sorted(statuses) == [200] * 5 + [429]
