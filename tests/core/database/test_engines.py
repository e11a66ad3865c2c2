"""Connections that ignore the timeouts of the database role, which PgBouncer needs (`deploy/SCALING.md`)."""

import pytest
import sqlalchemy as sa

from app.core.database import engines
from app.core.database.session import db, own_connection
from app.identity.models import RoleName
from tests.helpers.client import Client
from tests.helpers.factories import make_user


@pytest.fixture
def hurried(committed):
    """Store the timeouts of requests in the database role, only for the database of this test process."""
    name = committed.config["SQLALCHEMY_DATABASE_URI"].partition("?")[0].rpartition("/")[2]
    role = f'ALTER ROLE CURRENT_USER IN DATABASE "{name}"'
    with db.engine.begin() as connection:
        for setting, value in engines.REQUEST.items():
            connection.exec_driver_sql(f"{role} SET {setting} = '{value}'")
    yield
    with db.engine.begin() as connection:
        connection.exec_driver_sql(f"{role} RESET ALL")


@pytest.mark.usefixtures("hurried")
def test_own_connections_and_the_sql_console_ignore_the_timeout_of_their_role(committed):
    with own_connection() as connection:
        assert connection.scalar(sa.text("SHOW statement_timeout")) == "0"
    boss = Client(committed).as_superadmin(make_user(RoleName.SUPERADMIN, username="bos"))
    db.session.commit()
    response = boss.post("/superadmin/query", {"query": "SELECT current_setting('statement_timeout') AS limit"})
    assert response.json["rows"] == [{"limit": "20s"}]
