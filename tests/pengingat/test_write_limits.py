"""Rate limit for changes of reminders. `tests/routes/limits.py` has its numbers."""

import pytest

from tests.helpers.client import assert_error

pytestmark = pytest.mark.usefixtures("limited")


def test_changes_share_one_rate_limit_even_if_refused_and_answers_count_apart(siti, budi, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    assert siti.delete(path).status_code == 200
    for _ in range(58):
        assert siti.put(path, {"judul": "x"}).status_code == 404
    for method, at, body in (
        ("POST", "/pengingat/obat", obat),
        ("POST", "/pengingat", obat),
        ("PUT", path, {}),
        ("POST", f"{path}/persediaan", {"tambah": 1}),
        ("DELETE", path, None),
    ):
        assert_error(siti.open(method, at, body), 429, "too_many_requests")
    assert siti.get("/pengingat").status_code == 200
    assert siti.post(f"{path}/konfirmasi", {"status": "done"}).status_code == 404
    assert budi.post("/pengingat/obat", obat).status_code == 201
