"""Request body of a registration, and the user that it creates."""

from app.identity import credentials

SITI = {
    "username": "siti",
    "password": "rahasia123",
    "nama_ktp": "Siti Aminah",
    "nama_samaran": "Melati",
    "nomor_hp": "0812-3456-7890",
}


def registered():
    user = credentials.by_login("siti")
    assert user is not None
    return user
