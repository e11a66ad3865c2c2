"""Format of a message by WhatsApp's 24-hour rule: text with buttons, or template.

A message that needs a template fails if there is no template.
"""

from datetime import timedelta

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications import jobs
from app.notifications.delivery import drain
from app.notifications.models import Channel, DeliveryState
from app.notifications.senders import sender_status
from app.notifications.senders.models import PhoneNumber
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import make_user
from tests.notifications.deliveries import REMINDER, TEXT, add, committed_user, drained


def wrote(phone, ago):
    """Record when this number last wrote to us."""
    db.session.merge(PhoneNumber(phone=phone, last_inbound_at=local_time.now() - ago))
    db.session.commit()


INSIDE = timedelta(hours=23, minutes=45)
OUTSIDE = timedelta(hours=23, minutes=55)  # less than 24 hours, but within the safety margin of 10 minutes


def test_a_message_is_text_with_buttons_within_24_hours_and_later_a_template_of_its_kind(committed, sim, whatsapp):
    whatsapp(WHATSAPP_APP_SECRET="s", WHATSAPP_TEMPLATES='{"reminder": "pengingat"}')
    said = "waktunya minum Metformin (1 tablet) pukul 07.00 WIB. Jawab di sini: https://sehat.id/k/abc"
    for ago, kind, text in ((INSIDE, "interactive", TEXT), (OUTSIDE, "template", f"pengingat | Siti | {said}")):
        user = committed_user()
        wrote(user.phone, ago)
        row = drained(add(user_id=user.id, target=None, kind="reminder", words=REMINDER))
        message = sim.messaging.sent[-1]
        assert (message.kind, message.text, message.callback) == (kind, text, f"d:{row.id}")
        assert message.buttons == ("T:abc", "T:abc:snooze", "T:abc:skip")


#: Templates, kind and words of a message, and the beginning of the template that is sent.
TEMPLATES = [
    ('{"reminder": "umum", "pengingat_obat": "obat"}', "reminder", REMINDER, "obat | Siti | waktunya"),
    ('{"reminder": "umum", "pengingat_makan": "makan"}', "reminder", REMINDER, "umum | Siti | waktunya"),
    ('{"reminder": "umum"}', "reminder", {"text": "Halo Siti, ini lama."}, "umum | Halo Siti, ini lama."),
    ('{"reminder": "umum"}', "reminder", {"text": "Halo, ini.", "parts": {"name": ""}}, "umum | Anda | ini."),
    ('{"security_notice": "akun"}', "security_notice", {"text": "Sandi\ndiubah."}, "akun | Sandi diubah."),
]


def test_a_template_carries_the_text_and_no_buttons_without_a_webhook(committed, sim, whatsapp, subtests):
    for templates, kind, words, arrives in TEMPLATES:
        with subtests.test(arrives):
            whatsapp(WHATSAPP_TEMPLATES=templates)
            add(kind=kind, words=words)  # the number never wrote to us, so only a template may be sent
            jobs.drain("urgent")
            message = sim.messaging.sent[-1]
            assert message.kind == "template"
            assert message.text.startswith(arrives)
            assert message.buttons == ()  # no buttons, because without the webhook the service receives no taps


def test_without_a_template_the_delivery_fails(committed, sim, whatsapp):
    whatsapp(WHATSAPP_APP_SECRET="s", WHATSAPP_TEMPLATES='{"broadcast": "kabar"}')
    row = drained(add(kind="reminder", words=REMINDER))
    assert (row.state, row.last_error, row.unconfirmed_calls) == (DeliveryState.FAILED, "needs_template", 0)
    assert not sim.messaging.calls


def test_without_template_settings_messages_are_sent_as_texts_after_24_hours(committed, sim, whatsapp):
    whatsapp()
    user = committed_user()
    wrote(user.phone, timedelta(days=30))
    add(user_id=user.id, target=None, kind="reminder", words=REMINDER)
    drained(add(words={"text": "Halo"}))
    assert sorted((message.kind, message.text) for message in sim.messaging.sent) == [("text", "Halo"), ("text", TEXT)]


def test_a_message_becomes_a_template_when_the_24_hours_end_during_a_drain(committed, sim, whatsapp):
    whatsapp(WHATSAPP_TEMPLATES='{"reminder": "pengingat"}')
    user = committed_user()
    for _ in range(2):
        add(user_id=user.id, target=None, kind="reminder", words=REMINDER)
    lane = drain.Lane("urgent", Channel.MESSAGING, drain.Condition(), threads=0)
    for ago in (INSIDE, OUTSIDE):
        wrote(user.phone, ago)
        assert lane.send_next()
    assert [message.kind for message in sim.messaging.sent] == ["text", "template"]


def test_sending_a_message_to_a_person_needs_at_most_four_statements(app, statements, whatsapp, sim, monkeypatch):
    # Cache the sender's state for longer. Otherwise a test on a slow machine would run one more query.
    monkeypatch.setattr(sender_status, "CACHED_S", PATIENCE_S)
    whatsapp(WHATSAPP_APP_SECRET="s", WHATSAPP_TEMPLATES='{"reminder": "pengingat"}')
    user = make_user()
    add(user_id=user.id, target=None, kind="reminder", words=REMINDER)
    lane = drain.Lane("urgent", Channel.MESSAGING, drain.Condition())
    sender_status.may_send(Channel.MESSAGING)
    with statements.at_most(4):  # one SQL statement each for claim, phone number, start of the call, and outcome
        lane.handle(lane.next())
    assert [message.kind for message in sim.messaging.sent] == ["template"]


# --- texts that WhatsApp refuses during the 24 hours ------------------------------------------------------------------


def test_a_text_that_whatsapp_refuses_is_sent_once_as_a_template(committed, sim, whatsapp, subtests):
    user = committed_user()
    wrote(user.phone, INSIDE)
    for templates, state, error, kinds in (
        ('{"reminder": "pengingat"}', DeliveryState.SENT, None, ["template"]),
        ('{"broadcast": "kabar"}', DeliveryState.FAILED, "needs_template", []),
        ("", DeliveryState.FAILED, "messaging: code 131047", []),
    ):
        with subtests.test(templates):
            whatsapp(WHATSAPP_TEMPLATES=templates)
            row = add(user_id=user.id, target=None, kind="reminder", words=REMINDER)
            sim.fault("messaging", "code_131047")
            jobs.drain("urgent")
            row = drained(row)
            outcome = (row.state, row.last_error, row.attempts, row.unconfirmed_calls)
            assert outcome == (state, error, 1, 0)
            assert [message.kind for message in sim.messaging.sent] == kinds
            sim.messaging.sent.clear()


def test_a_template_that_whatsapp_refuses_is_not_sent_again(committed, sim, whatsapp):
    whatsapp(WHATSAPP_TEMPLATES='{"reminder": "pengingat"}')
    row = add(kind="reminder", words=REMINDER, user_id=committed_user().id, target=None)
    sim.fault("messaging", "code_131047", times=None)
    for _ in range(3):
        row = drained(row)
    assert (row.state, row.last_error) == (DeliveryState.FAILED, "messaging: code 131047")
    assert len(sim.messaging.calls) == 2
