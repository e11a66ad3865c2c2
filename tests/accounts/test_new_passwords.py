"""Limits of new passwords: five per hour, and one notice for several changes within ten minutes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.web.rate_limits import RateLimits
from app.identity.models import User
from app.notifications.delivery import claims, settlements
from app.notifications.models import Channel, Delivery, DeliveryState
from tests.accounts.resets import ask
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.overlap import run_together
from tests.notifications.deliveries import words_of

PHONE = "081234567890"
WINDOW = timedelta(minutes=10)


def change(client: Client, n: int) -> None:
    response = client.put("/profile", {"password": f"baru-sekali-{n}"})
    assert response.status_code == 200, response.json


def notices() -> Sequence[Delivery]:
    rows = sa.select(Delivery).where(Delivery.kind == "security_notice", Delivery.state != DeliveryState.CANCELLED)
    return db.session.scalars(rows.order_by(Delivery.id)).all()


def send_one() -> None:
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    claims.begin(claimed)
    settlements.record_sent(claimed, "ref")
    db.session.expire_all()


def test_the_sixth_new_password_of_an_hour_is_refused(owner: Client, limited: None) -> None:
    for n in range(5):
        change(owner, n)
    before = owner.user.password_hash
    assert_error(owner.put("/profile", {"password": "baru-sekali-6"}), 429, "too_many_requests")
    assert owner.user.password_hash == before
    assert owner.put("/profile", {"nama_ktp": "Siti A."}).status_code == 200


def test_refused_passwords_do_not_count_for_the_limit(owner: Client, limited: None) -> None:
    for _ in range(6):
        assert_error(owner.put("/profile", {"password": "12345"}), 400, "validation_error", "password")
    change(owner, 1)


def test_an_exhausted_password_limit_does_not_block_a_reset_by_link(
    client: Client, owner: Client, limited: None
) -> None:
    for n in range(5):
        change(owner, n)
    code = ask(client, PHONE)
    assert client.post("/update-password", {"code": code, "new_password": "milik-saya-lagi"}).status_code == 200


def test_several_changes_before_a_notice_is_sent_share_one_notice(owner: Client) -> None:
    for n in range(5):
        change(owner, n)
    owner.put("/profile", {"email": "maling@example.com"})
    (notice,) = notices()
    assert words_of(notice)["text"].startswith("Data akun Anda baru saja diubah: kata sandi, alamat e-mail.")


def test_changes_after_a_sent_notice_share_one_notice_ten_minutes_later(owner: Client) -> None:
    change(owner, 1)
    send_one()
    change(owner, 2)
    owner.put("/profile", {"email": "maling@example.com"})
    change(owner, 3)
    first, second = notices()
    assert (first.state, second.state) == (DeliveryState.SENT, DeliveryState.PENDING)
    assert second.due_at == first.due_at + WINDOW
    assert second.expires_at == second.due_at + timedelta(days=1)
    assert words_of(second)["text"].startswith("Data akun Anda baru saja diubah: kata sandi, alamat e-mail.")


def test_a_change_over_ten_minutes_after_a_notice_is_due_immediately(owner: Client) -> None:
    change(owner, 1)
    send_one()
    (first,) = notices()
    first.due_at -= WINDOW
    change(owner, 2)
    second = notices()[1]
    assert second.due_at - first.due_at > WINDOW
    assert second.due_at <= db.session.scalar(sa.select(sa.func.clock_timestamp()))


def test_changes_of_two_accounts_create_separate_notices(client: Client, owner: Client) -> None:
    other = client.as_(make_user())
    change(owner, 1)
    change(other, 1)
    assert {notice.user_id for notice in notices()} == {owner.id, other.id}


def test_two_concurrent_changes_create_one_notice(committed: Flask) -> None:
    user = make_user()
    db.session.commit()
    user_id = user.id
    clients = [Client(committed).as_(db.session.get_one(User, user_id)) for _ in range(2)]
    db.session.commit()
    emails = iter(["satu@example.com", "dua@example.com"])

    def work(client: Client, email: str) -> None:
        assert client.put("/profile", {"email": email}).status_code == 200

    run_together(committed, *(lambda c=c, e=e: work(c, e) for c, e in zip(clients, emails, strict=True)))
    assert len(notices()) == 1


def test_only_five_of_six_concurrent_password_changes_are_accepted(committed: Flask) -> None:
    user = make_user()
    client = Client(committed).as_(user)
    db.session.commit()
    before = committed.extensions["limits"]
    committed.extensions["limits"] = RateLimits(committed.extensions["redis"], enabled=True)
    try:
        statuses: list[int] = []

        def work(n: int) -> None:
            statuses.append(client.put("/profile", {"password": f"baru-sekali-{n}"}).status_code)

        run_together(committed, *(lambda n=n: work(n) for n in range(6)))
    finally:
        committed.extensions["limits"] = before
    assert sorted(statuses) == [200] * 5 + [429]
