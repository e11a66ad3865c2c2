"""Indonesian descriptions of the tables in an export."""

from __future__ import annotations

from collections.abc import Mapping

#: Descriptions by table. A test checks that every table has one.
CONTENTS: Mapping[str, str] = {
    "access_log": "Catatan siapa yang melihat data Anda",
    "activity_logs": "Catatan kegiatan Anda di aplikasi",
    "audit_entries": "Tindakan administrator oleh Anda, atau terhadap akun Anda",
    "broadcasts": "Pesan siaran tentang utas yang Anda tulis",
    "caregiver_cuts": "Hubungan pendamping yang diputus oleh pasien",
    "caregiver_links": "Hubungan Anda dengan pendamping atau pasien",
    "consents": "Persetujuan yang Anda berikan atau cabut",
    "data_exports": "Permintaan Anda atas salinan data ini",
    "deliveries": "Pesan yang dikirim kepada Anda",
    "blocks": "Nama dan nama samaran yang Anda blokir di forum",
    "cases": "Pemeriksaan moderator atas tulisan Anda di forum",
    "marks": "Tulisan di forum yang Anda sukai atau simpan",
    "posts": "Utas dan balasan yang Anda tulis di forum",
    "reports": "Laporan Anda tentang tulisan orang lain di forum",
    "inbound": "Pesan yang Anda tulis kepada layanan ini",
    "invitations": "Undangan Anda kepada pendamping",
    "log_day_users": "Hari ketika Anda memakai aplikasi",
    "notification_settings": "Cara dan waktu Anda menerima pesan",
    "occurrences": "Riwayat setiap pengingat: selesai, dilewati, atau terlewat",
    "own_pictures": "Daftar gambar Anda; gambarnya ada di folder gambar",
    "password_resets": "Permintaan mengatur ulang kata sandi yang masih berlaku",
    "phone_numbers": "Yang diketahui tentang nomor HP Anda, misalnya kapan Anda terakhir menulis",
    "phone_verifications": "Pembuktian nomor HP Anda",
    "push_subscriptions": "Peramban yang menerima pemberitahuan",
    "reminders": "Pengingat Anda",
    "saved": "Artikel dan video yang Anda simpan",
    "second_factors": "Pengaman kedua untuk masuk sebagai administrator",
    "sessions": "Perangkat yang sedang masuk ke akun Anda",
    "user_roles": "Peran akun Anda, dengan nomor perannya",
    "users": "Profil Anda, termasuk NIK bila pernah diisi",
}

README = """\
SALINAN DATA ANDA

Berkas ini berisi semua data tentang {nama} yang disimpan layanan ini.
Dibuat pada {hari} untuk pengguna {pengguna}.

Setiap tabel ada dua kali di folder data.
Berkas CSV dapat dibuka dengan program lembar kerja, misalnya Excel.
Berkas JSON dapat dibaca oleh program lain.
Waktu ditulis dalam UTC. Pukul 00.00 UTC adalah pukul 07.00 WIB, 08.00 WITA, dan 09.00 WIT.
Gambar Anda ada di folder gambar.

Kata sandi dan kunci rahasia tidak ikut disalin. Data milik orang lain juga tidak.
Berkas ini memuat data pribadi. Simpan baik-baik, dan jangan dikirim kepada orang lain.

ISI FOLDER DATA
{isi}
"""
