"""Rate limits of the public web push routes by target person."""

import pytest

from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.push.pushes import PAYLOAD

pytestmark = pytest.mark.usefixtures("limited")

ELSEWHERE = {"REMOTE_ADDR": "10.0.1.1"}


def test_a_person_gets_at_most_20_pushes_per_minute_from_all_ip_addresses(client):
    user_id, other_id = make_user().id, make_user().id
    body = {"user_id": user_id, "payload": PAYLOAD}
    for n in range(20):
        assert client.post("/push/send", body, environ_base={"REMOTE_ADDR": f"10.0.0.{n}"}).status_code == 200
    for spelling in ("{}", "0{}", " {} ", "+{}"):
        sent = {**body, "user_id": spelling.format(user_id)}
        refused = client.post("/push/send", sent, environ_base=ELSEWHERE)
        assert_error(refused, 429, "too_many_requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 61
    assert client.post("/push/send", {**body, "user_id": other_id}).status_code == 200


def test_unverified_subscriptions_of_a_person_are_limited_to_30_per_hour(client, sim, keys):
    user = make_user()
    claim = {**sim.push.subscribe(keys), "user_id": user.id}
    for n in range(30):
        response = client.post("/push/subscribe", claim, environ_base={"REMOTE_ADDR": f"10.0.0.{n}"})
        assert response.status_code in (200, 201)
    assert_error(client.post("/push/subscribe", claim, environ_base=ELSEWHERE), 429)
    # The limit does not apply to requests with the person's token, or to a subscription without a person.
    assert client.as_(user).post("/push/subscribe", claim, environ_base=ELSEWHERE).status_code == 200
    anonymous = sim.push.subscribe(keys)
    assert client.post("/push/subscribe", anonymous, environ_base=ELSEWHERE).status_code == 201
