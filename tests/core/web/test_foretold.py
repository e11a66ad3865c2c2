"""The test client fails a test if the OpenAPI document does not describe a response."""

import pytest

from app.core.errors import TooManyRequests

PLACE = {
    "id": "a",
    "nama": "RSUD",
    "alamat": None,
    "lat": -6.9,
    "lng": 107.6,
    "jenis": None,
    "telepon": None,
    "province": None,
    "rating": None,
    "source": "db",
}


def answers(monkeypatch, record):
    def search(*_):
        if isinstance(record, Exception):
            raise record
        return {"results": [record], "status": "OK"}

    monkeypatch.setattr("app.faskes.service.facilities.search", search)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({name: value for name, value in PLACE.items() if name != "rating"}, '"rating" is a required property'),
        ({**PLACE, "secret": 1}, "'secret' was unexpected"),
        ({**PLACE, "lat": "0"}, 'is not of type "number"'),
        ({**PLACE, "nama": None}, 'is not of type "string"'),
        ({**PLACE, "source": "web"}, "source"),
    ],
)
def test_the_client_rejects_a_response_that_openapi_does_not_describe(client, monkeypatch, record, fault):
    answers(monkeypatch, record)
    with pytest.raises(AssertionError, match=fault):
        client.get("/faskes/search?keyword=rsud")


@pytest.mark.parametrize("record", [PLACE, TooManyRequests(retry_after=5)])
def test_the_client_accepts_a_response_that_openapi_describes(client, monkeypatch, record):
    answers(monkeypatch, record)
    assert client.get("/faskes/search?keyword=rsud").status_code in (200, 429)
