"""A person with unique texts in all their data, and helpers that erase this person."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD
from tests.personal_data.traces import MARK

PERSON = {
    "username": f"{MARK.lower()}_9",
    "nama_ktp": f"{MARK} Wulandari",
    "nama_samaran": f"{MARK} Samaran",
    "nomor_hp": "081277660044",
    "email": f"{MARK.lower()}@contoh.id",
    "nik": "3273014502907788",
}
MARKS = (MARK, "81277660044", "3273014502907788")

OBAT = {
    "judul": "Obat pagi",
    "details": {
        "nama_obat": "Metformin",
        "frekuensi": 1,
        "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
        "aturan": "setelah makan",
    },
}


def leave(client, forum="anonymise"):
    return dict(client.delete("/profile", {"password": PASSWORD, "forum": forum}).ok(202))


def let_the_grace_pass(user_id):
    db.session.execute(sa.update(User).where(User.id == user_id).values(erasure_due_at=sa.func.now()))
    db.session.commit()


def log_in(client):
    return Client(client.app).post("/login", {"username": PERSON["username"], "password": PASSWORD})
