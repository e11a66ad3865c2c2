"""Rules of subscriptions: how many a person may have, and which keys and endpoints are accepted."""

import sqlalchemy as sa

from app.core.database.session import db
from app.push import service
from app.push.models import PushSubscription
from tests.helpers.factories import make_user


def endpoints(user_id):
    found = sa.select(PushSubscription.endpoint).filter_by(user_id=user_id).order_by(PushSubscription.id)
    return db.session.scalars(found).all()


def test_a_person_keeps_the_ten_newest_subscriptions(client, sim, keys):
    user = make_user()
    browsers = [sim.push.subscribe(keys) for _ in range(12)]
    for browser in browsers:
        client.as_(user).post("/push/subscribe", browser)
    assert endpoints(user.id) == [browser["endpoint"] for browser in browsers[2:]]


def test_unverified_subscriptions_do_not_replace_verified_ones(client, sim, keys):
    user = make_user()
    proven = [sim.push.subscribe(keys) for _ in range(3)]
    for browser in proven:
        client.as_(user).post("/push/subscribe", browser)
    for _ in range(15):
        client.post("/push/subscribe", {**sim.push.subscribe(keys), "user_id": user.id})
    left = endpoints(user.id)
    assert len(left) == service.MAX_PER_USER
    assert {browser["endpoint"] for browser in proven} <= set(left)


def test_the_example_keys_of_the_openapi_document_are_accepted(client, browser):
    document = client.get("/api/openapi.json").json["components"]["schemas"]["PushKeys"]["properties"]
    shown = {name: document[name]["example"] for name in ("p256dh", "auth")}
    assert client.post("/push/subscribe", {**browser, "keys": shown}).status_code == 201
