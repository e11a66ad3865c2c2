"""Helper that reads a person's history by a request."""

from __future__ import annotations

from tests.helpers.client import Client


def rows(client: Client, query: str = "", path: str = "/pengingat/riwayat") -> list[tuple[str, str]]:
    return [(row["due_at"][5:16], row["state"]) for row in client.get(path + query).json]
