"""Tests of the list of a person's deliveries."""

from datetime import date, timedelta

import sqlalchemy as sa

from app.core.database import db_time
from app.core.database.session import db
from app.identity import notification_settings
from app.notifications.delivery.delivery_preferences import SWITCHED_OFF
from app.notifications.delivery.rendering import NOT_ANY_MORE
from app.notifications.models import Delivery
from app.pengingat.models import Occurrence
from app.privacy.service import delivery_labels
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.personal_data.leaving import OBAT
from tests.privacy.outbox import NOW, add

EXACTLY, LATER = "2026-03-02T01:00:00Z", "2026-03-02T01:00:05Z"
SWITCHED_OFF_REASON = delivery_labels.REASONS[SWITCHED_OFF]


def occurrence(user, state="pending", tipe="obat"):
    row = Occurrence(
        user_id=user.id, tipe=tipe, judul="Obat pagi", slot="0", due_at=NOW, day=date(2026, 3, 2), state=state
    )
    db.session.add(row)
    db.session.flush()
    return row.id


def only(client):
    [row] = client.get("/pengiriman").json
    return dict(row)


#: Columns of a delivery, and its status, time and reason in the list.
STATES = (
    ({"state": "pending"}, "waiting", None, None),
    ({"state": "claimed"}, "waiting", None, None),
    ({"state": "pending", "last_error": "HTTP 500 from the gateway"}, "waiting", None, delivery_labels.TRIED),
    ({"state": "sent"}, "sent", LATER, None),
    ({"state": "sent", "receipt": "accepted"}, "sent", LATER, None),
    ({"state": "sent", "receipt": "delivered", "receipt_at": NOW}, "delivered", EXACTLY, None),
    ({"state": "sent", "receipt": "read", "receipt_at": NOW}, "read", EXACTLY, None),
    ({"state": "sent", "receipt": "failed", "receipt_at": NOW}, "failed", EXACTLY, delivery_labels.UNREACHED),
    ({"state": "failed", "receipt": "delivered", "receipt_at": NOW}, "delivered", EXACTLY, None),
    ({"state": "failed", "last_error": "code 131026: Undeliverable"}, "failed", LATER, delivery_labels.FAILED),
    ({"state": "failed", "last_error": "no number"}, "failed", LATER, delivery_labels.REASONS["no number"]),
    ({"state": "missed"}, "late", LATER, delivery_labels.LATE),
    ({"state": "cancelled"}, "cancelled", LATER, delivery_labels.CANCELLED),
    ({"state": "cancelled", "last_error": "switched off"}, "cancelled", LATER, SWITCHED_OFF_REASON),
)


def test_each_delivery_state_has_a_status_and_an_own_reason_text(siti):
    add(make_user())
    ids = [
        add(siti.user, **columns, due_at=NOW - timedelta(minutes=minute)).id
        for minute, (columns, *_) in enumerate(STATES)
    ]
    rows = siti.get("/pengiriman").json
    for row_id, row, (columns, status, at, reason) in zip(ids, rows, STATES, strict=True):
        assert (row["id"], row["title"]) == (row_id, "Balasan di forum")
        shown = {"channel": "message", "status": status, "at": at, "reason": reason}
        assert row["channels"] == [shown], columns


def test_a_cancelled_reminder_has_a_reason(siti):
    reasons = {
        "done": delivery_labels.ANSWERED, "skipped": delivery_labels.ANSWERED, "void": delivery_labels.CHANGED
    }  # fmt: skip
    bell = {"kind": "reminder", "payload": {"bell": "first"}, "state": "cancelled"}
    for minute, state in enumerate(reasons):
        add(siti.user, **bell, said=[occurrence(siti.user, state)], due_at=NOW - timedelta(minutes=minute))
    assert [row["channels"][0]["reason"] for row in siti.get("/pengiriman").json] == list(reasons.values())


def test_a_bell_that_said_nothing_is_left_out(siti):
    """The person answered before the bell rang. A bell of a channel that is off keeps its reason."""
    bell = {"kind": "reminder", "payload": {"bell": "first"}, "state": "cancelled"}
    add(siti.user, **bell, last_error=NOT_ANY_MORE)
    response = siti.get("/pengiriman")
    assert (response.json, response.headers["X-Total-Count"]) == ([], "0")
    add(siti.user, "push_fan_out", **bell, last_error=SWITCHED_OFF)
    assert [part["channel"] for part in only(siti)["channels"]] == ["push"]


