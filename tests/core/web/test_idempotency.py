"""Repeated requests with an `Idempotency-Key`. A repeated request gets the same response and creates nothing."""

from datetime import timedelta
from io import BytesIO

import pytest
import sqlalchemy as sa

from app.core.database import session
from app.core.database.session import db
from app.core.web import idempotency
from app.core.web.blueprint import api
from app.core.web.idempotency import IdempotencyKey
from app.forum.models import Post
from app.forum.service import posts
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.races.meeting import Call, Scene, statuses

THREAD = {"title": "Menu", "content": "Nasi?", "category_id": 1}
KEY = "3f0c1d0f-8a5b-4c6e-9d2a-7b1e4f5c6d7e"


def write(client, key=KEY, **thread):
    return client.post("/forum/threads", THREAD | thread, headers={"Idempotency-Key": key} if key else {})


def reply_to(client, thread_id):
    return client.post(f"/forum/threads/{thread_id}/reply", {"content": "Ya"}, headers={"Idempotency-Key": KEY})


def count():
    return db.session.scalar(sa.select(sa.func.count()).select_from(Post)) or 0


def test_a_retry_gets_the_first_response_and_creates_nothing(siti):
    first, second = write(siti), write(siti)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.data == first.data
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    again = siti.post("/forum/threads", dict(reversed(THREAD.items())), headers={"Idempotency-Key": KEY})
    assert again.headers["Idempotency-Replayed"] == "true"
    assert_error(write(siti, title="Minum"), 409, "idempotency_mismatch")
    assert count() == 1


def test_without_a_key_each_request_creates_a_row_and_no_key_is_stored(siti):
    write(siti, key=None)
    write(siti, key=None)
    assert count() == 2
    assert not db.session.scalars(sa.select(IdempotencyKey)).all()


def test_a_key_adds_two_statements_and_a_replay_needs_three(siti, statements):
    write(siti, key=None)
    counts = []
    for key in (None, KEY, KEY):
        before = len(statements.seen)
        write(siti, key=key)
        counts.append(len(statements.seen) - before)
    without, with_key, replay = counts
    assert with_key == without + 2
    assert replay == 3  # one statement each for the session, the key and the stored response


def test_a_form_with_another_boundary_is_replayed_and_another_file_is_refused(siti):
    def send(picture, boundary):
        form = {**THREAD, "image": (BytesIO(picture), f"{boundary}.png")}
        content_type = f"multipart/form-data; boundary={boundary}"
        return siti.open(
            "POST", "/forum/threads", data=form, content_type=content_type, headers={"Idempotency-Key": KEY}
        )

    first = send(plain("PNG"), "one")
    assert first.status_code == 201, first.text
    again = send(plain("PNG"), "two")
    assert again.data == first.data
    assert again.headers["Idempotency-Replayed"] == "true"
    assert_error(send(plain("PNG", size=(3, 3)), "one"), 409, "idempotency_mismatch")


def test_the_same_key_of_another_user_or_route_is_a_new_request(client, siti):
    threads = [write(siti, key).json["id"] for key in (KEY, None)]
    assert write(client.as_(make_user())).ok(201)["id"] not in threads
    reply = reply_to(siti, threads[0])
    assert reply.status_code == 201
    assert "Idempotency-Replayed" not in reply.headers
    assert_error(reply_to(siti, threads[1]), 409, "idempotency_mismatch")  # the route is the same, the path is not


def test_a_rejected_request_does_not_use_up_its_key(siti):
    assert_error(write(siti, title=""), 400, "validation_error")
    assert write(siti).status_code == 201


def test_an_invalid_key_is_refused(siti):
    for key in ("short", "x" * 65, "with blank", "titik.titik", "ü" * 8):
        assert_error(write(siti, key=key), 400, "validation_error", "Idempotency-Key")


def test_an_expired_key_can_be_used_again_and_is_deleted_by_the_cleanup(siti):
    for written in (1, 2):
        assert "Idempotency-Replayed" not in write(siti).headers
        assert count() == written
        db.session.execute(sa.update(IdempotencyKey).values(created_at=IdempotencyKey.created_at - timedelta(hours=25)))
    write(siti, key="another-key")
    db.session.commit()
    idempotency.delete_old()
    assert db.session.scalars(sa.select(IdempotencyKey.key)).all() == ["another-key"]


def test_clearing_the_responses_of_one_endpoint_leaves_those_of_others(siti):
    thread_id = write(siti).json["id"]
    idempotency.clear("admins.create_admin", record_id=thread_id)
    assert write(siti).headers["Idempotency-Replayed"] == "true"


def test_the_stored_hash_of_a_body_depends_on_the_secret_key(siti, change_settings):
    """The stored hash of a body uses the secret key, because an attacker could guess a password from a plain hash."""
    write(siti)
    change_settings(secret_key="another-secret-" * 4)
    assert_error(write(siti), 409, "idempotency_mismatch")


def test_openapi_has_the_key_for_authenticated_creates_without_secrets(app):
    document = api.spec.to_dict()
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method not in ("get", "put", "delete", "post"):
                continue
            names = {parameter.get("name") for parameter in operation.get("parameters", ())}
            is_create = method == "post" and not {"201", "202"}.isdisjoint(operation["responses"])
            takes_key = is_create and operation["security"] == [{"bearer": []}]
            has_secret = operation["operationId"] in WITH_SECRETS
            assert ("Idempotency-Key" in names) is (takes_key and not has_secret), f"{method} {path}"


#: Routes that create something and return a secret. The secret is stored nowhere else.
WITH_SECRETS = {"beginOtp", "createInvitation", "createPhoneVerification", "replaceRecoveryCodes"}


@pytest.fixture
def scene(committed):
    return Scene(committed)


def create(person):
    return Call("POST", "/forum/threads", THREAD, person.token, key=KEY)


def test_when_one_of_two_concurrent_creates_fails_the_other_creates_the_row(scene, monkeypatch):
    siti, crashes = scene.person(), iter([True])
    whole = posts.create_thread

    def crash_once(*args, **values):
        created = whole(*args, **values)
        if next(crashes, False):
            raise RuntimeError("the first one crashes")
        return created

    monkeypatch.setattr(posts, "create_thread", crash_once)
    monkeypatch.setitem(scene.app.config, "PROPAGATE_EXCEPTIONS", False)
    assert statuses(scene.meet([create(siti), create(siti)])) == [201, 500]
    assert scene.sql("SELECT count(*) FROM posts") == 1


def test_a_retry_after_a_crash_after_the_commit_gets_the_created_row(scene, monkeypatch):
    siti = scene.person()
    monkeypatch.setitem(scene.app.config, "PROPAGATE_EXCEPTIONS", False)
    with monkeypatch.context() as broken:
        broken.setattr(session, "_run", lambda _: 1 / 0)  # the request fails right after its commit
        assert scene.send(create(siti)).status == 500
    again = scene.send(create(siti))
    assert again.status == 201
    assert scene.sql("SELECT id FROM posts") == again.body["id"]
    assert scene.sql("SELECT count(*) FROM posts") == 1
