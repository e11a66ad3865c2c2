"""Plans of the statements that find a person by their login."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity import credentials
from tests.helpers.plans import plans_of_all

FILL = """
INSERT INTO users (username, password_hash, nama_ktp, email, nomor_hp, phone)
SELECT 'massa' || n, '', 'x', 'massa' || n || '@contoh.id', '0812' || 1000000 + n, '+62812' || 1000000 + n
FROM generate_series(1, 10000) n
"""


INDEXES = {"Massa77": "uq_users_username", "massa77@contoh.id": "uq_users_email", "08121000077": "uq_users_phone"}


def test_a_login_lookup_uses_an_index(app):
    db.session.execute(sa.text(FILL))
    db.session.execute(sa.text("ANALYZE users"))
    for login, index in INDEXES.items():
        with plans_of_all() as plans:
            user = credentials.by_login(login)
        assert user is not None
        assert user.username == "massa77"
        assert index in plans[0], plans[0]
        assert "Seq Scan on users" not in plans[0], plans[0]
