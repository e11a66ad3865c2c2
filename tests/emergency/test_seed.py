"""Emergency numbers that a new installation has."""

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.provinces import PROVINCES
from app.emergency import service
from app.emergency.models import EmergencyNumber


def test_the_seed_gives_every_province_the_national_numbers(client):
    body = client.get("/emergency/nearby", query_string={"lat": "-6.88", "lng": "107.55"}).json
    assert body["province"] == "Jawa Barat"
    assert [(row["phone"], row["title"], row["url"], row["kind"]) for row in body["phones"]] == list(service.NATIONAL)
    assert [row["kind"] for row in body["phones"]] == ["other", "police", "fire", "ambulance", "other"]
    assert body["phones"][-1]["phone"] == "119 ext. 8"
    assert body["phones"][-1]["url"] == "https://www.healing119.id"
    assert all(row["province"] == "Jawa Barat" for row in body["phones"])
    counts = dict(
        db.session.execute(
            sa.select(EmergencyNumber.province, sa.func.count()).group_by(EmergencyNumber.province)
        ).all()
    )
    assert counts == dict.fromkeys(PROVINCES, 5)


def test_seeding_again_keeps_changes_by_administrators(app):
    numbers = db.session.scalars(sa.select(EmergencyNumber).where(EmergencyNumber.province == "Bali")).all()
    service.update(numbers[0].id, {"province": "Bali", "phone": "0361-112", "title": "Bali"})
    service.delete(numbers[1].id)
    service.create({"province": "Bali", "phone": "022-123", "title": None})
    db.session.commit()
    before = db.session.execute(sa.select(EmergencyNumber.id, EmergencyNumber.phone).order_by("id")).all()
    service.seed()
    assert db.session.execute(sa.select(EmergencyNumber.id, EmergencyNumber.phone).order_by("id")).all() == before
