"""People and things for tests, made through the services, so that they are as real ones are."""

from __future__ import annotations

from itertools import count
from typing import Any

from app.core.db import db
from app.identity import users
from app.identity.models import RoleName, User

PASSWORD = "rahasia123"

_numbers = count(1)


def make_user(*roles: str, **data: Any) -> User:
    """A person with these roles (default: pasien)."""
    n = next(_numbers)
    user = users.create(
        {
            "username": f"orang{n}",
            "password": PASSWORD,
            "nama_ktp": f"Orang Nomor {n}",
            "nama_samaran": f"Samaran {n}",
            "nomor_hp": f"0812{n:08d}",
            **data,
        },
        roles or (RoleName.PASIEN,),
    )
    db.session.flush()
    return user


def make_admin(**data: Any) -> User:
    return make_user(RoleName.ADMIN, **data)


def make_superadmin(**data: Any) -> User:
    return make_user(RoleName.SUPERADMIN, **data)
