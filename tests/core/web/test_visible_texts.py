"""Required texts need a character that people can see."""

from tests.forum.posts import category_id, write_thread
from tests.helpers.client import assert_error

#: Texts that show nothing: zero-width characters, joiners, Hangul fillers, a Braille blank, marks without a letter.
UNSEEN = ["\u200b", "\u200c\u200d\u2060", "\ufeff", "\u115f\u1160", "\u3164", "\uffa0", "\u2800", "\u00ad", "\ufe0f"]
DOSE = {"jam": "00:00", "jumlah": 1, "satuan": "tablet"}
OBAT = {"nama_obat": "Metformin", "frekuensi": 1, "aturan": "setelah makan", "jadwal": [DOSE]}


def obat(**details):
    return {"judul": "Obat", "details": OBAT | details}


def test_a_text_that_nobody_can_see_is_refused(siti, admin):
    for unseen in UNSEEN:
        assert_error(admin.post("/kategori", {"nama_kategori": unseen}), 400, "validation_error", "nama_kategori")
    unseen = "\u200b"
    thread = {"category_id": category_id("Umum"), "title": "Menu", "content": "Apa saja?"}
    path = f"/forum/threads/{write_thread(siti)['id']}"
    for caller, route, sent, field in (
        (siti, "/forum/threads", {**thread, "title": unseen}, "title"),
        (siti, "/forum/threads", {**thread, "content": unseen}, "content"),
        (siti, f"{path}/reply", {"content": unseen}, "content"),
        (siti, "/pengingat/obat", {"judul": unseen, "details": OBAT}, "judul"),
        (siti, "/pengingat/obat", obat(nama_obat=unseen), "details.nama_obat"),
        (siti, "/pengingat/obat", obat(jadwal=[{**DOSE, "satuan": unseen}]), "details.jadwal.0.satuan"),
        (admin, "/articles", {"title": unseen}, "title"),
        (admin, "/roles", {"name": unseen}, "name"),
        (admin, "/komunitas", {"nama": unseen}, "nama"),
        (admin, "/dokter", {"nama": unseen}, "nama"),
        (admin, "/admins/", {"email": "a@b.id", "password": "kucing-hitam-7", "nama_ktp": unseen}, "nama_ktp"),
    ):
        assert_error(caller.post(route, sent), 400, "validation_error", field)
    for field in ("title", "content"):
        assert_error(siti.put(path, {field: unseen}), 400, "validation_error", field)


def test_one_visible_character_is_enough(siti):
    for seen in ("a", "?", "🙏", "7", "م", "a\u200b", "👨\u200d👩"):
        assert write_thread(siti, title=seen, content=seen)["title"] == seen
