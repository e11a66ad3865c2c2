"""Helpers for medicines with a stock.

NOW is Monday, 2 March 2026, 08:00 in Jakarta. The doses are 1 tablet at 07:00 and 0.5 at 19:00 in Jakarta.
"""


def make(siti, obat, sisa, **details):
    stock = {"sisa": sisa, **details.pop("persediaan", {})}
    answer = siti.post("/pengingat/obat", {**obat, "details": {**obat["details"], "persediaan": stock, **details}})
    assert answer.status_code == 201, answer.json
    return f"/pengingat/{answer.json['id']}"


def left(siti, path):
    return siti.get(path).json["details"]["persediaan"]["sisa"]


def answer(siti, path, status, due_at="2026-03-02T12:00:00Z"):
    given = siti.post(f"{path}/konfirmasi", {"status": status, "due_at": due_at})
    assert given.status_code == 200, given.json
