"""Helpers that create and delete dependents (people without a phone)."""

from tests.helpers.factories import PASSWORD

PATH = "/caregiver/dependents"


def keep(caregiver, name="Ibu Siti", **data):
    return int(caregiver.post(PATH, {"nama_ktp": name, **data}).ok(201)["id"])


def delete(caregiver, dependent_id):
    response = caregiver.delete(f"{PATH}/{dependent_id}", {"password": PASSWORD})
    assert (response.status_code, response.json) == (200, {"message": "Akun ini sudah dihapus."})
