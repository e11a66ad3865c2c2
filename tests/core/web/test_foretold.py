"""The test client fails a test if the OpenAPI document does not describe a response."""

import pytest

from app.core.errors import TooManyRequests

PLACE = {
    "id": "a", "nama": "RSUD", "alamat": None, "lat": -6.9, "lng": 107.6, "jenis": None, "telepon": None,
    "province": None, "rating": None, "source": "db",
}  # fmt: skip


def answers(monkeypatch, record):
    def search(*_):
        if isinstance(record, Exception):
            raise record
        return {"results": [record], "status": "OK"}

    monkeypatch.setattr("app.faskes.service.facilities.search", search)


def test_the_client_accepts_only_responses_that_openapi_describes(client, monkeypatch):
    for record in (PLACE, TooManyRequests(retry_after=5)):
        answers(monkeypatch, record)
        assert client.get("/faskes/search?keyword=rsud").status_code in (200, 429)
    for record, fault in (
        ({name: value for name, value in PLACE.items() if name != "rating"}, '"rating" is a required property'),
        ({**PLACE, "secret": 1}, "'secret' was unexpected"),
        ({**PLACE, "lat": "0"}, 'is not of type "number"'),
        ({**PLACE, "source": "web"}, "source"),
    ):
        answers(monkeypatch, record)
        with pytest.raises(AssertionError, match=fault):
            client.get("/faskes/search?keyword=rsud")
