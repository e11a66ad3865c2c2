"""Calls of every route with a dependent's id, by a stranger and by the dependent's caregiver.

A dependent is a person without a phone, whose account a caregiver manages.
"""

import re

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.access_log import AccessLogEntry
from app.identity.models import RoleName
from app.pengingat.models import Pengingat
from tests.architecture.table import ACCESS
from tests.caregivers.dependents import keep
from tests.helpers.factories import PASSWORD, make_user
from tests.personal_data.leaving import OBAT

#: Valid request bodies. Only the caller's missing right to the dependent can then cause an error.
BODIES = {
    "POST /pengingat": {**OBAT, "tipe": "obat"},
    "POST /pengingat/obat": OBAT,
    "PUT /pengingat/<int:pengingat_id>": {"judul": "Lain"},
    "POST /pengingat/<int:pengingat_id>/konfirmasi": {"status": "done"},
    "POST /pengingat/<int:pengingat_id>/persediaan": {"tambah": 5},
    "PUT /profile/persetujuan": {"health_data": True},
    "POST /profile/ekspor": {"password": PASSWORD},
    "PUT /patient/caregivers/<int:caregiver_id>": {"scopes": ["manage"]},
    "DELETE /caregiver/dependents/<int:dependent_id>": {"password": PASSWORD},
    "POST /caregiver/patients": {},
}
#: Routes with `patient_id` in the query, or with a patient, dependent or reminder in the path.
ROUTES = sorted(
    route
    for route, access in ACCESS.items()
    if access in ("anybody", "pendamping")
    and re.search(r" /(pengingat|caregiver|patient|profile/(ekspor|akses|persetujuan))\b", route)
)


@pytest.fixture
def ibu(budi):
    """Create Budi's mother, a dependent with a medicine reminder. Return her id."""
    ibu = keep(budi, "Ibu Rahasia")
    assert budi.post(f"/pengingat/obat?patient_id={ibu}", OBAT).status_code == 201
    return ibu


def call(client, route, ibu, reminder, export):
    method, path = route.split(" ")
    path = path.replace("<int:pengingat_id>", str(reminder)).replace("<int:export_id>", str(export))
    path = re.sub(r"<int:(other|patient|dependent|caregiver)_id>", str(ibu), path)
    path = re.sub(r"<int:\w+>", "1", path)
    body = BODIES.get(route, {} if method in ("POST", "PUT") else None)
    if route == "POST /caregiver/patients":
        body = {"patient_id": ibu}
    return client.open(method, f"{path}?patient_id={ibu}", body)


def known(ibu):
    db.session.expire_all()
    reminders = sa.select(Pengingat.judul).filter_by(user_id=ibu).order_by(Pengingat.id)
    return [list(db.session.scalars(reminders)), db.session.scalars(sa.select(AccessLogEntry.id)).all()]


@pytest.mark.parametrize("role", [RoleName.PENDAMPING, RoleName.PASIEN, RoleName.ADMIN])
@pytest.mark.parametrize("route", ROUTES)
def test_a_stranger_cannot_read_or_change_data_of_a_dependent(client, budi, ibu, route, role):
    reminder = db.session.scalar(sa.select(Pengingat.id).filter_by(user_id=ibu)) or 0
    export = budi.post("/profile/ekspor", {"password": PASSWORD}).json["id"]
    before = known(ibu)
    response = call(client.as_(make_user(role)), route, ibu, reminder, export)
    assert "Rahasia" not in response.text
    assert "Metformin" not in response.text
    assert known(ibu) == before
    if response.status_code < 300:  # routes that do not use the id return the stranger's own data
        assert response.json in ([], None) or str(ibu) not in response.text
