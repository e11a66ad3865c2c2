"""A filter that is sent empty is no filter. A form sends an empty text for an input that the user left blank."""

import pytest

from app.core.database.session import db
from app.komunitas.models import Komunitas

PATHS = [
    "/komunitas?q=&province=&kategori_id=",
    "/articles/all?q=&kategori_id=",
    "/videoplatform/videos?q=&kategori_id=",
    "/dokter?q=&province=",
    "/faskes?q=&province=",
    "/emergency/admin?q=",
    "/forum/threads?q=&category_id=&saved=&mine=&page=&per_page=",
    "/forum/replies?q=&saved=&mine=",
    "/pengingat?tipe=&patient_id=",
    "/pengingat/riwayat?tipe=&state=&start=&end=",
    "/pengingat/kepatuhan?start=&end=",
    "/pengingat/hari-ini?date=",
    "/admins/users?q=&role=&is_verified=",
    "/admins/overview?start=&end=",
    "/admins/export/users?format=&start=&end=",
    "/admins/moderasi?q=&state=&banding=",
    "/admins/audit?q=&action=",
    "/profile/akses?page=",
]


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_filter_is_accepted(admin, path):
    assert admin.get(path).status_code == 200, path


def test_an_empty_filter_leaves_nothing_out(client):
    db.session.add_all([Komunitas(nama="A", province="Bali"), Komunitas(nama="B")])
    db.session.commit()
    assert len(client.get("/komunitas?province=").json) == 2


def test_a_required_parameter_must_not_be_empty(client):
    for path in ("/faskes/search?keyword=", "/dokter/nearby?lat=&lng=107", "/articles/search?title="):
        assert client.get(path).status_code == 400, path
