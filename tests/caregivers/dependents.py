"""Helpers that create dependents (people without a phone) and handovers of their accounts."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client

PATH = "/caregiver/dependents"

#: Request body with which the dependent mother registers.
REGISTRATION: dict[str, Any] = {
    "username": "ibusiti",
    "password": "rahasia123",
    "nama_ktp": "Siti Rahayu",
    "nama_samaran": "Anggrek",
    "nomor_hp": "081355550001",
}


def keep(caregiver: Client, name: str = "Ibu Siti", **data: Any) -> int:
    response = caregiver.post(PATH, {"nama_ktp": name, **data})
    assert response.status_code == 201, response.text
    return int(response.json["id"])


def hand_over(caregiver: Client, dependent_id: int) -> str:
    response = caregiver.post(f"{PATH}/{dependent_id}/handover")
    assert response.status_code == 201, response.text
    return str(response.json["code"])


def take_over(client: Client, code: str, **data: Any) -> Client:
    response = client.post("/register", {**REGISTRATION, "handover_code": code, **data})
    assert response.status_code == 201, response.text
    me = Client(client.app, response.json["access_token"])
    return Client(client.app, response.json["access_token"], me.get("/profile").json["id"])
