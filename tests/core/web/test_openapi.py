"""Types in the OpenAPI document: names, required properties, enumerations, variants, errors."""

import re
from collections import Counter
from typing import Any

import pytest

from app.core.lib.provinces import PROVINCES
from app.core.web.blueprint import api
from app.core.web.openapi.document import METHODS
from tests.routes.registry import routes

Node = dict[str, Any]

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


def body(document, operation, status="200"):
    """Return the schema of a JSON response."""
    return operations(document)[operation]["responses"][status]["content"]["application/json"]["schema"]


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


def test_an_update_of_notification_settings_has_no_required_fields(document):
    schemas = document["components"]["schemas"]
    assert "required" not in schemas["NotificationSettingsUpdate"]
    assert set(schemas["NotificationSettings"]["required"]) == set(schemas["NotificationSettingsUpdate"]["properties"])


def test_nullable_account_properties_allow_null_in_the_schema(document):
    account = document["components"]["schemas"]["Account"]["properties"]
    assert account["email"]["type"] == ["string", "null"]
    assert account["nama_samaran"]["type"] == "null"
    assert account["domicile"]["anyOf"] == [{"$ref": "#/components/schemas/Province"}, {"type": "null"}]
    assert account["username"]["type"] == "string"


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


def test_enumerations_are_named_schemas(document):
    schemas = document["components"]["schemas"]
    assert schemas["Province"] == {"type": "string", "enum": list(PROVINCES)}
    assert schemas["Tipe"] == {"type": "string", "enum": ["obat", "makan", "terapi", "kontrol"]}
    assert "nik_read" in schemas["AuditAction"]["enum"]
    assert {"validation_error", "username_taken", "provider_timeout"} < set(schemas["ErrorCode"]["enum"])


@pytest.mark.parametrize("name", ["Pengingat", "PengingatCreate"])
def test_the_tipe_of_a_reminder_selects_the_schema_of_its_details(document, name):
    schemas = document["components"]["schemas"]
    mapping = schemas[name]["discriminator"]["mapping"]
    assert [each["$ref"] for each in schemas[name]["oneOf"]] == list(mapping.values())
    for tipe, ref in mapping.items():
        variant = schemas[ref.rpartition("/")[2]]
        assert variant["properties"]["tipe"]["const"] == tipe
        assert variant["properties"]["details"] == {"$ref": f"#/components/schemas/{tipe.capitalize()}Details"}
        assert {"tipe", "details", "judul"} <= set(variant["required"])


def test_a_picture_is_a_file_in_a_form_and_null_in_json(document):
    content = operations(document)["createThread"]["requestBody"]["content"]
    schemas = document["components"]["schemas"]
    assert content["multipart/form-data"]["schema"] == {"$ref": "#/components/schemas/ThreadCreateForm"}
    assert schemas["ThreadCreateForm"]["properties"]["image"].items() >= {"type": "string", "format": "binary"}.items()
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/ThreadCreate"}
    assert schemas["ThreadCreate"]["properties"]["image"]["type"] == "null"


def test_an_export_response_can_be_csv_xlsx_or_pdf(document):
    response = operations(document)["exportReport"]["responses"]["200"]
    assert [kind.rpartition(".")[2] for kind in response["content"]] == ["text/csv", "sheet", "application/pdf"]


@pytest.mark.parametrize(
    ("operation", "statuses"),
    [
        ("listProvinces", {"200", "304"}),
        ("getProfile", {"200"}),
        ("createThread", {"201"}),
        ("createLink", {"200", "201"}),
        ("getExport", {"200", "202"}),
    ],
)
def test_an_operation_documents_its_successes_and_all_errors_once(document, operation, statuses):
    responses = operations(document)[operation]["responses"]
    assert responses.keys() == {*statuses, "default"}
    assert responses["default"] == {"$ref": "#/components/responses/DEFAULT_ERROR"}


@pytest.mark.parametrize("operation", ["createReminder", "createObatReminder"])
def test_a_create_for_a_patient_takes_patient_id_and_idempotency_key(document, operation):
    names = {parameter["name"] for parameter in operations(document)[operation]["parameters"]}
    assert names == {"patient_id", "Idempotency-Key"}


def test_an_operation_documents_its_token_and_role_requirements(document):
    found = {name: (each["security"], each["description"]) for name, each in operations(document).items()}
    assert found["refresh"] == ([], "Needs no token.")
    assert found["listThreads"] == ([{}, {"bearer": []}], "Needs no token; one that is sent must be valid.")
    assert found["getProfile"] == ([{"bearer": []}], "Needs a token.")
    assert found["updateAdmin"][1].splitlines()[-1] == "Needs the role admin."
    assert found["updateAdmin"][1].startswith("Only super-admins change the password or phone number")
