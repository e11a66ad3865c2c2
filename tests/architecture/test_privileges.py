"""Additional fields in a request body never give privileges."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import Post
from app.identity.models import Role, RoleName, User, user_roles
from app.pengingat.models import Pengingat
from tests.helpers.factories import make_admin, make_user

REGISTRATION = {
    "username": "ani",
    "password": "rahasia123",
    "nama_ktp": "Ani",
    "nama_samaran": "Mawar",
    "nomor_hp": "081399990000",
}
OBAT = {
    "judul": "Obat pagi",
    "details": {
        "nama_obat": "Metformin",
        "frekuensi": 1,
        "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
        "aturan": "setelah makan",
    },
}

#: Valid request bodies, one for each route where a person without privileges can store something.
BODIES = {
    "POST /register": REGISTRATION,
    "PUT /profile": {"nama_ktp": "Siti A."},
    "POST /forum/threads": {"category_id": 1, "title": "Halo", "content": "Isi"},
    "POST /forum/threads/{thread}/reply": {"content": "Balasan"},
    "PUT /forum/threads/{thread}": {"title": "Halo lagi"},
    "POST /pengingat/obat": OBAT,
    "PUT /pengingat/{reminder}": {"judul": "Lain"},
    "POST /log/user-log": {"event_type": "x", "event_name": "y", "screen_name": "z", "session_id": "s"},
    "POST /articles/save": {"url": "https://ayosehat.kemkes.go.id/a", "title": "A"},
    "POST /videoplatform/save": {"video_id": "dQw4w9WgXcQ", "title": "V"},
}


@pytest.fixture
def words(client):
    """Return additional request fields that would give a privilege or another person's identity."""
    admin = make_admin()
    return {
        "id": admin.id, "user_id": admin.id, "author_id": admin.id, "owner_id": admin.id, "created_by": admin.id,
        "is_verified": True, "is_admin": True, "is_superadmin": True, "is_owner": True, "is_editable": True,
        "admin": True, "verified": True, "roles": ["admin"], "kind": "superadmin", "sid": "x",
        "password_hash": "x", "accepts_broadcasts": False, "phone": "+628111", "phone_invalid_at": None,
        "likes_count": 9999, "saves_count": 9999, "replies_count": 9999,
        "created_at": "2000-01-01T00:00:00Z", "planned_until": "2000-01-01T00:00:00Z",
    }  # fmt: skip


def privileges(without):
    """Return all users and all role assignments. Leave out the users in `without`, and their role assignments."""
    users = db.session.execute(
        sa.select(User.id, User.username, User.is_verified, User.password_hash, User.phone, User.created_at).order_by(
            User.id
        )
    )
    roles = db.session.execute(sa.select(user_roles).order_by(user_roles.c.user_id, user_roles.c.role_id))
    return [row for rows in (users, roles) for row in rows if row[0] not in without]


@pytest.mark.parametrize("route", BODIES)
def test_privilege_fields_in_a_valid_body_give_no_privileges(client, words, route):
    siti = make_user()
    as_siti = client.as_(siti)
    thread = as_siti.post("/forum/threads", BODIES["POST /forum/threads"]).json["id"]
    reminder = as_siti.post("/pengingat/obat", OBAT).json["id"]
    before = privileges(set())
    known = {row[0] for row in before}
    method, path = route.format(thread=thread, reminder=reminder).split(" ")
    answer = as_siti.open(method, path, {**words, **BODIES[route]})
    assert answer.status_code in (200, 201, 202), answer.text
    made = set(db.session.scalars(sa.select(User.id))) - known
    assert privileges(made) == before
    for new in made:
        user = db.session.get_one(User, new)
        assert (user.role, user.is_verified) == ("pasien", False)
    for model in (Post, Pengingat):
        assert set(db.session.scalars(sa.select(model.user_id))) == {siti.id}
    assert not db.session.scalar(sa.select(Post.id).where(Post.likes_count > 100))


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
