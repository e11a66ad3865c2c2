"""Concurrent requests about people: registration, profiles, roles, logins, resets, links and deletion."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import tokens
from app.identity.models import PasswordReset, RoleName, User, user_roles
from tests.races.meeting import NOBODY, encounter, statuses


def registration(n, **data):
    return NOBODY.post(
        "/register",
        **{
            "username": f"baru{n}",
            "password": "sandi-yang-panjang-7",
            "nama_ktp": "Orang Baru",
            "nama_samaran": "Baru",
            "nomor_hp": f"0856{n:08d}",
            **data,
        },
    )


def new_role(scene):
    return scene.new(scene.admin().post("/roles", name=f"khusus{scene.number()}"))


def role_id(scene, name):
    return scene.sql("SELECT id FROM roles WHERE name = :name", name=name)


def roles_of(scene, person):
    return set(scene.sql("SELECT array_agg(role_id) FROM user_roles WHERE user_id = :id", id=person.id) or [])


def give(by, to, *role_ids):
    return by.post(f"/admins/{to.id}/roles", role_ids=list(role_ids))


def take(by, of, *role_ids):
    return by.delete(f"/admins/{of.id}/roles", role_ids=list(role_ids))


def remove(by, admin):
    return by.delete(f"/admins/{admin.id}")


# --- registrations and profiles -------------------------------------------------------------------------------------


@encounter(201, 409)
def registration_twins_of_one_username(scene):
    n = scene.number()
    calls = [registration(n, nomor_hp=f"0857{n:04d}{twin:04d}") for twin in range(3)]
    responses = yield calls
    assert statuses(responses) == [201, 409, 409]


@encounter(201, 409)
def registration_twins_of_one_number(scene):
    n = scene.number()
    responses = yield [registration(n, username=f"kembar{n}.{twin}") for twin in "abc"]
    assert statuses(responses) == [201, 409, 409]


@encounter(200, 409)
def profile_twins_of_one_number(scene):
    number = f"0858{scene.number():08d}"
    a, b = scene.person(), scene.person()
    responses = yield [a.put("/profile", nomor_hp=number), b.put("/profile", nomor_hp=number)]
    assert statuses(responses) == [200, 409]


@encounter(200)
def profile_double_click_with_roles(scene):
    person = scene.person()
    ids = [role_id(scene, RoleName.PASIEN), role_id(scene, RoleName.PENDAMPING)]
    call = person.put("/profile", role_ids=ids, nama_ktp="Siti")
    yield [call] * 3
    assert roles_of(scene, person) == set(ids)


@encounter(200)
def profile_changes_of_different_fields(scene):
    person = scene.person()
    yield [
        person.put("/profile", nama_ktp="Nama Baru"),
        person.put("/profile", domicile="Jawa Barat"),
        person.put("/profile", nama_samaran="Mawar"),
    ]
    names = scene.sql("SELECT nama_ktp || domicile || nama_samaran FROM users WHERE id = :id", id=person.id)
    assert names == "Nama BaruJawa BaratMawar"


@encounter(200)
def own_roles_meet_roles_that_an_admin_gives(scene):
    person, admin, special = scene.person(), scene.admin(), new_role(scene)
    pendamping = role_id(scene, RoleName.PENDAMPING)
    yield [person.put("/profile", role_ids=[pendamping]), give(admin, person, special)]
    assert roles_of(scene, person) == {pendamping, special}


# --- roles ----------------------------------------------------------------------------------------------------------


@encounter(200)
def two_admins_give_one_role(scene):
    person, a, b, special = scene.person(), scene.admin(), scene.admin(), new_role(scene)
    yield [give(a, person, special), give(b, person, special), give(a, person, special)]
    assert special in roles_of(scene, person)


@encounter(200)
def two_admins_give_two_roles(scene):
    person, a, b = scene.person(), scene.admin(), scene.admin()
    one, two = new_role(scene), new_role(scene)
    yield [give(a, person, one), give(b, person, two)]
    assert {one, two} <= roles_of(scene, person)


@encounter(200)
def two_admins_take_one_role(scene):
    person, a, b, special = scene.person(), scene.admin(), scene.admin(), new_role(scene)
    scene.send(give(a, person, special))
    yield [take(a, person, special), take(b, person, special)]
    assert special not in roles_of(scene, person)


@encounter(200)
def two_admins_replace_all_roles(scene):
    person, a, b = scene.person(), scene.admin(), scene.admin()
    one, two = new_role(scene), new_role(scene)
    path = f"/admins/users/{person.id}"
    yield [a.put(path, role_ids=[one], is_verified=True), b.put(path, role_ids=[two], is_verified=True)]
    assert roles_of(scene, person) in ({one}, {two})


@encounter(200, 400, 404, 409)
def role_is_given_while_it_is_deleted(scene):
    person, a, b, special = scene.person(), scene.admin(), scene.admin(), new_role(scene)
    given, deleted = yield [give(a, person, special), b.delete(f"/roles/{special}")]
    assert (given.status, deleted.status) in ((200, 409), (400, 200))


@encounter(200, 409)
def role_is_taken_while_it_is_deleted(scene):
    person, a, b, special = scene.person(), scene.admin(), scene.admin(), new_role(scene)
    scene.send(give(a, person, special))
    yield [take(a, person, special), b.delete(f"/roles/{special}")]


@encounter(200, 401, 403, 404, 409)
def the_last_two_admins_remove_one_another(scene):
    admin_role = role_id(scene, RoleName.ADMIN)
    a, b = scene.person(RoleName.ADMIN, RoleName.PASIEN), scene.person(RoleName.ADMIN, RoleName.PASIEN)
    with unit_of_work():  # delete the administrators of earlier rounds, so that these two are the last
        others = sa.select(user_roles.c.user_id).where(user_roles.c.role_id == admin_role)
        db.session.execute(sa.delete(User).where(User.id.in_(others), User.id.not_in([a.id, b.id])))
    yield [remove(a, b), remove(b, a), take(a, b, admin_role), take(b, a, admin_role)]
    assert scene.sql("SELECT count(*) FROM user_roles WHERE role_id = :role", role=admin_role) == 1


# --- deletion of a person -------------------------------------------------------------------------------------------


@encounter(200, 404)
def two_admins_delete_one_admin(scene):
    a, b, leaving = scene.admin(), scene.admin(), scene.admin()
    responses = yield [remove(a, leaving), remove(b, leaving), remove(a, leaving)]
    assert statuses(responses) == [200, 404, 404]


@encounter(200, 404)
def admin_is_changed_while_deleted(scene):
    a, b, leaving = scene.admin(), scene.admin(), scene.admin()
    special = new_role(scene)
    path = f"/admins/{leaving.id}"
    yield [a.put(path, nama_ktp="Baru"), remove(b, leaving), give(a, leaving, special), give(b, leaving, special)]
    # If the other role came first, the account was no staff account any more, and stays without the role admin.
    assert role_id(scene, RoleName.ADMIN) not in roles_of(scene, leaving)


@encounter(200, 401)
def login_meets_delete_of_the_person(scene):
    a, leaving = scene.admin(), scene.admin()
    yield [leaving.log_in(), remove(a, leaving), leaving.log_in(), leaving.log_in()]
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=leaving.id) == 0


@encounter(200, 401, 409)
def own_requests_meet_delete_of_the_person(scene):
    a, leaving = scene.admin(), scene.admin()
    yield [
        leaving.get("/profile"),
        leaving.put("/profile", nama_ktp="Baru"),
        remove(a, leaving),
        leaving.post("/articles/save", url="https://contoh.id/1", title="Artikel"),
        NOBODY.post("/refresh", refresh_token=leaving.refresh_token),
    ]


@encounter(200, 400)
def reset_meets_delete_of_the_person(scene):
    """Both requests must lock the person's row first. Otherwise each could wait for a lock of the other."""
    a, leaving = scene.admin(), scene.admin()
    code = tokens.new_opaque()
    with unit_of_work():
        expires_at = datetime.now(UTC) + timedelta(minutes=30)
        db.session.add(PasswordReset(user_id=leaving.id, token_hash=tokens.digest(code), expires_at=expires_at))
    yield [NOBODY.post("/update-password", code=code, new_password="sandi-yang-lain-9"), remove(a, leaving)]
    assert scene.sql("SELECT count(*) FROM password_resets WHERE user_id = :id", id=leaving.id) == 0