def test_a_bell_that_waits_is_listed_if_it_would_say_something_now(siti):
    """A dose was answered early, and taken back. Its second message has no time any more after an edit."""

    def kinds():
        rows = siti.get("/pengiriman").json
        bells = {row.id: str(row.payload["bell"]) for row in db.session.scalars(sa.select(Delivery))}
        return [(bells[row["id"]], row["title"]) for row in rows if row["due_at"] == due_at]

    now = db_time.now().replace(microsecond=0)
    soon = now + timedelta(minutes=30)
    jam = soon.strftime("%H:%M")
    details = {**OBAT["details"], "jadwal": [{"jam": jam, "jumlah": 1, "satuan": "tablet"}], "frekuensi": 1}
    reminder = siti.post("/pengingat/obat", {**OBAT, "details": details}).json
    due_at = reminder["waktu"]
    path = f"/pengingat/{reminder['id']}"
    assert kinds() == [("first", "Pengingat: Obat pagi")]
    siti.post(f"{path}/konfirmasi", {"status": "done", "due_at": due_at})
    assert kinds() == []
    siti.post(f"{path}/konfirmasi", {"status": "undo"})
    assert kinds() == [("first", "Pengingat: Obat pagi")]
    siti.delete(path)
    assert siti.get("/pengiriman").json == []


def test_a_future_reminder_is_one_waiting_row_with_its_title(siti):
    siti.post("/pengingat/obat", OBAT)
    rows = siti.get("/pengiriman").json
    waiting = [{"channel": channel, "status": "waiting", "at": None, "reason": None} for channel in ("message", "push")]
    assert rows
    assert all((row["title"], row["channels"]) == ("Pengingat: Obat pagi", waiting) for row in rows)


def test_pushes_to_several_browsers_are_one_entry_with_the_best_status(siti):
    first = add(siti.user, "push_fan_out", state="sent")
    add(siti.user, "push", target="1", state="failed", last_error="unsubscribed")
    add(siti.user, "push", target="2", state="sent")
    row = only(siti)
    assert row["id"] == first.id
    assert row["channels"] == [{"channel": "push", "status": "sent", "at": LATER, "reason": None}]


def test_a_push_without_a_subscribed_browser_has_a_reason(siti):
    add(siti.user, "push_fan_out", state="sent")
    [part] = only(siti)["channels"]
    assert (part["status"], part["reason"]) == ("cancelled", delivery_labels.NO_BROWSER)


def test_a_pending_delivery_on_a_channel_that_is_off_is_shown_as_cancelled(siti):
    add(siti.user)
    add(siti.user, "push_fan_out")
    notification_settings.save(siti.id, messages=False)
    message, push = only(siti)["channels"]
    assert (message["status"], message["reason"]) == ("cancelled", SWITCHED_OFF_REASON)
    assert (push["status"], push["reason"]) == ("waiting", None)


def test_quiet_hours_are_the_reason_for_overdue_messages_except_reminders(siti):
    now = db_time.now()
    local = now.astimezone(notification_settings.zone_of(siti.user.domicile))
    hours = {"quiet_start": (local - timedelta(hours=1)).time(), "quiet_end": (local + timedelta(hours=1)).time()}
    notification_settings.save(siti.id, **hours)
    add(siti.user, due_at=now - timedelta(minutes=1))
    for minute, tipe in enumerate(("obat", "makan", "terapi", "kontrol"), 2):
        add(
            siti.user,
            kind="reminder",
            payload={"bell": "first"},
            said=[occurrence(siti.user, tipe=tipe)],
            due_at=now - timedelta(minutes=minute),
        )
    add(siti.user, due_at=now + timedelta(minutes=5))
    reasons = [row["channels"][0]["reason"] for row in siti.get("/pengiriman").json]
    assert reasons == [None, delivery_labels.QUIET, None, None, None, None]


def test_a_stock_that_runs_out_names_its_medicine(siti):
    pengingat_id = siti.post("/pengingat/obat", OBAT).json["id"]
    db.session.execute(sa.delete(Delivery))
    add(siti.user, kind="stock", payload={"about": "reminder", "about_id": pengingat_id}, state="sent")
    assert only(siti)["title"] == "Persediaan obat: Obat pagi"
    siti.delete(f"/pengingat/{pengingat_id}")
    assert only(siti)["title"] == "Persediaan obat"


def test_rows_are_paged_and_the_latest_due_is_first(siti, statements):
    for minute in range(30):
        add(
            siti.user,
            due_at=NOW + timedelta(minutes=minute),
            **({"payload": {"bell": "first"}, "said": [occurrence(siti.user)]} if minute == 29 else {}),
        )
    with statements.at_most(7):  # one each for the session, open times, page, count, settings, time and said times
        response = siti.get("/pengiriman?page=1&per_page=10")
    assert [row["due_at"][14:16] for row in response.json] == [str(minute) for minute in range(29, 19, -1)]
    assert response.headers["X-Total-Count"] == "30"
    assert len(siti.get("/pengiriman?page=3&per_page=10").json) == 10


def test_every_label_is_readable_indonesian():
    labels = "QUIET", "TRIED", "LATE", "FAILED"
    texts = *delivery_labels.REASONS.values(), *delivery_labels.TITLES.values()
    for text in (*texts, *(getattr(delivery_labels, name) for name in labels)):
        assert_readable(text)


def test_a_delivery_without_a_user_is_in_no_list(siti):
    """A message to a number without an account, such as a password reset, is in no person's list."""
    row = add(siti.user)
    db.session.execute(sa.update(Delivery).where(Delivery.id == row.id).values(user_id=None))
    assert siti.get("/pengiriman").json == []
