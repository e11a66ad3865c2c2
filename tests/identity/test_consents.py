"""Consents of people: current and earlier answers."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity import consents
from app.identity.consents import Consent, ConsentSource, Purpose
from app.identity.models import User
from tests.helpers.factories import make_user


@pytest.fixture
def user_id(app):
    return make_user().id


def withdrawn(purpose):
    return list(db.session.scalars(sa.select(User.id).where(consents.is_withdrawn(User.id, purpose))))


def test_a_withdrawal_is_a_change_and_a_first_consent_is_none(user_id):
    assert consents.record(user_id, {Purpose.BROADCASTS: False}, ConsentSource.APP) == {Purpose.BROADCASTS}
    assert consents.record(user_id, {Purpose.HEALTH_DATA: True}, ConsentSource.REGISTRATION) == set()
    assert withdrawn(Purpose.HEALTH_DATA) == []
    assert consents.record(user_id, {Purpose.HEALTH_DATA: False}, ConsentSource.APP) == {Purpose.HEALTH_DATA}
    assert withdrawn(Purpose.HEALTH_DATA) == [user_id]
    assert consents.record(user_id, {Purpose.HEALTH_DATA: True}, ConsentSource.APP) == {Purpose.HEALTH_DATA}
    assert withdrawn(Purpose.HEALTH_DATA) == []


def test_consent_history_is_kept_and_a_repeated_answer_is_not_stored_twice(user_id):
    for granted in (True, True, False):
        consents.record(user_id, {Purpose.HEALTH_DATA: granted}, ConsentSource.APP)
    rows = db.session.execute(sa.select(Consent.granted, Consent.ended_at.is_(None)).order_by(Consent.id))
    assert [tuple(row) for row in rows] == [(True, False), (False, True)]
