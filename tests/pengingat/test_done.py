"""Field `is_done` of a reminder: it is true only for the current due time."""

from app.pengingat import jobs
from tests.pengingat.ledgers import ledger, waiting


def test_marking_done_before_the_first_dose_cancels_only_its_message(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    assert siti.put(f"/pengingat/{created['id']}", {"is_done": True}).json["is_done"] is True
    assert waiting() == ["03 00:00", "03 12:00"]
    moment.move(hours=22, minutes=59)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is True
    moment.move(minutes=1)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is False


def test_marking_done_after_a_dose_does_not_cancel_the_next_message(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    moment.move(hours=11, minutes=5)
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert waiting() == ["03 00:00", "03 12:00", "04 00:00"]
    moment.move(hours=13)
    jobs.top_up()
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is False


def test_resetting_is_done_queues_the_message_again(siti, moment, obat):
    created = siti.post("/pengingat/obat", obat).json
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    answer = siti.put(f"/pengingat/{created['id']}", {"is_done": False}).json
    assert answer["is_done"] is False
    assert waiting() == waiting("push_fan_out") == ["02 12:00", "03 00:00", "03 12:00"]


def test_a_visit_that_is_done_stays_done(siti, moment, kontrol):
    created = siti.post("/pengingat/", kontrol).json
    siti.put(f"/pengingat/{created['id']}", {"is_done": True})
    assert waiting() == []
    moment.move(days=400)
    assert siti.get(f"/pengingat/{created['id']}").json["is_done"] is True


def test_rescheduling_a_done_visit_resets_is_done(siti, moment, kontrol):
    created = siti.post("/pengingat/", kontrol).json
    done = siti.put(f"/pengingat/{created['id']}", {"is_done": True}).json
    moved = siti.put(f"/pengingat/{created['id']}", {**done, "waktu": "2026-03-03T04:00:00Z"}).json
    assert moved["is_done"] is False
    assert waiting() == ["02 04:00", "03 03:00"]


def test_marking_done_within_an_hour_before_a_dose_answers_the_last_due_dose(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=22, minutes=30)  # 06:30 in Jakarta, half an hour before the next dose
    jobs.top_up()
    done = siti.put(path, {"is_done": True}).json
    assert done["is_done"] is True
    assert ledger()[:2] == ["02 12:00 1 done", "03 00:00 0 pending"]
    assert "03 00:00" in waiting()
    moment.move(minutes=30)
    assert siti.get(path).json["is_done"] is False


def test_marking_done_over_an_hour_before_a_dose_keeps_its_message(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=21, minutes=55)
    jobs.top_up()
    siti.put(path, {"is_done": True})
    assert "03 00:00" in waiting()
    moment.move(hours=1, minutes=5)
    assert siti.get(path).json["is_done"] is False


def test_an_update_with_unchanged_is_done_before_a_dose_keeps_its_message(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=11, minutes=5)
    record = siti.put(path, {"is_done": True}).json
    moment.move(hours=11, minutes=30)
    siti.put(path, {**record, "judul": "Baru"})
    assert "03 00:00" in waiting()


def test_resetting_is_done_shortly_before_a_dose_queues_its_message_again(siti, moment, obat):
    path = f"/pengingat/{siti.post('/pengingat/obat', obat).json['id']}"
    moment.move(hours=22, minutes=30)
    siti.put(path, {"is_done": True})
    siti.put(path, {"is_done": False})
    assert "03 00:00" in waiting()


def test_is_done_answers_a_time_of_any_age_and_undo_takes_it_back(siti, moment, obat):
    details = {**obat["details"], "selesai": "2026-03-02"}
    path = f"/pengingat/{siti.post('/pengingat/obat', {**obat, 'details': details}).json['id']}"
    moment.move(days=60)
    jobs.miss_overdue()
    assert siti.put(path, {"is_done": True}).json["is_done"] is True
    assert siti.post(f"{path}/konfirmasi", {"status": "undo"}).json["state"] == "missed"
    assert siti.get(path).json["is_done"] is False
