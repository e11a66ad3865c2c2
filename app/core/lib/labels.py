"""Indonesian names of the fields that people fill in, for error messages."""

from __future__ import annotations

from collections.abc import Sequence

#: Labels by field name, or by parent and field name. Without an entry, the label is made from the name: `nama_obat`
#: becomes "Nama obat". Query parameters and fields that only programs send have no entry.
LABELS = {
    # fields of users and caregivers
    "username": "Nama pengguna",
    "password": "Kata sandi",
    "new_password": "Kata sandi baru",
    "current_password": "Kata sandi saat ini",
    "nama_ktp": "Nama sesuai KTP",
    "nomor_hp": "Nomor HP",
    "phone": "Nomor telepon",
    "nik": "NIK",
    "email": "E-mail",
    "domicile": "Domisili",
    "preferences": "Preferensi",
    "code": "Kode",
    "forum": "Tulisan di forum",
    "otp": "Kode verifikasi",
    "name": "Nama",
    "role": "Peran",
    "role_ids": "Peran",
    "is_verified": "Status verifikasi",
    "user_id": "Pengguna",
    "caregiver_id": "Pendamping",
    "patient_id": "Pasien",
    "scopes": "Izin pendamping",
    "messages": "Pesan",
    "push": "Notifikasi web",
    "quiet_hours": "Jam tenang",
    "quiet_hours.start": "Jam mulai",
    "quiet_hours.end": "Jam akhir",
    "broadcasts": "Siaran",
    "health_data": "Persetujuan data kesehatan",
    "consents": "Persetujuan",
    # fields of articles, videos, doctors, facilities and the forum
    "title": "Judul",
    "content": "Isi",
    "image": "Gambar",
    "url": "Alamat",
    "link": "Tautan",
    "category_id": "Kategori",
    "kategori_id": "Kategori",
    "use_pseudonym": "Pilihan nama samaran",
    "parent_id": "Balasan yang dijawab",
    "reason": "Alasan",
    "decision": "Keputusan",
    "video_id": "Id video",
    "channel_title": "Nama kanal",
    "faskes_ids": "Fasilitas kesehatan",
    "rating": "Penilaian",
    "province": "Provinsi",
    "sections": "Bagian",
    "enabled": "Pilihan tampil",
    # fields of reminders
    "details": "Rincian",
    "tipe": "Jenis pengingat",
    "timezone": "Zona waktu",
    "datetime": "Waktu kontrol",
    "reminder_offsets": "Waktu pengingat",
    "offset": "Jarak",
    "is_done": "Tanda selesai",
    "due_at": "Waktu jatuh tempo",
    "slot": "Bagian jadwal",
    "status": "Jawaban",
    "minutes": "Menit",
    "answered_at": "Waktu jawaban",
    "petunjuk": "Petunjuk",
    "note": "Catatan",
    "ingatkan_ulang_menit": "Jarak pengingat ulang",
    "mulai": "Tanggal mulai",
    "selesai": "Tanggal selesai",
    "jadwal_sementara": "Jadwal sementara",
    "penting": "Tanda penting",
    "persediaan": "Persediaan",
    "sisa": "Sisa persediaan",
    "ingatkan_hari": "Batas hari pengingat persediaan",
    "tambah": "Tambahan persediaan",
    "kind": "Jenis",
    "lat": "Garis lintang",
    "lng": "Garis bujur",
    "start": "Tanggal mulai",
    "end": "Tanggal akhir",
    # fields and query parameters of lists and of the administration
    "page": "Nomor halaman",
    "per_page": "Jumlah per halaman",
    "after": "Batas daftar",
    "date": "Tanggal",
    "is_editable": "Pilihan dapat diubah",
    "method": "Cara verifikasi",
    "query": "Kueri",
}

#: Objects that are left out of labels. For example, the label of `details.jam` is only "Jam".
TRANSPARENT = frozenset({"details"})

#: Label of the request body as a whole.
WHOLE = "Data yang dikirim"


def label(path: Sequence[str]) -> str:
    """Return the label of a field, for example `Jam pada jadwal ke-1` for the path `details.jadwal.0.jam`."""
    words: list[str] = []
    for parent, part in zip(("", *path), path, strict=False):
        if part.isdigit() and words:
            words[-1] += f" ke-{int(part) + 1}"
        elif part not in TRANSPARENT or part == path[-1]:
            words.append(LABELS.get(f"{parent}.{part}") or LABELS.get(part) or _derived(part))
    if not words:
        return WHOLE
    *places, subject = words
    return " pada ".join([subject, *map(_inside, reversed(places))])


def _derived(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _inside(text: str) -> str:
    """Return a label for use inside a sentence: in lower case, except names such as `NIK`."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]
