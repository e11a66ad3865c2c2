"""Helpers that create and delete dependents (people without a phone)."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD

PATH = "/caregiver/dependents"


def keep(caregiver: Client, name: str = "Ibu Siti", **data: Any) -> int:
    response = caregiver.post(PATH, {"nama_ktp": name, **data})
    assert response.status_code == 201, response.text
    return int(response.json["id"])


def delete(caregiver: Client, dependent_id: int) -> None:
    response = caregiver.delete(f"{PATH}/{dependent_id}", {"password": PASSWORD})
    assert (response.status_code, response.json) == (200, {"message": "Akun ini sudah dihapus."})
