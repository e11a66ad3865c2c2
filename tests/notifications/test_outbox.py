"""Deliveries that are added to the outbox, and cancelled."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity import field_encryption
from app.notifications import outbox
from app.notifications.delivery import claims, sealing, settlements
from app.notifications.models import About, Channel, Delivery, DeliveryState
from tests.notifications.deliveries import add, ready, reread, words_of

RESET = About("user", 1)


def cancel():
    with unit_of_work():
        outbox.cancel(outbox.is_about(RESET))


def test_adding_the_same_dedupe_key_twice_makes_one_delivery(app):
    add(dedupe_key="once")
    add(dedupe_key="once")
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 1


def test_a_rollback_leaves_no_delivery(app):
    with pytest.raises(ZeroDivisionError), unit_of_work():  # noqa: PT012  # the error must come after the effect
        outbox.send(outbox.NewDelivery(kind="test", dedupe_key="rolled back", target="+62811"))
        raise ZeroDivisionError
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


def test_a_delivery_that_is_not_yet_due_is_not_claimed(app):
    add(due_at=local_time.now() + timedelta(hours=1), expires_at=local_time.now() + timedelta(hours=2))
    assert claims.claim("urgent", Channel.MESSAGING) is None


def test_a_cancelled_delivery_is_not_claimed_and_a_second_cancel_has_no_effect(app):
    row, settled = add(about=RESET), []
    for _ in range(2):
        cancel()
        assert claims.claim("urgent", Channel.MESSAGING) is None
        row = reread(row.dedupe_key)
        assert row.state == DeliveryState.CANCELLED
        settled.append(row.settled_at)
    assert settled[0] == settled[1]


def test_a_cancelled_delivery_that_is_added_again_can_be_claimed(app):
    row = add(dedupe_key="back", about=RESET, words={"text": "lama"})
    cancel()
    add(dedupe_key="back", about=RESET, words={"text": "baru"})
    claimed = ready()
    assert (claimed.id, claimed.words) == (row.id, {"text": "baru"})


def test_a_sent_delivery_that_is_added_again_stays_sent(app):
    add(dedupe_key="sent", about=RESET)
    claimed = claims.claim("urgent", Channel.MESSAGING)
    cancel()
    settlements.record_sent(claimed, "ref")  # the provider was called before the cancellation
    add(dedupe_key="sent", about=RESET)
    assert reread("sent").state == DeliveryState.SENT


def test_a_claimed_delivery_cancelled_and_added_again_waits_for_the_lease(app):
    add(dedupe_key="busy", about=RESET)
    before = local_time.now()
    assert claims.claim("urgent", Channel.MESSAGING) is not None
    cancel()
    add(dedupe_key="busy", about=RESET)
    assert claims.claim("urgent", Channel.MESSAGING) is None
    assert reread("busy").next_try_at >= before + timedelta(seconds=claims.LEASE_S)


def test_a_sealed_text_cannot_be_decrypted_for_another_user(app):
    sealed = sealing.seal({"text": "rahasia"}, 7)
    assert "rahasia" not in sealed
    with pytest.raises(field_encryption.UndecryptableField):
        sealing.unseal(sealed, 8)


@pytest.mark.parametrize(("environment", "kept"), [("testing", {"text": "rahasia"}), ("production", None)])
def test_settling_deletes_the_sealed_text_and_production_keeps_no_copy(app, change_settings, environment, kept):
    change_settings(environment=environment)
    for key, settle in (
        ("sent", lambda claimed: settlements.record_sent(claimed, None)),
        ("failed", lambda claimed: settlements.record_failed(claimed, "no")),
        ("missed", lambda claimed: settlements.record_retry(claimed, 100_000, "no")),
    ):
        add(dedupe_key=key, words={"text": "rahasia"})
        assert "rahasia" not in str(vars(reread(key)))
        claimed = ready()
        settle(claimed)
        row = reread(key)
        said = row.sealed and sealing.unseal(row.sealed, None)
        assert (row.state, said) == (key, kept if key == "sent" else None)
    add(dedupe_key="retried", words={"text": "rahasia"})
    claimed = claims.claim("urgent", Channel.MESSAGING)
    settlements.record_retry(claimed, 1, "no")
    assert words_of(reread("retried")) == {"text": "rahasia"}
