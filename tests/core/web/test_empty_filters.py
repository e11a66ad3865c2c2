"""A filter that is sent empty is no filter. A form sends an empty text for an input that the user left blank."""

from app.core.database.session import db
from app.komunitas.models import Komunitas


def test_an_empty_filter_leaves_nothing_out(client):
    db.session.add_all([Komunitas(nama="A", province="Bali"), Komunitas(nama="B")])
    db.session.commit()
    assert len(client.get("/komunitas?province=").json) == 2


def test_a_required_parameter_must_not_be_empty(client):
    for path in ("/faskes/search?keyword=", "/dokter/nearby?lat=&lng=107", "/articles/search?title="):
        assert client.get(path).status_code == 400, path
