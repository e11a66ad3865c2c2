"""Helper that creates an invitation through the route."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client

PATH = "/patient/invitations"


def invite(patient: Client, *scopes: str) -> dict[str, Any]:
    response = patient.post(PATH, {"scopes": list(scopes)})
    assert response.status_code == 201, response.text
    invitation: dict[str, Any] = response.json
    return invitation
