"""Nobody gives themselves the role of an administrator."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import Role, RoleName, user_roles
from tests.helpers.factories import make_user
from tests.routes.registry import REGISTRATION


@pytest.mark.parametrize("name", [RoleName.ADMIN, RoleName.SUPERADMIN])
@pytest.mark.parametrize(
    "send",
    [
        lambda client, role: client.post("/register", {**REGISTRATION, "role_ids": [role.id]}),
        lambda client, role: client.post("/register", {**REGISTRATION, "role": role.name}),
        lambda client, role: client.as_(make_user()).put("/profile", {"role_ids": [role.id]}),
        lambda client, role: client.as_(make_user()).put("/profile", data={"role_ids": str(role.id)}),
        lambda client, role: client.as_(make_user()).post(f"/admins/{make_user().id}/roles", {"role_ids": [role.id]}),
    ],
    ids=["register by id", "register by name", "profile", "profile form", "admin route"],
)
def test_a_request_for_an_admin_or_superadmin_role_is_forbidden(client, name, send):
    role = db.session.scalars(sa.select(Role).where(Role.name == name)).one()
    holders = sa.select(sa.func.count()).select_from(user_roles).where(user_roles.c.role_id == role.id)
    before = db.session.scalar(holders)
    assert send(client, role).status_code == 403
    assert db.session.scalar(holders) == before
