"""Tests of two calls whose exact answers matter. The first call stops before its commit, and the second one runs.

Each encounter also leaves what one of its two orders leaves.
"""

from dataclasses import replace
from functools import partial
from io import BytesIO

import pytest
from PIL import Image

from app.cli import seed_all
from app.core.media import pictures
from app.personal_data import jobs as personal_data_jobs
from app.privacy import jobs as privacy_jobs
from tests.helpers.factories import PASSWORD
from tests.races.meeting import NOBODY, Job
from tests.races.overlap import AT_COMMIT
from tests.races.world import FREE_NUMBER, answer, browser, remind, report, write

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]


LEAVE = {"password": PASSWORD, "forum": "delete"}


def register(n, **data):
    person = {"username": f"baru{n}", "nama_ktp": "Orang Baru", "nama_samaran": "Baru", "nomor_hp": f"08560000000{n}"}
    return NOBODY.post("/register", **{**person, "password": "sandi-yang-panjang-7", **data})


def content(w):
    """Return encounters of two administrators: the name, both calls, and their statuses."""
    a, b = w.rina, w.wati
    kategori, role, faskes = f"/kategori/{w.kategori}", f"/roles/{w.role}", "/faskes/a"
    dokter, article, layout = f"/dokter/{w.dokter}", f"/articles/{w.article}", "/province-config/Aceh"
    give = b.post(f"/admins/{w.ana.id}/roles", role_ids=[w.role])
    replace_roles = [by.put(f"/admins/users/{w.ana.id}", role_ids=[of]) for by, of in ((a, w.role), (b, w.pasien))]
    twins = {
        "/kategori": {"nama_kategori": "Olahraga"},
        "/roles": {"name": "perawat"},
        "/articles": {"title": "Baru", "content": "x", "url": "https://contoh.id/2"},
        "/faskes": {"id": "c", "nama": "C", "lat": -6.9, "lng": 107.6},
        "/admins": {"email": "baru@example.com", "password": "sandi-yang-panjang-7", "nama_ktp": "Baru"},
    }
    for path, data in twins.items():
        yield f"twins of {path}", a.post(path, **data), b.post(path, **data), 201, 409
    in_kategori = {"nama": "Komunitas", "kategori_id": w.kategori}
    sections = [{"id": "video", "enabled": True}]
    yield from [
        ("an article in a category that goes", a.put(article, kategori_id=w.kategori), b.delete(kategori), 200, 409),
        ("a category that goes, and its community", a.delete(kategori), b.post("/komunitas", **in_kategori), 200, 400),
        ("two fields of an article", a.put(article, title="Satu"), b.put(article, content="<p>Dua</p>"), 200, 200),
        ("an article that goes", a.delete(article), b.put(article, title="Satu"), 200, 404),
        ("an article that goes twice", a.delete(article), b.delete(article), 200, 404),
        ("two sets of facilities", a.put(dokter, faskes_ids=["b"]), b.put(dokter, faskes_ids=["a", "b"]), 200, 200),
        ("a facility that goes, and its doctor", a.delete(faskes), b.put(dokter, faskes_ids=["a"]), 200, 400),
        ("a layout that goes", a.put(layout, sections=sections), b.delete(layout), 200, 404),
        ("a role that is given and goes", give, a.delete(role), 200, 409),
        ("a role that goes and is given", a.delete(role), give, 200, 400),
        ("two administrators delete one", a.delete(f"/admins/{w.siti.id}"), b.delete(f"/admins/{w.siti.id}"), 200, 404),
        ("all roles of a person", *replace_roles, 200, 200),
        ("seeds", Job(seed_all, "seed"), Job(seed_all, "seed"), 200, 200),
    ]  # fmt: skip


