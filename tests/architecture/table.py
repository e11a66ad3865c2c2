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
    # faskes
    "GET /faskes/nearby": "public",
    "GET /faskes": "public",
    "GET /faskes/location": "public",
    "GET /faskes/search": "public",
    "GET /faskes/<faskes_id>": "public",
    "POST /faskes": "admin",
    "PUT /faskes/<faskes_id>": "admin",
    "DELETE /faskes/<faskes_id>": "admin",
    # doctors
    "GET /dokter/nearby": "public",
    "GET /dokter": "public",
    "GET /dokter/<int:dokter_id>": "public",
    "POST /dokter": "admin",
    "PUT /dokter/<int:dokter_id>": "admin",
    "DELETE /dokter/<int:dokter_id>": "admin",
    # emergency numbers
    "GET /emergency/nearby": "public",
    "GET /emergency/admin": "admin",
    "POST /emergency/admin": "admin",
    "PUT /emergency/<int:number_id>": "admin",
    "DELETE /emergency/<int:number_id>": "admin",
    # province config
    "GET /province-config/nearby": "public",
    "GET /province-config/<province>": "public",
    "PUT /province-config/<province>": "admin",
    "DELETE /province-config/<province>": "admin",
}
