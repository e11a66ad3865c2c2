"""Concurrent requests about a person's browsers: subscribe, unsubscribe, and creating a push for each browser."""

import base64
import secrets
from functools import partial

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.identity import jobs as identity_jobs
from app.identity.models import RoleName
from app.notifications.delivery import claims
from app.notifications.models import Channel
from app.push import transport
from app.push.service import MAX_PER_USER
from tests.races.meeting import NOBODY, Job, encounter, statuses
from tests.races.people import remove
from tests.races.reminders import left_of, remind

#: Tables whose rows are deleted with a session, and the column with the owner's id.
OWNERS = {"push_subscriptions": "user_id", "invitations": "patient_id", "phone_verifications": "user_id"}


def browser(scene):
    key = ec.generate_private_key(ec.SECP256R1()).public_key()
    point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return {
        "endpoint": f"https://push.example.com/{scene.number()}/{secrets.token_hex(8)}",
        "keys": {"p256dh": _encoded(point), "auth": _encoded(secrets.token_bytes(16))},
    }


def _encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def subscribe(person, data):
    return person.post("/push/subscribe", **data)


def unsubscribe(data):
    return NOBODY.delete("/push/subscribe", endpoint=data["endpoint"])


def subscriptions(scene, endpoint):
    return int(scene.sql("SELECT count(*) FROM push_subscriptions WHERE endpoint = :endpoint", endpoint=endpoint))


@encounter(200, 201)
def subscription_twins(scene):
    person, data = scene.person(), browser(scene)
    responses = yield [subscribe(person, data)] * 3
    assert statuses(responses) == [200, 200, 201]
    assert subscriptions(scene, data["endpoint"]) == 1


@encounter(200, 201, 409)
def two_people_on_one_browser(scene):
    """Two people and an anonymous caller subscribe one browser. The anonymous request must not replace the owner."""
    a, b, data = scene.person(), scene.person(), browser(scene)
    yield [subscribe(a, data), subscribe(b, data), subscribe(NOBODY, data)]
    assert subscriptions(scene, data["endpoint"]) == 1
    proven = "SELECT is_verified FROM push_subscriptions WHERE endpoint = :endpoint"
    assert scene.sql(proven, endpoint=data["endpoint"]) is True


@encounter(200, 201, 404)
def subscribing_meets_unsubscribing(scene):
    person, data = scene.person(), browser(scene)
    scene.send(subscribe(person, data))
    yield [subscribe(person, data), unsubscribe(data), subscribe(person, data), unsubscribe(data)]
    assert subscriptions(scene, data["endpoint"]) <= 1


@encounter(200, 201, 401)
def subscribing_meets_the_end_of_the_session(scene):
    person, known = scene.person(RoleName.PASIEN), browser(scene)
    scene.send(subscribe(person, known))
    yield [
        subscribe(person, known),
        subscribe(person, browser(scene)),
        person.post("/logout"),
        person.post("/patient/invitations", scopes=[]),
        person.post("/profile/phone/verification"),
        subscribe(person, browser(scene)),
    ]
    for table, owner in OWNERS.items():
        assert scene.sql(f"SELECT count(*) FROM {table} WHERE {owner} = :id", id=person.id) == 0


@encounter(200, 201, 401, 409)
def sessions_end_while_the_person_is_deleted(scene):
    """Try to cause a deadlock.

    One request deletes a session first and then its subscriptions. Another request deletes the subscriptions first.
    """
    leaving = scene.person(RoleName.ADMIN)
    for _ in range(2):
        scene.send(subscribe(leaving, browser(scene)))
    scene.change(
        """UPDATE sessions SET last_used_at = now() - interval '8 days', expires_at = now() - interval '7 days'
        WHERE user_id = :id""",
        id=leaving.id,
    )
    yield [leaving.post("/logout"), remove(scene.admin(), leaving), Job(identity_jobs.delete_expired_sessions)]
    assert left_of(scene, leaving) == 0


@encounter(201)
def more_browsers_than_a_person_may_have(scene):
    person = scene.person()
    for _ in range(MAX_PER_USER - 1):
        scene.send(subscribe(person, browser(scene)))
    yield [subscribe(person, browser(scene)) for _ in range(4)]
    assert scene.sql("SELECT count(*) FROM push_subscriptions WHERE user_id = :id", id=person.id) == MAX_PER_USER


@encounter(200, 201)
def all_browsers_subscribe_anew(scene):
    """Try to cause a deadlock.

    Each request subscribes one browser and deletes the oldest ones, which other requests subscribe again.
    """
    person = scene.person()
    browsers = [browser(scene) for _ in range(4)]
    for data in browsers:
        scene.send(subscribe(person, data))
    scene.change(
        """INSERT INTO push_subscriptions (endpoint, p256dh, auth, user_id, is_verified)
        SELECT 'https://push.example.com/' || :id || '/' || n, '', '', :id, true
        FROM generate_series(1, :count) AS n""",
        id=person.id,
        count=MAX_PER_USER,
    )
    yield [subscribe(person, data) for data in browsers]
    assert scene.sql("SELECT count(*) FROM push_subscriptions WHERE user_id = :id", id=person.id) == MAX_PER_USER


@encounter(200, 201, 400, 401, 404, 409)
def subscriptions_meet_delete_of_the_person(scene):
    admin, leaving, other = scene.admin(), scene.person(RoleName.ADMIN), scene.person()
    known, taken = browser(scene), browser(scene)
    scene.send(subscribe(leaving, known))
    scene.send(subscribe(leaving, taken))
    yield [
        subscribe(leaving, known),
        subscribe(leaving, browser(scene)),
        remove(admin, leaving),
        subscribe(other, taken),
        NOBODY.post("/push/subscribe", **browser(scene), user_id=leaving.id),
        unsubscribe(known),
        NOBODY.post("/push/send", user_id=leaving.id, payload={"title": "Halo", "body": "Halo"}),
    ]
    assert left_of(scene, leaving) == 0
    assert subscriptions(scene, taken["endpoint"]) <= 1


@encounter(200)
def fanning_out_meets_delete_of_the_person(scene):
    """The worker inserts a delivery for each browser. At the same time the person and their deliveries are deleted."""
    admin, leaving = scene.admin(), scene.person(RoleName.ADMIN)
    for _ in range(3):
        scene.send(subscribe(leaving, browser(scene)))
    scene.change("DELETE FROM deliveries WHERE channel = 'push_fan_out'")
    scene.new(remind(leaving))
    due = "UPDATE deliveries SET next_try_at = now() WHERE user_id = :id AND channel = 'push_fan_out'"
    scene.change(due, id=leaving.id)
    delivery = claims.claim("urgent", Channel.PUSH_FAN_OUT)
    assert delivery is not None
    yield [Job(partial(transport.fan_out, delivery)), remove(admin, leaving)]
    assert left_of(scene, leaving) == 0
