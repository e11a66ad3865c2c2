"""Answer links after the phone number that received them was changed. Another person may have the old number."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from app.notifications.models import Delivery
from tests.caregivers.dependents import keep
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.pengingat.links import page, payloads


def change_number(user_id, at):
    db.session.execute(sa.update(User).filter_by(id=user_id).values(phone="+6281355550001", phone_changed_at=at))


def send(user_id, at):
    """Mark the due messages to this person as sent at this time."""
    due = sa.update(Delivery).where(Delivery.user_id == user_id, Delivery.due_at < at)
    db.session.execute(due.values(state="sent", settled_at=at))


@pytest.fixture
def of_dependent(moment, public, budi, obat):
    """Return the tokens of a dose of Budi's mother, a dependent. The dose was due five minutes ago."""
    assert budi.post(f"/pengingat/obat?patient_id={keep(budi)}", obat).status_code == 201
    moment.move(hours=11, minutes=5)
    return [str(payloads("messaging")[0]["parts"]["token"]), str(payloads("push_fan_out")[0]["token"])]


def test_links_of_a_dependent_end_when_the_caregivers_number_changes(client, moment, budi, of_dependent):
    assert page(client, of_dependent[0]).status_code == 200
    change_number(budi.id, moment.now)
    assert page(client, of_dependent[0]).status_code == 404
    for token in of_dependent:
        assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 404, "not_found")


def test_a_link_of_a_dependent_works_if_it_is_sent_to_the_caregivers_new_number(client, moment, budi, of_dependent):
    change_number(budi.id, moment.now)
    moment.move(minutes=10)
    dependent_id = db.session.scalars(sa.select(User.id).filter_by(guardian_id=budi.id)).one()
    send(dependent_id, moment.now)
    assert page(client, of_dependent[0]).status_code == 200


def test_messages_to_other_people_do_not_revive_a_link(client, moment, siti, token, obat):
    change_number(siti.id, moment.now)
    moment.now, now = moment.now.replace(hour=1), moment.now
    other = client.as_(make_user())
    assert other.post("/pengingat/obat", obat).status_code == 201
    moment.now = now
    moment.move(minutes=10)
    send(other.id, moment.now)
    assert page(client, token).status_code == 404
