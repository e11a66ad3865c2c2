"""The repeat of a message whose call had an unknown outcome: it keeps the numbers of what is still open."""

from tests.helpers.client import Client
from tests.helpers.controlled import WEBHOOK_TOKEN
from tests.helpers.factories import make_user
from tests.pengingat.answering import create, with_doses
from tests.pengingat.net.shown import ok


def test_a_repeat_after_an_unknown_call_keeps_the_numbers_of_what_is_open(controlled, obat):
    with controlled.rewound():
        siti = Client(controlled.app).as_(make_user(nama_ktp="Siti Aminah"))
        details = with_doses(obat, "02:00")
        names = ("Metformin", "Amlodipin", "Captopril")
        first, *_ = [create(siti, {"judul": name, "details": details}, nama_obat=name) for name in names]
        controlled.providers.mood = "silent"
        controlled.set_time(controlled.now.replace(hour=9, minute=0))  # in Jakarta, when the doses are due
        assert controlled.work()
        message = controlled.providers.sent[-1]
        ok(first.say("done"))
        create(siti, {"judul": "Obat baru", "details": details})
        controlled.providers.mood = "up"
        controlled.set_time(controlled.now.replace(minute=1))
        assert controlled.work()
        repeat = controlled.providers.sent[-1]
        assert [line[:2] for line in repeat.text.splitlines()[1:3]] == ["2.", "3."]
        assert repeat.token == message.token
        body = {
            "device": "6281100000000", "sender": str(siti.user.phone).removeprefix("+"), "message": "3",
            "timestamp": int(controlled.now.timestamp()), "inboxid": 1,
        }  # fmt: skip
        ok(siti.with_token("").post(f"/webhooks/fonnte/{WEBHOOK_TOKEN}/message", body))
        controlled.read_inbox()
        states = {row["judul"]: row["state"] for row in ok(siti.get("/pengingat/hari-ini"))}
        assert (states["Amlodipin"], states["Captopril"]) == ("pending", "done")
