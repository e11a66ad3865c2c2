"""Every route of the API and who may call it, word by word as the specification and the contract say."""

from __future__ import annotations

ACCESS: dict[str, str] = {
    # auth and account
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
    "GET /users/<int:user_id>": "anybody",
    "GET /provinces": "public",
    # caregiver links
    "POST /caregiver/patients": "pendamping",
    "GET /caregiver/patients": "anybody",
    "GET /patient/caregivers": "anybody",
    "GET /patients": "anybody",
    "GET /caregivers": "anybody",
    "DELETE /caregiver/patients/<int:other_id>": "anybody",
    # roles and categories
    "GET /roles": "public",
    "POST /roles": "admin",
    "GET /roles/<int:role_id>": "public",
    "PUT /roles/<int:role_id>": "admin",
    "DELETE /roles/<int:role_id>": "admin",
    "POST /admins/<int:user_id>/roles": "admin",
    "GET /users/<int:user_id>/roles": "public",
    "DELETE /admins/<int:user_id>/roles": "admin",
    "POST /kategori": "admin",
    "GET /kategori": "public",
    "PUT /kategori/<int:kategori_id>": "admin",
    "DELETE /kategori/<int:kategori_id>": "admin",
    # forum
    "GET /forum/categories": "optional",
    "GET /forum/threads": "optional",
    "GET /forum/threads/<int:thread_id>": "optional",
    "POST /forum/threads": "anybody",
    "PUT /forum/threads/<int:thread_id>": "anybody",
    "DELETE /forum/threads/<int:thread_id>": "anybody",
    "POST /forum/threads/<int:thread_id>/reply": "anybody",
    "POST /forum/threads/<int:thread_id>/like": "anybody",
    "POST /forum/threads/<int:thread_id>/save": "anybody",
    "PUT /forum/replies/<int:reply_id>": "anybody",
    "DELETE /forum/replies/<int:reply_id>": "anybody",
    "POST /forum/replies/<int:reply_id>/like": "anybody",
    "POST /forum/replies/<int:reply_id>/save": "anybody",
}
