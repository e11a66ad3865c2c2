"""One row for each route: its callers, one good request, and what the checks of `test_routes.py` expect of it."""

import json

from tests.helpers.factories import PASSWORD
from tests.inbox.bodies import fonnte_message, heard, message, whatsapp
from tests.inbox.phones import VERIFY_TOKEN
from tests.personal_data.leaving import OBAT
from tests.routes.row import Row

HERE = "lat=-6.88&lng=107.55"
OWN = {"password": PASSWORD}
WHY = {"reason": "Ponselnya hilang."}
DISTANCES = "the response contains distances from the caller's position"
CURRENT = "a client needs the current settings"
ADMIN, HIDDEN, HIDDEN_REPLY = {"user_id": "admin_id"}, {"thread_id": "hidden_thread"}, {"reply_id": "hidden_reply"}
STORED = {"video_id": "stored_video"}
REGISTRATION = {
    "username": "ani", "password": PASSWORD, "nama_ktp": "Ani", "nama_samaran": "Mawar", "nomor_hp": "081399990000",
}  # fmt: skip
SQL = {"query": "SELECT 1 AS satu"}


def relation(world):
    return {"caregiver_id": world.budi.id, "patient_id": world.siti.id}


def role(world):
    return {"role_ids": [world.role_id]}


def recovery(world):
    return {**OWN, "otp": world.recovery_code}


