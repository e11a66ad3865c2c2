"""Table of all API routes, and of the callers who may use each route."""

from __future__ import annotations

from flask import Flask

ACCESS: dict[str, str] = {
    # Routes about login and account
    "POST /login": "public",
    "POST /register": "public",
    "POST /refresh": "public",
    "POST /auth/check-username": "public",
    "GET /send-verification-code": "public",
    "POST /update-password": "public",
    "POST /superadmin/login": "public",
    "POST /logout": "anybody",
    "GET /profile": "anybody",
    "PUT /profile": "anybody",
    "POST /profile/phone/verification": "anybody",
    "DELETE /profile/phone": "anybody",
    "DELETE /profile": "anybody",
    "POST /profile/ekspor": "anybody",
    "GET /profile/ekspor/<int:export_id>": "anybody",
    "GET /users/<int:user_id>": "anybody",
    "GET /provinces": "public",
    # Routes about the caller's own data
    "GET /profile/notifikasi": "anybody",
    "PUT /profile/notifikasi": "anybody",
    "GET /pengiriman": "anybody",
    "GET /profile/akses": "anybody",
    "GET /profile/persetujuan": "anybody",
    "PUT /profile/persetujuan": "anybody",
    "GET /profile/sesi": "anybody",
    "DELETE /profile/sesi": "anybody",
    "DELETE /profile/sesi/<session_id>": "anybody",
    # Routes about caregiver links
    "POST /caregiver/patients": "pendamping",
    "GET /caregiver/patients": "anybody",
    "GET /patient/caregivers": "anybody",
    "PUT /patient/caregivers/<int:caregiver_id>": "anybody",
    "POST /patient/invitations": "pasien",
    "GET /patient/invitations": "anybody",
    "DELETE /patient/invitations/<int:invitation_id>": "anybody",
    "POST /caregiver/invitations": "pendamping",
    # Routes about dependents
    "POST /caregiver/dependents": "pendamping",
    "GET /caregiver/dependents": "pendamping",
    "DELETE /caregiver/dependents/<int:dependent_id>": "pendamping",
    "GET /patients": "anybody",
    "GET /caregivers": "anybody",
    "DELETE /caregiver/patients/<int:other_id>": "anybody",
    # Routes about roles and categories
    "GET /roles": "public",
    "POST /roles": "admin",
    "GET /roles/<int:role_id>": "public",
    "PUT /roles/<int:role_id>": "admin",
    "DELETE /roles/<int:role_id>": "admin",
    "POST /admins/<int:user_id>/roles": "admin",
    "GET /users/<int:user_id>/roles": "anybody",
    "DELETE /admins/<int:user_id>/roles": "admin",
    "POST /kategori": "admin",
    "GET /kategori": "public",
    "PUT /kategori/<int:kategori_id>": "admin",
    "DELETE /kategori/<int:kategori_id>": "admin",
    # Routes about second factor
    "GET /profile/otp": "anybody",
    "POST /profile/otp": "anybody",
    "PUT /profile/otp": "anybody",
    "DELETE /profile/otp": "anybody",
    "POST /profile/otp/recovery-codes": "anybody",
    # Routes about facilities (faskes)
    "GET /faskes/nearby": "public",
    "GET /faskes": "public",
    "GET /faskes/location": "public",
    "GET /faskes/search": "public",
    "GET /faskes/<faskes_id>": "public",
    "POST /faskes": "admin",
    "PUT /faskes/<faskes_id>": "admin",
    "DELETE /faskes/<faskes_id>": "admin",
    # Routes about doctors
    "GET /dokter/nearby": "public",
    "GET /dokter": "public",
    "GET /dokter/<int:dokter_id>": "public",
    "POST /dokter": "admin",
    "PUT /dokter/<int:dokter_id>": "admin",
    "DELETE /dokter/<int:dokter_id>": "admin",
    # Routes about emergency numbers
    "GET /emergency/nearby": "public",
    "GET /emergency/admin": "admin",
    "POST /emergency/admin": "admin",
    "PUT /emergency/<int:number_id>": "admin",
    "DELETE /emergency/<int:number_id>": "admin",
    # Routes about settings of provinces
    "GET /province-config/nearby": "public",
    "GET /province-config/<province>": "public",
    "PUT /province-config/<province>": "admin",
    "DELETE /province-config/<province>": "admin",
    # Routes about articles
    "GET /articles": "optional",
    "GET /articles/detail": "optional",
    "GET /articles/all": "optional",
    "GET /articles/search": "optional",
    "GET /articles/url": "optional",
    "GET /articles/<int:article_id>": "optional",
    "POST /articles/save": "anybody",
    "GET /articles/saved": "anybody",
    "POST /articles": "admin",
    "PUT /articles/<int:article_id>": "admin",
    "DELETE /articles/<int:article_id>": "admin",
    # Routes about videos
    "GET /videoplatform/videos": "optional",
    "GET /videoplatform/videos/<int:video_id>": "optional",
    "GET /videoplatform/videos/<string:video_id>/detail": "optional",
    "GET /videoplatform/channel/<string:channel_id>": "optional",
    "GET /videoplatform/search": "optional",
    "POST /videoplatform/save": "anybody",
    "GET /videoplatform/saved": "anybody",
    "POST /videoplatform/video": "admin",
    "PUT /videoplatform/video/<int:video_id>": "admin",
    "DELETE /videoplatform/video/<int:video_id>": "admin",
    # Routes about communities
    "GET /komunitas": "public",
    "GET /komunitas/<int:komunitas_id>": "public",
    "POST /komunitas": "admin",
    "PUT /komunitas/<int:komunitas_id>": "admin",
    "DELETE /komunitas/<int:komunitas_id>": "admin",
    # Routes about forum
    "GET /forum/categories": "optional",
    "GET /forum/threads": "optional",
    "GET /forum/threads/<int:thread_id>": "optional",
    "POST /forum/threads": "anybody",
    "PUT /forum/threads/<int:thread_id>": "anybody",
    "DELETE /forum/threads/<int:thread_id>": "anybody",
    "POST /forum/threads/<int:thread_id>/reply": "anybody",
    "POST /forum/threads/<int:thread_id>/like": "anybody",
    "POST /forum/threads/<int:thread_id>/save": "anybody",
    "GET /forum/replies": "anybody",
    "PUT /forum/replies/<int:reply_id>": "anybody",
    "DELETE /forum/replies/<int:reply_id>": "anybody",
    "POST /forum/replies/<int:reply_id>/like": "anybody",
    "POST /forum/replies/<int:reply_id>/save": "anybody",
    "POST /forum/threads/<int:thread_id>/lapor": "anybody",
    "POST /forum/threads/<int:thread_id>/banding": "anybody",
    "POST /forum/threads/<int:thread_id>/blokir": "anybody",
    "GET /forum/blokir": "anybody",
    "DELETE /forum/blokir/<int:block_id>": "anybody",
    "POST /forum/replies/<int:reply_id>/lapor": "anybody",
    "POST /forum/replies/<int:reply_id>/banding": "anybody",
    "POST /forum/replies/<int:reply_id>/blokir": "anybody",
    # Routes about logs
    "POST /log/admin-log": "public",
    "POST /log/user-log": "public",
    # Routes about reminders
    "POST /pengingat": "anybody",
    "GET /pengingat": "anybody",
    "GET /pengingat/<int:pengingat_id>": "anybody",
    "PUT /pengingat/<int:pengingat_id>": "anybody",
    "DELETE /pengingat/<int:pengingat_id>": "anybody",
    "POST /pengingat/obat": "anybody",
    "POST /pengingat/<int:pengingat_id>/konfirmasi": "anybody",
    "POST /pengingat/<int:pengingat_id>/persediaan": "anybody",
    "GET /pengingat/hari-ini": "anybody",
    "GET /pengingat/riwayat": "anybody",
    "GET /pengingat/<int:pengingat_id>/riwayat": "anybody",
    "GET /pengingat/kepatuhan": "anybody",
    "GET /pengingat/kepatuhan/laporan": "anybody",
    "POST /konfirmasi/<token>": "public",
    # Routes about web push
    "GET /push/public-key": "public",
    "POST /push/send": "optional",
    "POST /push/subscribe": "optional",
    "DELETE /push/subscribe": "public",
    # Routes about incoming messages
    "GET /webhooks/whatsapp": "public",
    "POST /webhooks/whatsapp": "public",
    "POST /webhooks/fonnte/<token>/message": "public",
    "POST /webhooks/fonnte/<token>/status": "public",
    "POST /webhooks/fonnte/<token>/device": "public",
    "GET /messaging": "public",
    # Routes about administration
    "GET /admins": "admin",
    "POST /admins": "admin",
    "GET /admins/<username>": "admin",
    "PUT /admins/<int:user_id>": "admin",
    "DELETE /admins/<int:user_id>": "admin",
    "DELETE /admins/<int:user_id>/otp": "admin",
    "GET /admins/users": "admin",
    "GET /admins/users/<int:user_id>": "admin",
    "PUT /admins/users/<int:user_id>": "admin",
    "DELETE /admins/users/<int:user_id>/sesi": "admin",
    "DELETE /admins/users/<int:user_id>/phone": "admin",
    "GET /admins/caregiver-patient/all": "admin",
    "GET /admins/caregiver-patient": "admin",
    "POST /admins/caregiver-patient": "admin",
    "DELETE /admins/caregiver-patient": "admin",
    "GET /admins/overview": "admin",
    "GET /admins/overview/hari-ini": "admin",
    "GET /admins/export/<report>": "admin",
    "GET /admins/audit": "admin",
    # Routes about moderation
    "GET /features": "public",
    "GET /admins/operasi": "admin",
    "PUT /admins/operasi/siaran": "admin",
    "GET /admins/users/<int:user_id>/pengiriman": "admin",
    "GET /admins/moderasi": "admin",
    "PUT /admins/moderasi/<int:case_id>": "admin",
    # Routes about the super-administrator
    "POST /superadmin/query": "superadmin",
    "POST /superadmin/query/export": "superadmin",
    "GET /superadmin/tables": "superadmin",
    "GET /superadmin/tables/<table_name>": "superadmin",
    "GET /superadmin/tables/<table_name>/export": "superadmin",
}


def routes(app: Flask) -> set[str]:
    return {
        f"{method} {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        and not rule.endpoint.startswith(("api-docs", "swagger_ui", "list_entry_points"))
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }


#: Public routes whose responses are not cached, with the reason.
NOT_KEPT = {
    "GET /send-verification-code": "it sends a message",
    "GET /faskes/nearby": "the response contains distances from the caller's position",
    "GET /faskes/location": "the response contains distances from the caller's position",
    "GET /dokter/nearby": "the response contains distances from the caller's position",
    "GET /webhooks/whatsapp": "only the provider calls it",
    "GET /features": "a client needs the current settings",
    "GET /messaging": "a client needs the current settings",
    "GET /push/public-key": "a browser needs the current key to subscribe",
}


PUBLIC_READS = {
    route for route, access in ACCESS.items() if route.startswith("GET ") and access in ("public", "optional")
}
