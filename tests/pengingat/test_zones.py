"""Times of day, weekdays and meals in the time zone of the reminder."""

from app.pengingat import jobs
from tests.pengingat.ledgers import NOW, texts, waiting


def test_a_wall_time_stays_right_over_a_clock_change(siti, moment, obat):
    moment.now = NOW.replace(day=27, hour=12)  # summer time begins in Berlin on the 29th
    details = {**obat["details"], "frekuensi": 1, "jadwal": [{"jam": "06:00", "jumlah": 1, "satuan": "tablet"}]}
    siti.post("/pengingat/obat", {**obat, "timezone": "Europe/Berlin", "details": details})
    for _ in range(6):
        moment.move(hours=12)
        jobs.top_up()
    assert waiting()[:4] == ["28 06:00", "29 05:00", "30 05:00", "31 05:00"]
    assert all("pukul 07.00 CE" in text for text in texts())


def test_the_weekday_is_that_of_the_local_date(siti, moment):
    sent = {"tipe": "terapi", "judul": "T", "waktu": "2026-03-02T00:00:00Z"}
    # Monday 23:00 UTC is Tuesday 06:00 in Jakarta.
    siti.post("/pengingat/", {**sent, "details": {"jadwal": [{"hari": "Selasa", "jam": "23:00"}]}})
    assert waiting() == ["02 23:00"]


def test_a_meal_without_times_is_daily_at_the_wall_time_of_waktu(siti, moment):
    sent = {"tipe": "makan", "judul": "M", "waktu": "2026-03-01T05:30:00Z", "details": {"sarapan": {}}}
    siti.post("/pengingat/", sent)
    assert waiting() == ["02 05:30", "03 05:30"]


def test_meals_with_times_are_daily_at_their_own_times(siti, moment):
    details = {"sarapan": {"jam": "23:30"}, "makan_malam": {"jam": "11:00"}, "selingan": {}}
    siti.post("/pengingat/", {"tipe": "makan", "judul": "M", "waktu": "2026-03-01T05:30:00Z", "details": details})
    assert waiting() == ["02 11:00", "02 23:30", "03 11:00"]
