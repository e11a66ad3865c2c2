"""Conversion of phone numbers, and the interpretation of a login text."""

from __future__ import annotations

import pytest

from app.identity import credentials, phones
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_user

#: Texts that contain a number and something else. They are not valid phone numbers.
NO_NUMBERS = ["siti081311112222", "<b>081311112222", "081311112222 ext. 5", "tel:081311112222", "081311112222;ext=5",
              "0813/1111/2222", "٠٨١٣١١١١٢٢٢٢", "081311112222\n", "wa.me/6281311112222"]  # fmt: skip


@pytest.mark.parametrize("text", ["081311112222", "+62 813-1111-2222", "(0813) 1111.2222", "62 (0)813 1111 2222"])
def test_a_phone_number_with_spaces_and_punctuation_is_normalised(text: str) -> None:
    assert phones.normalise(text) == "+6281311112222"


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_a_phone_number_with_other_characters_is_invalid(text: str) -> None:
    assert phones.normalise(text) is None


@pytest.mark.parametrize("text", [text for text in NO_NUMBERS if text == text.strip()])
def test_the_profile_refuses_a_phone_number_with_other_characters(client: Client, text: str) -> None:
    assert_error(client.as_(make_user()).put("/profile", {"nomor_hp": text}), 400, "validation_error", "nomor_hp")


def test_a_username_that_contains_a_phone_number_logs_in_its_owner(client: Client) -> None:
    owner = make_user(username="siti081311112222", nomor_hp="081999999999", password="milik-siti-1")
    make_user(username="budi", nomor_hp="081311112222")
    body = {"username": "siti081311112222", "password": "milik-siti-1"}
    assert client.post("/login", body).status_code == 200
    assert_error(client.post("/login", {**body, "password": PASSWORD}), 401, "wrong_credentials")
    assert credentials.by_login("Siti081311112222") is owner
