"""Parser of request bodies: strict JSON, forms, and rejection of values that no column can store."""

import io

from tests.helpers.client import assert_error
from tests.helpers.factories import make_user

LOGIN = b'{"username": "siti", "password": "rahasia123"}'


def send(client, body, content_type="application/json"):
    return client.post("/login", data=body, content_type=content_type)


INVALID_JSON = (
    b"{",
    b'{"a":' * 1000,
    b'{"username": NaN}',
    b'{"username": Infinity}',
    b'{"username": 1e999}',
    b'{"username": ' + b"9" * 5000 + b"}",
    b'{"username": ' + b"[" * 33 + b"]" * 33 + b"}",
    b"\xff\xfe{}",
    b'{"username": "\xc3\x28"}',
    b'{"username": "a"} trailing',
)


def test_invalid_json_is_refused(client, subtests):
    for body in INVALID_JSON:
        with subtests.test(str(body[:30])):
            assert_error(send(client, body), 400, "invalid_json")


def test_the_last_value_of_a_repeated_key_counts(client):
    make_user(username="siti")
    assert send(client, b'{"username": "a", "username": "siti", "password": "rahasia123"}').status_code == 200


def test_the_first_value_of_a_repeated_parameter_counts_that_is_not_blank(client):
    assert client.get("/roles?per_page=&per_page=7&per_page=0").status_code == 200
    assert_error(client.get("/roles?per_page=&per_page=0&per_page=7"), 400, "validation_error")


def test_text_that_cannot_be_stored_is_refused_in_json_query_and_form(client, siti):
    for body in (
        b'{"username": "si\\u0000ti", "password": "x"}',
        b'{"username": "\\ud800", "password": "x"}',
        b'{"\\u0000": 1}',
    ):
        assert_error(send(client, body), 400, "invalid_text")
    assert_error(client.get("/send-verification-code?phone=%00"), 400, "invalid_text")
    form = siti.put("/profile", data={"nama_ktp": "a\0b"}, content_type="multipart/form-data")
    assert_error(form, 400, "invalid_text")


def test_a_body_without_the_required_fields_is_a_validation_error(client):
    for body in (b"", b"   ", b"{}", b"[]", b"null", b'"x"', b"5", b"true"):
        assert_error(send(client, body), 400, "validation_error")


def test_json_is_parsed_with_json_and_text_content_types(client):
    make_user(username="siti")
    for content_type in ("text/plain;charset=UTF-8", "application/json; charset=utf-8"):
        assert send(client, LOGIN, content_type).status_code == 200, content_type


def test_strings_are_stripped_and_passwords_are_not(client):
    make_user(username="siti", password="  berbatas  ")
    assert client.post("/login", {"username": " siti ", "password": "  berbatas  "}).status_code == 200
    assert client.post("/login", {"username": "siti", "password": "berbatas"}).status_code == 401


def test_unknown_fields_are_ignored(client):
    make_user(username="siti")
    body = {"username": "siti", "password": "rahasia123", "remember": True, "x": {"y": [1]}}
    assert client.post("/login", body).status_code == 200


def test_json_over_one_mebibyte_or_a_form_over_ten_is_too_large(client, siti):
    body = b'{"username": "' + b"x" * (1024 * 1024) + b'"}'
    assert_error(send(client, body), 413, "payload_too_large")
    upload = (io.BytesIO(b"x" * (10 * 1024 * 1024 + 1)), "a.jpg")
    assert_error(siti.put("/profile", data={"image": upload}), 413, "payload_too_large")


def test_a_broken_form_never_crashes_and_broken_json_in_a_form_is_refused(siti):
    for body in (b"", b"--x", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"\x00\xff" * 50):
        response = siti.put("/profile", data=body, content_type="multipart/form-data; boundary=x")
        assert response.status_code in (200, 400), response.text
    response = siti.put("/profile", data={"role_ids": "[1,"}, content_type="multipart/form-data")
    assert_error(response, 400, "invalid_json")
