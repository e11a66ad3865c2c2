"""Indonesian texts about deliveries. The providers' own texts are never shown to users."""

from __future__ import annotations

from app.core.contact import ask_administrator
from app.notifications.delivery.delivery_preferences import SWITCHED_OFF
from app.notifications.delivery.messaging import INVALID, WRONG
from app.notifications.delivery.number_verification import UNPROVEN
from app.notifications.models import SECURITY_NOTICE
from app.pengingat.caregiving.alerts import NOT_ALLOWED
from app.push import transport as push

#: Titles of deliveries by kind. Other kinds use `OTHER_TITLE`.
TITLES = {
    "reminder": "Pengingat",
    "stock": "Persediaan obat",
    "alert": "Kabar tentang pasien",
    "password_reset": "Tautan atur ulang kata sandi",
    SECURITY_NOTICE: "Pemberitahuan keamanan akun",
    "forum_reply": "Balasan di forum",
    "broadcast": "Kabar baru",
    "moderation": "Moderasi forum",
    "post_moderated": "Kabar tentang tulisan Anda di forum",
    "push": "Notifikasi web",
}
OTHER_TITLE = "Pesan"

#: Texts for a failed or cancelled delivery, by the reason that the outbox recorded.
REASONS = {
    SWITCHED_OFF: "Anda mematikan cara kirim ini.",
    "no number": "Akun Anda belum punya nomor HP.",
    INVALID: "Nomor HP Anda tidak terdaftar di layanan pesan. Periksa profil Anda.",
    WRONG: "Dari nomor HP Anda pernah dijawab SALAH NOMOR. Periksa nomor Anda di profil.",
    "the number has changed": "Nomor HP Anda sudah diganti sebelum pesan ini terkirim.",
    UNPROVEN: "Nomor HP Anda belum dibuktikan. Buktikan di profil Anda.",
    push.UNPROVEN: "Peramban ini belum terbukti milik Anda. Masuk lagi di sana.",
    "unsubscribed": "Peramban ini tidak lagi menerima notifikasi.",
    NOT_ALLOWED: "Pasien tidak mengizinkannya lagi.",
    "wants no broadcasts": "Anda tidak menerima siaran.",
    "had the day's broadcasts already": "Batas kabar umum hari itu sudah tercapai.",
}
NO_BROWSER = "Belum ada peramban yang menerima notifikasi Anda."
FAILED = "Layanan pengirim tidak dapat mengirimnya."
UNREACHED = "Pesan ini tidak sampai ke ponsel Anda."
LATE = "Tidak terkirim sampai batas waktunya."
CANCELLED = "Tidak jadi dikirim karena tidak diperlukan lagi."
ANSWERED = "Tidak jadi dikirim karena sudah Anda jawab."
CHANGED = "Tidak jadi dikirim karena pengingat diubah atau dihapus."
QUIET = "Menunggu jam tenang Anda berakhir."
TRIED = "Belum berhasil dikirim, dan akan dicoba lagi."


def with_contact(reason: str) -> str:
    """Append the administrator's contact to `reason`, the text about a failure on our side."""
    return reason + ask_administrator("Jika terulang,")


def title_of(kind: str, judul: str | None) -> str:
    title = TITLES.get(kind, OTHER_TITLE)
    return f"{title}: {judul}" if judul else title
