"""Request bodies of the registry of routes."""

#: A word in the names of Siti and of the dependent. No stranger may read it.
PRIVATE = "Rahasia Aminah"
OBAT = {
    "judul": "Obat pagi",
    "details": {
        "nama_obat": "Metformin",
        "frekuensi": 1,
        "jadwal": [{"jam": "00:00", "jumlah": 1, "satuan": "tablet"}],
        "aturan": "setelah makan",
    },
}
