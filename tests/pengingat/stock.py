"""Helpers for medicines with a stock.

NOW is Monday, 2 March 2026, 08:00 in Jakarta. The doses are 1 tablet at 07:00 and 0.5 at 19:00 in Jakarta.
"""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client


def make(siti: Client, obat: dict[str, Any], sisa: float, **details: Any) -> str:
    stock = {"sisa": sisa, **details.pop("persediaan", {})}
    answer = siti.post("/pengingat/obat", {**obat, "details": {**obat["details"], "persediaan": stock, **details}})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def left(siti: Client, path: str) -> float:
    sisa: float = siti.get(path).json["details"]["persediaan"]["sisa"]
    return sisa


def answer(siti: Client, path: str, status: str, due_at: str = "2026-03-02T12:00:00Z") -> None:
    given = siti.post(f"{path}/konfirmasi", {"status": status, "due_at": due_at})
    assert given.status_code == 200, given.json
