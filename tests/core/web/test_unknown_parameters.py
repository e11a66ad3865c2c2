"""Unknown query parameters. They are an error in development and ignored in production."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask

from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_user


def in_environment(app: Flask, monkeypatch: pytest.MonkeyPatch, environment: str) -> None:
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], environment=environment))


@pytest.fixture
def developing(client: Client, app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    in_environment(app, monkeypatch, "development")
    return client


@pytest.mark.parametrize(
    "path", ["/kategori?pages=2", "/forum/threads?kategori=2", "/emergency/nearby?lat=0&lng=0&r=1"]
)
def test_an_unknown_query_parameter_is_refused_in_development(developing: Client, path: str) -> None:
    response = developing.get(path)
    name = path.rpartition("=")[0].split("?")[-1].split("&")[-1]
    assert_error(response, 400, "validation_error", name)
    assert list(response.json["errors"]) == [name]


def test_a_route_without_query_parameters_refuses_one_in_development(developing: Client) -> None:
    assert_error(developing.get("/provinces?x=1"), 400, "validation_error", "x")
    assert_error(developing.post("/login?next=/", {"username": "a", "password": "b"}), 400, "validation_error", "next")


def test_parameters_of_several_schemas_of_a_route_are_accepted(developing: Client) -> None:
    assert developing.get("/articles/search?title=gula&page=1&per_page=5").status_code == 200
    admin = developing.as_(make_admin())
    caregiver = make_user("pendamping")
    assert admin.get(f"/admins/caregiver-patient?caregiver_id={caregiver.id}&per_page=5").status_code == 200


def test_a_missing_token_is_reported_before_an_unknown_parameter(developing: Client) -> None:
    assert_error(developing.get("/patients?x=1"), 401)


@pytest.mark.parametrize("environment", ["production", "testing"])
def test_an_unknown_parameter_is_ignored_in_production_and_testing(
    client: Client, app: Flask, monkeypatch: pytest.MonkeyPatch, environment: str
) -> None:
    in_environment(app, monkeypatch, environment)
    response = client.get("/kategori?pages=2&_=123")
    assert response.status_code == 200
    assert "Warning" not in response.headers
