"""One day of a person with three medicines.

The person forgets one dose, takes one answer back, and gives one answer offline.
"""

from app.notifications.models import Delivery
from app.pengingat import jobs
from tests.pengingat.alerts import leave, told
from tests.pengingat.answering import create
from tests.pengingat.ledgers import settle


def medicine(siti, name, jam, satuan="tablet"):
    dose = {"jam": jam, "jumlah": 1, "satuan": satuan}
    details = {"nama_obat": name, "frekuensi": 1, "aturan": "sesudah makan", "jadwal": [dose]}
    return create(siti, {"judul": name, "details": details}, persediaan={"sisa": 30})


def at(moment, hour, minute=0):
    """Set the clock to this time in Jakarta, send due reminders and run the jobs. Return the new alerts."""
    moment.now = moment.now.replace(hour=hour - 7, minute=minute)
    jobs.top_up()
    settle("sent", Delivery.kind == "reminder", Delivery.state == "pending", Delivery.due_at <= moment.now)
    jobs.miss_overdue()
    before = len(told())
    leave(moment)
    return told()[before:]


def page(siti):
    rows = siti.get("/pengingat/hari-ini").json
    return [f"{row['local_time']} {row['judul']}: {row['state']}" + " *" * row["can_answer"] for row in rows]


def test_a_day_of_three_medicines(siti, moment, caregiver_id):
    at(moment, 8)
    metformin = medicine(siti, "Metformin", "02:00")
    amlodipin = medicine(siti, "Amlodipin", "05:00")
    insulin = medicine(siti, "Insulin", "12:00", "unit")
    coming = ["12:00 Amlodipin: pending", "19:00 Insulin: pending"]
    assert page(siti) == ["09:00 Metformin: pending *", *coming]

    at(moment, 9, 5)  # Siti answers Metformin without a network
    assert page(siti) == ["09:00 Metformin: pending *", *coming]
    assert at(moment, 10, 1) == ["Siti Aminah belum menandai obat pukul 09.00 WIB. Boleh tolong ditanyakan?"]

    at(moment, 12, 2)  # Siti answers by mistake, and takes the answer back
    amlodipin.say("done")
    assert page(siti)[1] == "12:00 Amlodipin: done"
    assert amlodipin.left == 29
    assert amlodipin.say("undo").json["state"] == "pending"
    assert page(siti) == ["09:00 Metformin: missed *", "12:00 Amlodipin: pending *", "19:00 Insulin: pending"]
    assert (amlodipin.left, amlodipin.is_done) == (30, False)
    at(moment, 12, 40)
    assert amlodipin.say("done", due_at="2026-03-02T05:00:00Z").json["late"] is False

    at(moment, 12, 41)  # Siti has a network again
    for _ in range(2):
        answer = metformin.say("done", due_at="2026-03-02T02:00:00Z", answered_at="2026-03-02T02:05:00Z")
        assert (answer.json["state"], answer.json["late"]) == ("done", False)
    assert (metformin.left, metformin.is_done) == (29, True)
    assert at(moment, 12, 42) == ["Siti Aminah sudah menandai obat pukul 09.00 WIB."]

    forgotten = "Siti Aminah belum menandai obat pukul 19.00 WIB. Boleh tolong ditanyakan?"
    assert at(moment, 20, 1) == [forgotten]
    assert page(siti)[2] == "19:00 Insulin: missed *"
    assert at(moment, 20, 30) == []
    assert insulin.say("done").json["late"] is True
    assert at(moment, 20, 31) == ["Siti Aminah sudah menandai obat pukul 19.00 WIB."]

    assert page(siti) == ["09:00 Metformin: done", "12:00 Amlodipin: done", "19:00 Insulin: done"]
    assert siti.get("/pengingat/kepatuhan?start=2026-03-02&end=2026-03-02").json["percent"] == 100
