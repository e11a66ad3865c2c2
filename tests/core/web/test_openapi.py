"""Types in the OpenAPI document: names, required properties, enumerations, variants, errors."""

import re
from collections import Counter

import pytest

from app.core.web.blueprint import api
from app.core.web.openapi.document import METHODS
from tests.routes.registry import routes

#: Global types of browsers. A generated type with such a name would hide the browser's type.
GLOBALS = """Array BigInt Blob Body Boolean Cache Comment Crypto DataView Date Document Element Error Event File
FormData Function Headers History Image Intl Iterator JSON Location Lock Map Math MessageEvent Module Navigator Node
Notification Number Object Option Plugin Promise Proxy PushManager PushSubscription Range Record Reflect
RegExp Report Request Response Screen Selection Set Storage String Symbol Text Touch URL WeakMap Window Worker"""


@pytest.fixture
def document(app):
    return api.spec.to_dict()


def operations(document):
    return {
        operation["operationId"]: operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    }


def test_every_route_has_an_operation_with_a_unique_id(document, app):
    names = operations(document)
    assert len(names) == len(routes(app))
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name) for name in names)
    assert {"login", "listThreads", "createReminder", "listNearbyFaskes", "exportReport"} <= names.keys()


def test_no_schema_has_the_name_of_a_global_javascript_type(document):
    assert not set(GLOBALS.split()) & document["components"]["schemas"].keys()


def test_no_two_paths_differ_only_in_a_parameter_name(document):
    shapes = Counter(re.sub(r"\{\w+\}", "{}", path) for path in document["paths"])
    assert shapes.most_common(1)[0][1] == 1
    admin = document["paths"]["/api/admins/{username_or_user_id}"]
    types = {method: admin[method]["parameters"][0]["schema"]["type"] for method in METHODS & admin.keys()}
    assert types == {"get": "string", "put": "integer", "delete": "integer"}


def test_response_properties_are_required_unless_marked_optional(document):
    schemas = document["components"]["schemas"]
    assert set(schemas["User"]["required"]) == set(schemas["User"]["properties"])
    assert set(schemas["Thread"]["properties"]) - set(schemas["Thread"]["required"]) == {
        "replies_truncated", "is_hidden", "hidden_reason", "is_blocked", "help"
    }  # fmt: skip
    assert set(schemas["ThreadRow"]["properties"]) - set(schemas["ThreadRow"]["required"]) == {
        "is_hidden", "hidden_reason"
    }  # fmt: skip
    assert set(schemas["ApiError"]["required"]) == {"error", "message", "request_id"}
    assert "x-optional" not in str(document)


def test_a_query_parameter_is_never_null(document):
    queries = [
        parameter["schema"]
        for operation in operations(document).values()
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    ]
    assert len(queries) > 50
    assert "null" not in str(queries)
    assert all(schema.get("default", "") is not None for schema in queries)


def test_an_operation_documents_its_summary_and_all_errors_once(document):
    for name, operation in operations(document).items():
        assert operation["summary"], name
        responses = operation["responses"]
        assert responses["default"] == {"$ref": "#/components/responses/DEFAULT_ERROR"}, name
        assert {status[0] for status in responses.keys() - {"default", "304", "302"}} <= {"2"}, name


def test_an_operation_documents_its_token_and_role_requirements(document):
    found = {name: (each["security"], each["description"]) for name, each in operations(document).items()}
    assert found["refresh"] == ([], "Needs no token.")
    assert found["listThreads"] == ([{}, {"bearer": []}], "Needs no token; one that is sent must be valid.")
    assert found["getProfile"] == ([{"bearer": []}], "Needs a token.")
    assert found["updateAdmin"][1].splitlines()[-1] == "Needs the role admin."
    assert found["updateAdmin"][1].startswith("Only super-admins change the password or phone number")
