"""Amounts of a medicine: all digits, a decimal comma and no exponent, in each place that shows or counts them."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.pengingat.models import Pengingat
from tests.pengingat.links import payloads
from tests.pengingat.stock import answer, left, make

AMOUNTS = {
    "1": "1",
    "1.0": "1",
    "0.5": "0,5",
    "100": "100",
    "100000": "100000",
    "12345.75": "12345,75",
    "99999.99": "99999,99",
    "0.000025": "0,000025",
    "0.0000001": "0,0000001",
    "0.1234567890123": "0,1234567890123",
}


def with_amount(obat, number):
    jadwal = [{**dose, "jumlah": number} for dose in obat["details"]["jadwal"]]
    return {**obat, "details": {**obat["details"], "jadwal": jadwal}}


@pytest.mark.parametrize("number", AMOUNTS)
def test_each_text_has_all_digits_of_an_amount(siti, moment, obat, number):
    siti.post("/pengingat/obat", with_amount(obat, float(number)))
    expected = f"{AMOUNTS[number]} tablet"
    assert f"({expected}, setelah makan)" in str(payloads("messaging")[0]["text"])
    assert f"({expected}, setelah makan)" in str(payloads("push_fan_out")[0]["body"])
    assert siti.get("/pengingat/hari-ini").json[0]["what"] == f"{expected}, setelah makan"
    row = db.session.scalars(sa.select(Pengingat)).one()
    assert f": {expected} pukul" in row.type.prescription(row.details)


@pytest.mark.parametrize(
    ("stock", "dose", "rest"), [(10, 0.0000001, 9.9999999), (1000, 0.0000025, 999.9999975), (0.3, 0.1, 0.2)]
)
def test_the_stock_is_counted_without_rounding(siti, moment, obat, stock, dose, rest):
    path = make(siti, with_amount(obat, dose), stock)
    moment.move(hours=11, minutes=5)
    answer(siti, path, "done")
    assert left(siti, path) == rest
    answer(siti, path, "skipped")
    assert left(siti, path) == stock
    added = siti.post(f"{path}/persediaan", {"tambah": dose})
    assert added.status_code == 200
    answer(siti, path, "done")
    assert left(siti, path) == stock
