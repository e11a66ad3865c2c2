"""Five medicines at seven o'clock: one message with one link, an answer by numbers, and the page of the link."""

import re

from app.identity.models import RoleName
from tests.helpers.client import Client
from tests.helpers.controlled import WEBHOOK_TOKEN
from tests.helpers.factories import make_user
from tests.pengingat.net.shown import ok

NAMES = ("Metformin", "Amlodipin", "Captopril", "Simvastatin", "Aspirin")


def create(client, name, query="", **details):
    dose = {"jam": "02:00", "jumlah": 1, "satuan": "tablet"}
    medicine = {"nama_obat": name, "frekuensi": 1, "aturan": "setelah makan", "jadwal": [dose], **details}
    return int(ok(client.post(f"/pengingat/obat{query}", {"judul": name, "details": medicine}))["id"])


def at_nine(controlled):
    """Let it become 09.00 in Jakarta, when the doses are due. Return the messages and pushes."""
    before = len(controlled.providers.sent)
    controlled.set_time(controlled.now.replace(hour=9, minute=0))
    assert controlled.work()
    return controlled.providers.sent[before:]


def write(controlled, client, text):
    body = {
        "device": "6281100000000", "sender": str(client.user.phone).removeprefix("+"), "message": text,
        "timestamp": int(controlled.now.timestamp()), "inboxid": 1,
    }  # fmt: skip
    ok(client.with_token("").post(f"/webhooks/fonnte/{WEBHOOK_TOKEN}/message", body))
    controlled.read_inbox()


def test_five_medicines_are_one_message_with_one_link(controlled):
    with controlled.rewound():
        siti = Client(controlled.app).as_(make_user(nama_ktp="Siti Aminah"))
        for name in NAMES:
            create(siti, name)
        (message,) = at_nine(controlled)
        lines = message.text.splitlines()
        assert lines[0] == "Halo Siti, ada 5 pengingat:"
        assert [re.sub(r" \(.*", "", line) for line in lines[1:6]] == [
            f"{n}. Waktunya minum {name}" for n, name in enumerate(NAMES, 1)
        ]
        assert len(re.findall("https://", message.text)) == 1

        write(controlled, siti, "1 3")
        states = {row["judul"]: row["state"] for row in ok(siti.get("/pengingat/hari-ini"))}
        assert states == {name: "done" if name in ("Metformin", "Captopril") else "pending" for name in NAMES}

        token = str(message.token)
        page = siti.with_token("").get(f"/k/{token}").text
        assert re.findall(r"(\d)\. Obat pukul 09\.00 WIB: ([\w ]+)", page) == [
            (str(n), "sudah kami catat" if n in (1, 3) else "belum dijawab") for n in range(1, 6)
        ]
        assert ok(siti.post(f"/konfirmasi/{token}", {"status": "done"}))["state"] == "done"
        assert {row["state"] for row in ok(siti.get("/pengingat/hari-ini"))} == {"done"}


def test_a_repeat_after_an_unknown_call_keeps_the_numbers_of_what_is_open(controlled):
    with controlled.rewound():
        siti = Client(controlled.app).as_(make_user(nama_ktp="Siti Aminah"))
        first, *_ = [create(siti, name) for name in NAMES[:3]]
        controlled.providers.mood = "silent"
        (message,) = at_nine(controlled)
        ok(siti.post(f"/pengingat/{first}/konfirmasi", {"status": "done"}))
        create(siti, "Obat baru")
        controlled.providers.mood = "up"
        controlled.set_time(controlled.now.replace(minute=1))
        assert controlled.work()
        repeat = controlled.providers.sent[-1]
        assert [line[:2] for line in repeat.text.splitlines()[1:3]] == ["2.", "3."]
        assert repeat.token == message.token
        write(controlled, siti, "3")
        states = {row["judul"]: row["state"] for row in ok(siti.get("/pengingat/hari-ini"))}
        assert (states["Amlodipin"], states["Captopril"]) == ("pending", "done")


def test_two_dependents_of_one_moment_are_two_messages(controlled):
    with controlled.rewound():
        budi = Client(controlled.app).as_(make_user(RoleName.PENDAMPING, nama_ktp="Budi Hartono"))
        for name in ("Ibu Siti", "Bapak Umar"):
            dependent = ok(budi.post("/caregiver/dependents", {"nama_ktp": name, "consent": True}))
            create(budi, "Metformin", f"?patient_id={dependent['id']}")
        texts = sorted(sent.text for sent in at_nine(controlled))
        assert [text[: text.index(":")] for text in texts] == ["Pengingat untuk Bapak Umar", "Pengingat untuk Ibu Siti"]