def people(w):
    """Return encounters about accounts, caregivers, browsers, and all data of a person."""
    siti, budi, tono, ana = w.siti, w.budi, w.tono, w.ana
    cut, linked = siti.delete(f"/caregiver/patients/{budi.id}"), budi.post("/caregiver/patients", patient_id=siti.id)
    for_siti = remind(budi, query=f"?patient_id={siti.id}")
    keep, kept = (by.post("/caregiver/dependents", nama_ktp="Ibu") for by in (tono, budi))
    dropped = budi.delete(f"/caregiver/dependents/{w.dependent.id}", password=PASSWORD)
    subscribe = siti.post("/push/subscribe", **w.browser)
    erase = Job(partial(personal_data_jobs.erase, w.gone.id), "erasure")
    resets = [NOBODY.post("/update-password", code=w.reset_code, new_password=f"sandi-lain-{n}") for n in range(2)]
    redeem, redeem_too = (who.post("/caregiver/invitations", code=w.code) for who in (tono, w.lina))
    take_back = siti.delete(f"/patient/invitations/{w.invitation}")
    link, leave = tono.post("/caregiver/patients", patient_id=ana.id), tono.delete("/profile", **LEAVE)
    change_role = tono.put("/profile", role_ids=[w.pasien])
    give_role = w.rina.post(f"/admins/{tono.id}/roles", role_ids=[w.role])
    refresh = NOBODY.post("/refresh", refresh_token=w.other_session)
    fields = siti.put("/profile", nama_ktp="Baru"), siti.put("/profile", domicile="Bali")
    numbers = [who.put("/profile", nomor_hp=FREE_NUMBER) for who in (tono, ana)]
    consent, delete_withdrawn = w.lina.put("/profile/persetujuan", health_data=True), Job(privacy_jobs.delete_withdrawn)
    settings = "/profile/notifikasi"
    copy = siti.post("/profile/ekspor", password=PASSWORD)
    yield from [
        ("one username", register(1), register(1, nomor_hp="085600000009"), 201, 409),
        ("one number", register(1), register(2, nomor_hp="085600000001"), 201, 409),
        ("one number of two profiles", *numbers, 200, 409),
        ("one number of two proofs", w.proof, w.other_proof, 200, 200),
        ("two people who take the number of one another", *w.swaps, 200, 200),
        ("two fields of a profile", *fields, 200, 200),
        ("own roles and given ones", change_role, give_role, 200, 200),
        ("a reset code used twice", *resets, 200, 400),
        ("an invitation of two", redeem, redeem_too, 201, 404),
        ("an invitation that is taken back", redeem, take_back, 201, 404),
        ("a link made twice", link, link, 201, 200),
        ("a link that is cut and used", cut, for_siti, 200, 404),
        ("a link that is cut and made again", cut, linked, 200, 403),
        ("a scope that is taken back", siti.put(f"/patient/caregivers/{budi.id}", scopes=[]), for_siti, 200, 404),
        ("the last dependent", kept, kept, 201, 409),
        ("a dependent of a caregiver who leaves", leave, keep, 202, 401),
        ("a dependent of a caregiver who changes the role", change_role, keep, 200, 403),
        ("a caregiver who creates a dependent and leaves", keep, leave, 201, 409),
        ("a dependent that goes", dropped, remind(budi, query=f"?patient_id={w.dependent.id}"), 200, 404),
        ("one browser twice", subscribe, subscribe, 201, 200),
        ("one browser of two people", subscribe, ana.post("/push/subscribe", **w.browser), 201, 200),
        ("the last browser", subscribe, siti.post("/push/subscribe", **browser()), 201, 201),
        ("a browser and the end of its session", siti.post("/logout"), subscribe, 200, 401),
        ("a session that ends and refreshes", siti.delete("/profile/sesi"), refresh, 200, 401),
        ("both channels", siti.put(settings, messages=False), siti.put(settings, push=False), 200, 400),
        ("a copy of all data twice", copy, copy, 202, 429),
        ("consent that comes back", consent, delete_withdrawn, 200, 200),
        ("an erasure twice", erase, erase, 200, 200),
        ("an erasure and a login", erase, w.gone.log_in(), 200, 401),
    ]  # fmt: skip


def forum(w):
    """Return encounters about posts, their cases, and what people save."""
    thread, hidden = f"/forum/threads/{w.thread}", f"/forum/threads/{w.hidden}"
    appeal = w.siti.post(f"{hidden}/banding", note="Mengapa?")
    keep, hide = (
        by.put(f"/admins/moderasi/{w.hidden_case}", decision=decision, reason="Diperiksa.")
        for by, decision in ((w.rina, "keep"), (w.wati, "hide"))
    )
    created = replace(write(w.ana), key="kunci-sekali-pakai")
    saved = w.siti.post("/articles/save", url="https://contoh.id/1", title="Artikel")
    cry, move = w.ana.put(thread, content="Aku ingin mati."), w.ana.put(thread, category_id=2)
    move_back = w.dewi.put(f"/forum/threads/{w.second}", category_id=1)
    delete_below, delete_reply = w.dewi.delete(f"/forum/replies/{w.below}"), w.siti.delete(f"/forum/replies/{w.reply}")
    erase = Job(partial(personal_data_jobs.erase, w.gone.id), "erasure")
    unblock = w.eka.delete(f"/forum/blokir/{w.block}")
    yield from [
        ("two third reports", report(w.eka, thread), report(w.dewi, thread), 201, 201),
        ("one report twice", report(w.eka, thread), report(w.eka, thread), 201, 200),
        ("the third report and a cry for help", report(w.eka, thread), cry, 201, 200),
        ("an appeal twice", appeal, appeal, 201, 200),
        ("a decision and an appeal", keep, appeal, 200, 409),
        ("two decisions", keep, hide, 200, 200),
        ("a block that is lifted twice", unblock, unblock, 204, 404),
        ("a thread twice with one key", created, created, 201, 201),
        ("a save twice", saved, saved, 200, 200),
        ("a reply and its parent", delete_below, delete_reply, 200, 200),
        ("threads that change places", move, move_back, 200, 200),
        ("an erasure and a reply to its thread", erase, answer(w.ana, w.gone_thread), 200, 201),
    ]  # fmt: skip


@pytest.mark.parametrize("encounters", [content, people, forum])
def test_the_second_of_two_calls_sees_what_the_first_one_did(pairs, world, encounters, subtests):
    for name, first, second, *statuses in encounters(world):
        with subtests.test(name):
            told, _ = pairs.overlapping(first, second, AT_COMMIT)
            assert [status for status, _ in told] == statuses, told
            faults = pairs.faults(first, second)
            assert not (faults and pairs.faults(first, second)), "\n".join(faults)


def test_two_administrators_who_remove_one_another_leave_one(pairs, world):
    role = world.sql("SELECT id FROM roles WHERE name = 'admin'")
    world.change("DELETE FROM user_roles WHERE user_id = :id AND role_id = :role", id=world.siti.id, role=role)
    one, other = world.rina.delete(f"/admins/{world.wati.id}"), world.wati.delete(f"/admins/{world.rina.id}")
    pairs.overlap.run(one, other, AT_COMMIT)
    assert world.sql("SELECT count(*) FROM user_roles WHERE role_id = :role", role=role) == 1
    pairs.restore()


def test_concurrent_uploads_leave_no_unused_pictures(world):
    picture = BytesIO()
    Image.new("RGB", (8, 8), "teal").save(picture, "PNG")
    responses = world.meet([world.siti.upload("/profile", picture.getvalue()) for _ in range(3)])
    assert {response.status for response in responses} == {200}
    assert [name for name, _ in pictures.store().names()] == [
        world.sql("SELECT image FROM users WHERE image IS NOT NULL")
    ]