@encounter(200, 400)
def one_reset_code_is_used_twice(scene):
    person, code = scene.person(), tokens.new_opaque()
    with unit_of_work():
        expires_at = datetime.now(UTC) + timedelta(minutes=30)
        db.session.add(PasswordReset(user_id=person.id, token_hash=tokens.digest(code), expires_at=expires_at))
    responses = yield [NOBODY.post("/update-password", code=code, new_password=f"sandi-lain-{n}") for n in range(3)]
    assert statuses(responses) == [200, 400, 400]


@encounter(201, 409)
def admin_twins_of_one_email(scene):
    a, b = scene.admin(), scene.admin()
    data = {"email": f"rina{scene.number()}@example.com", "password": "sandi-yang-panjang-7", "nama_ktp": "Rina"}
    responses = yield [a.post("/admins", **data), b.post("/admins", **data)]
    assert statuses(responses) == [201, 409]


# --- sessions, links, subscriptions ---------------------------------------------------------------------------------


@encounter(200, 401)
def refresh_meets_logout(scene):
    person = scene.person()
    refresh = NOBODY.post("/refresh", refresh_token=person.refresh_token)
    yield [refresh, person.post("/logout"), refresh, person.post("/logout")]
    assert scene.sql("SELECT count(*) FROM sessions WHERE user_id = :id", id=person.id) == 0


@encounter(200, 201)
def link_is_made_twice(scene):
    caregiver, patient = scene.person(RoleName.PENDAMPING), scene.person(RoleName.PASIEN)
    responses = yield [caregiver.post("/caregiver/patients", patient_id=patient.id)] * 3
    assert statuses(responses) == [200, 200, 201]


@encounter(200, 403)
def link_is_made_while_it_is_deleted(scene):
    """After the patient has deleted the link, the caregiver cannot create it again."""
    caregiver, patient = scene.person(RoleName.PENDAMPING), scene.person(RoleName.PASIEN)
    make = caregiver.post("/caregiver/patients", patient_id=patient.id)
    scene.send(make)
    yield [make, patient.delete(f"/caregiver/patients/{caregiver.id}"), make, make]
    assert scene.sql("SELECT count(*) FROM caregiver_links WHERE patient_id = :id", id=patient.id) == 0


@encounter(200, 401, 404)
def two_link_one_another(scene):
    """Two people care for each other. At the same moment, each deletes the link to the other."""
    both = (RoleName.PENDAMPING, RoleName.PASIEN)
    a, b = scene.person(*both), scene.person(*both)
    scene.send(a.post("/caregiver/patients", patient_id=b.id))
    scene.send(b.post("/caregiver/patients", patient_id=a.id))
    yield [a.delete(f"/caregiver/patients/{b.id}"), b.delete(f"/caregiver/patients/{a.id}")]
    assert scene.sql("SELECT count(*) FROM caregiver_links WHERE caregiver_id IN (:a, :b)", a=a.id, b=b.id) == 0
