"""Tests that the OpenAPI document is valid and matches the service's responses.

`make fuzz` runs the same checks for longer.
"""

import pytest
from jsonschema_rs import Draft202012Validator, meta

from app.core.database.session import db, unit_of_work
from app.providers import vapid
from bench.fuzz import WHO, FuzzIdentity, fuzz, operations_of
from bench.malformed import ask
from dev import demo
from tests.helpers.apps import config_for_tests, create_patient_app

pytestmark = [pytest.mark.takes(seconds=90), pytest.mark.processes]

METHODS = ("get", "post", "put", "delete")


@pytest.fixture
def document(client):
    return client.get("/openapi.json").json


@pytest.fixture
def served(committed, variables, sim):
    """Yield the application with demo data and provider simulators."""
    public, private = vapid.new_keys()
    keys = {"VAPID_PUBLIC_KEY": public, "VAPID_PRIVATE_KEY": private, "VAPID_SUBJECT": "mailto:fuzz@example.org"}
    app = create_patient_app(config_for_tests(**variables, **sim.env, **keys))
    with app.app_context():
        with unit_of_work():
            demo.fill()
        yield app
        db.engine.dispose()


@pytest.mark.parametrize("role", WHO, ids=lambda role: role or "nobody")
def test_every_response_to_a_generated_request_matches_the_openapi_document(served, role):
    found = fuzz(served, role, examples=1, seed=20_260_301)
    assert not found.faults, str(found)
    assert max(found.answers) < 500, found.answers
    successes = sum(found.answers[status] for status in (200, 201, 202, 204))
    assert successes >= len(operations_of(served, role)), found.answers


def test_a_malformed_body_or_header_is_refused_in_the_error_format(served):
    tokens = [FuzzIdentity(served, role).current() for role in WHO if role]
    answers = ask(served, tokens, examples=600, seed=20_260_301)
    assert answers.total() >= 500
    assert answers[400] > 100, answers


def test_every_schema_is_valid_and_rejects_a_string(document):
    for name, schema in document["components"]["schemas"].items():
        meta.validate(schema)
        asked = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        assert not Draft202012Validator(asked).is_valid("a text, which no schema of ours is"), name


def test_every_reference_in_the_openapi_document_resolves(document):
    waiting = [document]
    while waiting:
        match waiting.pop():
            case {"$ref": str(ref)}:
                _, section, kind, name = ref.split("/")
                assert name in document[section][kind], ref
            case dict() as node:
                waiting.extend(node.values())
            case list() as nodes:
                waiting.extend(nodes)


def test_a_body_is_required_if_a_field_is_and_allows_unknown_fields(document):
    bodies = {
        (path, method): operation["requestBody"]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS and "requestBody" in operation
    }
    assert bodies["/api/login", "post"]["required"] is True
    assert bodies["/api/profile", "put"]["required"] is False
    for body in bodies.values():
        for content in body["content"].values():
            name = content["schema"]["$ref"].rpartition("/")[2]
            assert document["components"]["schemas"][name].get("additionalProperties") is not False, name
