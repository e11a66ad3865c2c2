"""Request body of a registration, and the user that it creates."""

from __future__ import annotations

from typing import Any

from app.identity import credentials
from app.identity.models import User

SITI: dict[str, Any] = {
    "username": "siti",
    "password": "rahasia123",
    "nama_ktp": "Siti Aminah",
    "nama_samaran": "Melati",
    "nomor_hp": "0812-3456-7890",
}


def registered() -> User:
    user = credentials.by_login("siti")
    assert user is not None
    return user