ROUTES = {
    # Login and account
    "POST /login": Row("public", {"username": "siti", **OWN}, sql=6),
    "POST /superadmin/login": Row("public", {"username": "dewi", **OWN}, sql=5),
    "POST /register": Row("public", REGISTRATION, 201, sql=5),
    "POST /refresh": Row("public", lambda w: {"refresh_token": w.refresh_token}, sql=5),
    "POST /auth/check-username": Row("public", {"username": "siti"}, sql=1),
    "GET /send-verification-code": Row("public", query="phone=081234567890", uncached="it sends a message", sql=2),
    "POST /update-password": Row("public", lambda w: {"code": w.reset_code, "new_password": "kucing-hitam-7"}, sql=12),
    "POST /logout": Row("anybody", sql=4),
    "GET /profile": Row("anybody", sql=4),
    "PUT /profile": Row("anybody", {"nama_samaran": "Mawar"}, sql=5),
    "DELETE /profile": Row("anybody", {**OWN, "forum": "anonymise"}, 202, sql=17),
    "POST /profile/phone/verification": Row("anybody", {}, 201, sql=5),
    "DELETE /profile/phone": Row("anybody", OWN, sql=13),
    "POST /profile/ekspor": Row("anybody", OWN, 202, who="budi", sql=6),
    "GET /profile/ekspor/<int:export_id>": Row("anybody", status=202, other=404, sql=3),
    "GET /users/<int:user_id>": Row("anybody", who="rina", other=403, sql=3),
    "GET /users/<int:user_id>/roles": Row("anybody", who="rina", other=403, sql=3),
    "GET /provinces": Row("public", sql=0),
    "GET /profile/otp": Row("anybody", who="rina", other=403, sql=4),
    "POST /profile/otp": Row("anybody", OWN, 201, who="rina", other=403, sql=5),
    "PUT /profile/otp": Row("anybody", lambda w: {"otp": w.first_digits}, who="starting", other=404, sql=11),
    "DELETE /profile/otp": Row("anybody", recovery, who="careful", other=404, sql=7),
    "POST /profile/otp/recovery-codes": Row("anybody", recovery, 201, who="careful", other=403, sql=7),
    # The caller's own data
    "GET /profile/notifikasi": Row("anybody", sql=4),
    "PUT /profile/notifikasi": Row("anybody", {"quiet_hours": {"start": "22:00", "end": "05:00"}}, sql=6),
    "GET /pengiriman": Row("anybody", sql=6),
    "GET /profile/akses": Row("anybody", sql=2),
    "GET /profile/persetujuan": Row("anybody", sql=4),
    "PUT /profile/persetujuan": Row("anybody", {"broadcasts": False}, sql=8),
    "GET /profile/sesi": Row("anybody", sql=2),
    "DELETE /profile/sesi": Row("anybody", sql=6),
    "DELETE /profile/sesi/<session_id>": Row("anybody", other=404, sql=4),
    # Caregivers and dependents
    "POST /caregiver/patients": Row("pendamping", lambda w: {"patient_id": w.siti.id}, sql=8),
    "GET /caregiver/patients": Row("anybody", who="budi", sql=2),
    "DELETE /caregiver/patients/<int:other_id>": Row("anybody", other=404, sql=7),
    "GET /patient/caregivers": Row("anybody", sql=2),
    "PUT /patient/caregivers/<int:caregiver_id>": Row("anybody", {"scopes": ["history"]}, other=404, sql=6),
    "POST /patient/invitations": Row("pasien", {"scopes": ["alerts"]}, 201, sql=3),
    "GET /patient/invitations": Row("anybody", sql=2),
    "DELETE /patient/invitations/<int:invitation_id>": Row("anybody", status=204, other=404, sql=2),
    "POST /caregiver/invitations": Row("pendamping", lambda w: {"code": w.code}, sql=14),
    "POST /caregiver/dependents": Row("pendamping", {"nama_ktp": "Ayah"}, 201, sql=8),
    "GET /caregiver/dependents": Row("pendamping", sql=3),
    "DELETE /caregiver/dependents/<int:dependent_id>": Row("pendamping", OWN, other=404, sql=19),
    "GET /patients": Row("anybody", query="q=budi", sql=3),
    "GET /caregivers": Row("anybody", query="q=budi", sql=3),
    # Reminders
    "POST /pengingat": Row("anybody", {**OBAT, "tipe": "obat"}, 201, sql=10),
    "POST /pengingat/obat": Row("anybody", OBAT, 201, sql=10),
    "GET /pengingat": Row("anybody", sql=2),
    "GET /pengingat/<int:pengingat_id>": Row("anybody", other=404, sql=2),
    "PUT /pengingat/<int:pengingat_id>": Row("anybody", {"judul": "Lain"}, other=404, sql=6),
    "DELETE /pengingat/<int:pengingat_id>": Row("anybody", other=404, sql=5),
    "POST /pengingat/<int:pengingat_id>/konfirmasi": Row("anybody", {"status": "done"}, other=404, sql=5),
    "POST /pengingat/<int:pengingat_id>/persediaan": Row("anybody", {"tambah": 5}, other=404, sql=5),
    "GET /pengingat/<int:pengingat_id>/riwayat": Row("anybody", other=404, sql=4),
    "GET /pengingat/riwayat": Row("anybody", sql=3),
    "GET /pengingat/hari-ini": Row("anybody", sql=3),
    "GET /pengingat/kepatuhan": Row("anybody", sql=3),
    "GET /pengingat/kepatuhan/laporan": Row("anybody", sql=5),
    "POST /konfirmasi/<token>": Row("public", {"status": "done"}, sql=5),
    # Roles and categories
    "GET /roles": Row("public", sql=1),
    "POST /roles": Row("admin", {"name": "ahli-gizi"}, 201, sql=2),
    "GET /roles/<int:role_id>": Row("public", sql=1),
    "PUT /roles/<int:role_id>": Row("admin", {"name": "ahli-gizi"}, sql=3),
    "DELETE /roles/<int:role_id>": Row("admin", sql=4),
    "POST /admins/<int:user_id>/roles": Row("admin", role, sql=6),
    "DELETE /admins/<int:user_id>/roles": Row("admin", role, sql=5),
    "GET /kategori": Row("public", sql=1),
    "POST /kategori": Row("admin", {"nama_kategori": "Mata"}, 201, sql=2),
    "PUT /kategori/<int:kategori_id>": Row("admin", {"nama_kategori": "Mata"}, sql=3),
    "DELETE /kategori/<int:kategori_id>": Row("admin", sql=4),
    # Places
    "GET /faskes/nearby": Row("public", query=HERE, uncached=DISTANCES, sql=1),
    "GET /faskes/location": Row("public", query=HERE, uncached=DISTANCES, sql=1),
    "GET /faskes/search": Row("public", query="keyword=klinik", sql=1),
    "GET /faskes": Row("public", sql=1),
    "GET /faskes/<faskes_id>": Row("public", sql=1),
    "POST /faskes": Row("admin", {"nama": "RSUD", "lat": -6.88, "lng": 107.55}, 201, sql=2),
    "PUT /faskes/<faskes_id>": Row("admin", {"nama": "RSUD"}, sql=3),
    "DELETE /faskes/<faskes_id>": Row("admin", sql=4),
    "GET /dokter/nearby": Row("public", query=HERE, uncached=DISTANCES, sql=2),
    "GET /dokter": Row("public", sql=2),
    "GET /dokter/<int:dokter_id>": Row("public", sql=2),
    "POST /dokter": Row("admin", {"nama": "dr. Ani"}, 201, sql=3),
    "PUT /dokter/<int:dokter_id>": Row("admin", {"nama": "dr. Ani"}, sql=4),
    "DELETE /dokter/<int:dokter_id>": Row("admin", sql=5),
    "GET /emergency/nearby": Row("public", query=HERE, sql=1),
    "GET /emergency/admin": Row("admin", sql=2),
    "POST /emergency/admin": Row("admin", {"province": "Bali", "phone": "119"}, 201, sql=2),
    "PUT /emergency/<int:number_id>": Row("admin", {"province": "Bali", "phone": "119"}, sql=3),
    "DELETE /emergency/<int:number_id>": Row("admin", status=204, sql=4),
    "GET /province-config/nearby": Row("public", query=HERE, sql=1),
    "GET /province-config/<province>": Row("public", sql=1),
    "PUT /province-config/<province>": Row("admin", {"sections": [{"id": "video", "enabled": True}]}, sql=2),
    "DELETE /province-config/<province>": Row("admin", status=204, sql=3),
    # Articles, videos, communities
    "GET /articles": Row("optional", sql=2),
    "GET /articles/detail": Row("optional", query="url={live_url}", sql=2),
    "GET /articles/all": Row("optional", sql=2),
    "GET /articles/search": Row("optional", query="title=artikel", sql=2),
    "GET /articles/url": Row("optional", query="url={article_url}", sql=2),
    "GET /articles/<int:article_id>": Row("optional", sql=2),
    "POST /articles/save": Row("anybody", {"url": "https://contoh.id/satu", "title": "Satu"}, sql=2),
    "GET /articles/saved": Row("anybody", sql=2),
    "POST /articles": Row("admin", {"title": "Gizi", "content": "<p>Isi</p>"}, 201, sql=5),
    "PUT /articles/<int:article_id>": Row("admin", {"title": "Gizi"}, sql=4),
    "DELETE /articles/<int:article_id>": Row("admin", sql=5),
    "GET /videoplatform/videos": Row("optional", sql=2),
    "GET /videoplatform/videos/<int:video_id>": Row("optional", at=STORED, sql=2),
    "GET /videoplatform/videos/<string:video_id>/detail": Row("optional", sql=3),
    "GET /videoplatform/channel/<string:channel_id>": Row("optional", sql=3),
    "GET /videoplatform/search": Row("optional", query="q=jantung", sql=3),
    "POST /videoplatform/save": Row("anybody", {"video_id": "abc", "title": "Senam"}, sql=2),
    "GET /videoplatform/saved": Row("anybody", sql=2),
    "POST /videoplatform/video": Row("admin", {"video_id": "hdMaxres001"}, 201, sql=5),
    "PUT /videoplatform/video/<int:video_id>": Row("admin", {"title": "Senam"}, at=STORED, sql=5),
    "DELETE /videoplatform/video/<int:video_id>": Row("admin", at=STORED, sql=5),
    "GET /komunitas": Row("public", sql=1),
    "GET /komunitas/<int:komunitas_id>": Row("public", sql=1),
    "POST /komunitas": Row("admin", {"nama": "Sahabat"}, 201, sql=2),
    "PUT /komunitas/<int:komunitas_id>": Row("admin", {"nama": "Sahabat"}, sql=3),
    "DELETE /komunitas/<int:komunitas_id>": Row("admin", sql=4),
    # Forum
    "GET /forum/categories": Row("optional", sql=2),
    "GET /forum/threads": Row("optional", sql=2),
    "GET /forum/threads/<int:thread_id>": Row("optional", sql=2),
    "POST /forum/threads": Row(
        "anybody", lambda w: {"category_id": w.category_id, "title": "Halo", "content": "Isi"}, 201, sql=8
    ),
    "PUT /forum/threads/<int:thread_id>": Row("anybody", {"title": "Halo lagi"}, other=403, sql=5),
    "DELETE /forum/threads/<int:thread_id>": Row("anybody", other=403, sql=6),
    "POST /forum/threads/<int:thread_id>/reply": Row("anybody", {"content": "Balasan"}, 201, sql=5),
    "POST /forum/threads/<int:thread_id>/like": Row("anybody", sql=2),
    "POST /forum/threads/<int:thread_id>/save": Row("anybody", sql=2),
    "POST /forum/threads/<int:thread_id>/lapor": Row("anybody", {"reason": "spam"}, 201, who="budi", sql=8),
    "POST /forum/threads/<int:thread_id>/banding": Row(
        "anybody", {"note": "Bukan iklan."}, 201, at=HIDDEN, other=403, sql=5
    ),
    "POST /forum/threads/<int:thread_id>/blokir": Row("anybody", who="budi", sql=3),
    "GET /forum/replies": Row("anybody", sql=2),
    "PUT /forum/replies/<int:reply_id>": Row("anybody", {"content": "Lain"}, other=403, sql=5),
    "DELETE /forum/replies/<int:reply_id>": Row("anybody", other=403, sql=7),
    "POST /forum/replies/<int:reply_id>/like": Row("anybody", sql=2),
    "POST /forum/replies/<int:reply_id>/save": Row("anybody", sql=2),
    "POST /forum/replies/<int:reply_id>/lapor": Row("anybody", {"reason": "spam"}, 201, who="budi", sql=8),
    "POST /forum/replies/<int:reply_id>/banding": Row(
        "anybody", {"note": "Bukan iklan."}, 201, at=HIDDEN_REPLY, other=403, sql=5
    ),
    "POST /forum/replies/<int:reply_id>/blokir": Row("anybody", who="budi", sql=3),
    "GET /forum/blokir": Row("anybody", sql=2),
    "DELETE /forum/blokir/<int:block_id>": Row("anybody", status=204, other=404, sql=2),
    # Logs, pushes, incoming messages
    "POST /log/admin-log": Row("public", {"event_name": "x"}, 202, sql=0),
    "POST /log/user-log": Row("public", {"event_name": "x"}, 202, sql=0),
    "GET /push/public-key": Row("public", uncached="a browser needs the current key to subscribe", sql=0),
    "POST /push/send": Row(
        "optional", lambda w: {"user_id": w.siti.id, "payload": {"title": "Halo", "body": "Kabar"}}, sql=4
    ),
    "POST /push/subscribe": Row("optional", lambda w: {**w.browser, "user_id": w.siti.id}, 201, who="nobody", sql=4),
    "DELETE /push/subscribe": Row("public", lambda w: {"endpoint": w.subscribed["endpoint"]}, sql=1),
    "GET /webhooks/whatsapp": Row(
        "public",
        query=f"hub.mode=subscribe&hub.verify_token={VERIFY_TOKEN}&hub.challenge=1",
        uncached="only the provider calls it",
        sql=0,
    ),
    "POST /webhooks/whatsapp": Row("public", json.dumps(whatsapp(heard(messages=[message()]))).encode(), sql=1),
    "POST /webhooks/fonnte/<token>/message": Row("public", fonnte_message("SUDAH"), at={"token": "fonnte"}, sql=1),
    "POST /webhooks/fonnte/<token>/status": Row(
        "public", {"id": "80", "status": "sent"}, at={"token": "fonnte"}, sql=1
    ),
    "POST /webhooks/fonnte/<token>/device": Row(
        "public", {"device": "6281100000000", "status": "disconnect"}, at={"token": "fonnte"}, sql=1
    ),
    "GET /messaging": Row("public", uncached=CURRENT, sql=0),
    "GET /features": Row("public", uncached=CURRENT, sql=0),
    # Administration
    "GET /admins": Row("admin", sql=4),
    "POST /admins": Row("admin", {"email": "baru@contoh.id", **OWN, "nama_ktp": "Baru"}, 201, sql=7),
    "GET /admins/<username>": Row("admin", sql=5, logs="profile_read"),
    "PUT /admins/<int:user_id>": Row("admin", {"nama_ktp": "Baru"}, at=ADMIN, sql=6, logs="profile_read"),
    "DELETE /admins/<int:user_id>": Row("admin", at=ADMIN, who="dewi", sql=64),
    "DELETE /admins/<int:user_id>/otp": Row(
        "admin", {**OWN, **WHY}, 204, at={"user_id": "careful_id"}, who="dewi", sql=16
    ),
    "GET /admins/users": Row("admin", sql=3),
    "GET /admins/users/<int:user_id>": Row("admin", sql=7, logs="profile_read nik_read"),
    "PUT /admins/users/<int:user_id>": Row("admin", {"is_verified": True}, sql=6, logs="profile_read"),
    "DELETE /admins/users/<int:user_id>/sesi": Row("admin", WHY, 204, sql=11),
    "DELETE /admins/users/<int:user_id>/phone": Row("admin", WHY, sql=15, logs="profile_read number_freed"),
    "GET /admins/users/<int:user_id>/pengiriman": Row("admin", sql=9, logs="deliveries_read"),
    "GET /admins/caregiver-patient/all": Row("admin", sql=2),
    "GET /admins/caregiver-patient": Row("admin", query="caregiver_id={caregiver_id}", sql=2),
    "POST /admins/caregiver-patient": Row(
        "admin", lambda w: {"caregiver_id": w.outsider_id, "patient_id": w.siti.id}, 201, sql=10
    ),
    "DELETE /admins/caregiver-patient": Row("admin", relation, sql=6),
    "GET /admins/overview": Row("admin", sql=10),
    "GET /admins/overview/hari-ini": Row("admin", sql=4),
    "GET /admins/export/<report>": Row("admin", sql=4),
    "GET /admins/audit": Row("admin", sql=2),
    "GET /admins/operasi": Row("admin", sql=8),
    "PUT /admins/operasi/siaran": Row("admin", {"paused": True}, sql=5),
    "GET /admins/moderasi": Row("admin", sql=3),
    "PUT /admins/moderasi/<int:case_id>": Row("admin", {"decision": "keep", "reason": "Diperiksa."}, sql=11),
    "POST /superadmin/query": Row("superadmin", SQL, sql=2),
    "POST /superadmin/query/export": Row("superadmin", SQL, sql=2),
    "GET /superadmin/tables": Row("superadmin", sql=1),
    "GET /superadmin/tables/<table_name>": Row("superadmin", sql=3),
    "GET /superadmin/tables/<table_name>/export": Row("superadmin", sql=3),
}

#: Allowed callers of each route.
ACCESS = {route: row.callers for route, row in ROUTES.items()}
PUBLIC_READS = {
    route for route, access in ACCESS.items() if route.startswith("GET ") and access in ("public", "optional")
}
NOT_KEPT = {route for route in PUBLIC_READS if ROUTES[route].uncached}


def routes(app):
    return {
        f"{method} {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        and not rule.endpoint.startswith(("api-docs", "swagger_ui", "list_entry_points"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
