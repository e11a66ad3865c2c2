"""Lists of the routes by which a caregiver reads or changes a patient's reminders."""

from app.identity.access_log import AccessAction

READ = {
    "GET /pengingat": AccessAction.REMINDERS_READ,
    "GET /pengingat/<int:pengingat_id>": AccessAction.REMINDERS_READ,
    "GET /pengingat/riwayat": AccessAction.HISTORY_READ,
    "GET /pengingat/<int:pengingat_id>/riwayat": AccessAction.HISTORY_READ,
    "GET /pengingat/hari-ini": AccessAction.HISTORY_READ,
    "GET /pengingat/kepatuhan": AccessAction.HISTORY_READ,
    "GET /pengingat/kepatuhan/laporan": AccessAction.HISTORY_READ,
}


CHANGE = {
    "POST /pengingat": "obat",
    "POST /pengingat/obat": "obat",
    "PUT /pengingat/<int:pengingat_id>": {"judul": "Obat lain"},
    "DELETE /pengingat/<int:pengingat_id>": None,
    "POST /pengingat/<int:pengingat_id>/persediaan": {"tambah": 10},
    "POST /pengingat/<int:pengingat_id>/konfirmasi": {"status": "done"},
}
