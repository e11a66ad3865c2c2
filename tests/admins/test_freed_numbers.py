"""Tests of phone numbers that an administrator removes from an account."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import PasswordReset, PhoneVerification
from app.notifications.models import Delivery, DeliveryState
from tests.accounts.phone_verification.proofs import NEW, OWN, ask, messages, pushes, use, write
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of

REASON = "Nomor ini sekarang milik orang lain."


def free(admin, user_id):
    assert admin.delete(f"/admins/users/{user_id}/phone", {"reason": REASON}).status_code == 200
    db.session.expire_all()


def test_removing_a_number_deletes_resets_verifications_and_deliveries(client, owner, admin):
    client.get("/send-verification-code", query_string={"phone": OWN})
    ask(owner, nomor_hp=NEW)
    owner.put("/profile", {"email": "lain@example.com"})
    free(admin, owner.id)
    assert db.session.scalars(sa.select(PasswordReset)).all() == []
    assert db.session.scalars(sa.select(PhoneVerification)).all() == []
    to_number = sa.select(Delivery.state).where(Delivery.target == "+6281234567890")
    assert set(db.session.scalars(to_number)) == {DeliveryState.CANCELLED}


def test_the_person_is_notified_by_push_and_reads_the_reason(owner, admin):
    free(admin, owner.id)
    assert pushes() == [(owner.id, "number_freed")]
    (told,) = messages("security_notice")
    assert_readable(str(words_of(told)["body"]))
    (row,) = [row for row in owner.get("/profile/akses").json if row["action"] == "number_freed"]
    assert (row["who"], row["reason"]) == ("Administrator", REASON)


def test_a_freed_number_can_be_verified_without_the_former_owner(client, owner, admin):
    use(OWN, seconds=-60)
    other = client.as_(make_user(username="ana", nomor_hp=None))
    code = ask(other, nomor_hp=OWN)["code"]
    assert write(code) == "in_use"
    free(admin, owner.id)
    assert write(code) == "proven"
    assert other.get("/profile").json["nomor_hp"] == OWN
