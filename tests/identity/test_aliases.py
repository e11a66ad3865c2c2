"""Pseudonyms that nobody may use, for example "admin", in any case and with accents."""

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.aliases import is_reserved
from app.identity.models import User
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user

RESERVED = (
    "Admin", "admin", "ADMIN", "Administrator", "Moderator", "Kemenkes", "Kemenkes RI", "Dokter", "Perawat",
    "Customer Service", "customer-service", "CustomerService", "Admin Kemenkes", "Dokter Siti", "Ibu Dokter",
    "Perawat_Ani", "superadmin", "Forum Moderator", "admin01", "Petugas Forum", "Layanan Pelanggan",
    # accents, full-width, mathematical and circled letters
    "Ａｄｍｉｎ", "𝐀𝐝𝐦𝐢𝐧", "𝓜𝓸𝓭𝓮𝓻𝓪𝓽𝓸𝓻", "Ⓐⓓⓜⓘⓝ", "Ádmín", "A\u0336dmin", "A d m i n", "A.d.m.i.n", "a_d_m_i_n",
    "✅ Admin", "[Admin]", "-Dokter-",
)  # fmt: skip

FREE = (
    "Melati", "Elang", "Badminton", "Samaran 12", "Bunga Mawar", "Ahmad", "Ahmad Min", "Mawar Merah", "Dok", "Domba",
    "Model", "Perak", "Perantau", "Kemala", "Cinta", "مريم", "Мария", "Δήμητρα", "🌸", "dr. Ani, Sp.PD",
    "Kopi 3", "M. Siti",
    "Kedokteran", "Senam Pagi", "Costumer", "S", "Adm1n", "Аdmin",
)  # fmt: skip


def test_only_pseudonyms_like_an_official_title_are_reserved():
    assert [alias for alias in RESERVED if not is_reserved(alias)] == []
    assert [alias for alias in FREE if is_reserved(alias)] == []


def test_a_reserved_pseudonym_is_refused_at_registration_and_in_the_profile(client, siti):
    body = {"username": "baru", "password": "kucing-hitam-7", "nama_ktp": "B", "nomor_hp": "081234500000"}
    for alias in ("Moderator", "Ádmin Kemenkes"):
        answer = client.post("/register", {**body, "nama_samaran": alias})
        assert_error(answer, 400, "validation_error", "nama_samaran")
        assert_error(siti.put("/profile", {"nama_samaran": alias}), 400, "validation_error", "nama_samaran")
    assert siti.put("/profile", {"nama_samaran": "Kenanga"}).status_code == 200


def test_an_existing_reserved_pseudonym_may_be_saved_again(client):
    user = make_user()
    db.session.execute(sa.update(User).where(User.id == user.id).values(nama_samaran="Moderator"))
    db.session.commit()
    db.session.expire_all()
    assert client.as_(user).put("/profile", {"nama_samaran": "Moderator", "nama_ktp": "Ani"}).status_code == 200
