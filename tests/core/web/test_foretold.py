"""No response gets past the test client that the OpenAPI document does not foretell (`tests/helpers/document.py`)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.core.errors import Conflict, TooManyRequests
from tests.helpers.client import Client

CATEGORY = {"id": 1, "name": "Umum", "preference_tag": None, "threads_count": 0}


def answers(monkeypatch: pytest.MonkeyPatch, record: Mapping[str, object] | Exception) -> None:
    def list_all() -> list[Mapping[str, object]]:
        if isinstance(record, Exception):
            raise record
        return [record]

    monkeypatch.setattr("app.forum.service.categories.list_all", list_all)


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        ({"id": 1, "name": "Umum", "preference_tag": None}, '"threads_count" is a required property'),
        ({**CATEGORY, "secret": 1}, "'secret' was unexpected"),
        ({**CATEGORY, "threads_count": "0"}, 'is not of type "integer"'),
        ({**CATEGORY, "name": None}, 'is not of type "string"'),
        ({**CATEGORY, "preference_tag": "sport"}, "preference_tag"),
        (Conflict(), "a status that the document does not know"),
    ],
)
def test_what_the_document_does_not_foretell_fails(
    client: Client, monkeypatch: pytest.MonkeyPatch, record: Mapping[str, object] | Exception, fault: str
) -> None:
    answers(monkeypatch, record)
    with pytest.raises(AssertionError, match=fault):
        client.get("/forum/categories")


@pytest.mark.parametrize("record", [CATEGORY, TooManyRequests(retry_after=5)])
def test_what_it_foretells_passes(
    client: Client, monkeypatch: pytest.MonkeyPatch, record: Mapping[str, object] | Exception
) -> None:
    answers(monkeypatch, record)
    assert client.get("/forum/categories").status_code in (200, 429)
