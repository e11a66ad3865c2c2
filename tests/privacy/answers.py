"""Expected fields of the responses about the caller's own data."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD

DEFAULTS = {"messages": True, "push": True, "quiet_hours": None, "broadcasts": True}


ANDROID = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
)


def listed(client: Client) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/profile/sesi").json
    return rows


def log_in(client: Client, path: str = "/login", **headers: str) -> tuple[Client, Any]:
    body = {"username": "siti", "password": PASSWORD}
    response = client.post(path, body, headers=headers)
    return client.with_token(response.json["access_token"]), response.json


def lines(client: Client) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.get("/profile/akses").json
    return rows


PURPOSES = ["health_data", "broadcasts"]


def said(client: Client) -> dict[str, dict[str, Any]]:
    return {row["purpose"]: row for row in client.get("/profile/persetujuan").json}


def granted(client: Client) -> dict[str, bool]:
    return {purpose: row["granted"] for purpose, row in said(client).items()}
