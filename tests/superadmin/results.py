"""Helpers that return results of the SQL console and the table browser."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client


def run(client: Client, sql: str) -> Any:
    response = client.post("/superadmin/query", {"query": sql})
    assert response.status_code == 200, response.json
    return response.json


def rows(client: Client, table: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/superadmin/tables/{table}", query_string=query)
    assert response.status_code == 200, response.json
    return response.json
