"""Tests of the developers' pages: their content, and that they do not exist outside development."""

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa
from lxml import html

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.identity.models import User
from app.inbox import jobs as inbox
from app.notifications.models import Channel, DeliveryState, Inbound, deliveries
from app.notifications.senders.models import PhoneNumber
from config import Config
from dev import outbox as outbox_page
from dev.application import create_development_app
from tests.helpers.apps import config_for_tests, dispose
from tests.helpers.factories import make_user
from tests.helpers.language import assert_readable
from tests.notifications import deliveries as one_delivery


@pytest.fixture(scope="module")
def development_app(variables):
    app = create_development_app(Config.from_env({"ENVIRONMENT": "development", **variables}))
    yield app
    dispose(app)


@pytest.fixture
def developing(development_app):
    with development_app.app_context():
        yield development_app
        db.session.rollback()
        db.session.execute(deliveries.delete())
        db.session.commit()
        db.session.remove()


def add(text, **fields):
    reset = {"kind": "password_reset", "dedupe_key": text, "words": {"text": text}, "target": "+6281"}
    one_delivery.add(**reset | fields)


def test_the_outbox_shows_messages_newest_first_with_links_to_click(developing):
    add("<script>alert(1)</script> http://x/<b>")
    add("Tautan: http://localhost:8000/dev/reset-password?code=a_b-c.")
    add("kedua", channel=Channel.PUSH, words={"title": "Judul", "body": "Isi push", "url": "/forum/5"})
    page = developing.test_client().get("/dev/outbox")
    text = page.get_data(as_text=True)
    assert text.index("Isi push") < text.index("Tautan:")
    assert '<a href="http://localhost:8000/dev/reset-password?code=a_b-c">' in text
    assert "/forum/5" in text
    assert 'class="state pending"' in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
    assert "<b>" not in text


def shown(app, path):
    """Return the texts of the elements at an XPath of the outbox page."""
    page = html.fromstring(app.test_client().get("/dev/outbox").data)
    return [" ".join(element.text_content().split()) for element in page.xpath(path)]


def entries(app, heading):
    return shown(app, f"//h2[.='{heading}']/following-sibling::ol[1]/li")


def folded(app, id_):
    return shown(app, f"//details[@id='{id_}']//li[@class='entry']")


@pytest.fixture
def recipient(developing):
    with unit_of_work():
        recipient = make_user(username="siti", nama_ktp="Siti Aminah", nomor_hp="081234567890")
    yield recipient
    with unit_of_work():
        for table in (Inbound, PhoneNumber, deliveries):
            db.session.execute(sa.delete(table))
        db.session.execute(sa.delete(User).where(User.id == recipient.id))


def test_deliveries_on_several_channels_are_one_entry_with_the_name(developing, recipient):
    due = local_time.now() + timedelta(hours=2)
    mine = {"user_id": recipient.id, "target": None}
    for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
        add(f"dosis {channel}", channel=channel, dedupe_key=f"dosis:{channel}", due_at=due, **mine)
    add("dosis berikut", due_at=due + timedelta(hours=12), **mine)
    first, second = entries(developing, "Next")
    assert first.startswith("Siti Aminah siti password reset · ")
    assert "pending message dosis messaging" in first
    assert "pending push" in first
    assert "dosis berikut" in second


def test_next_and_latest_deliveries_are_shown_and_others_are_folded(developing):
    add("batal", due_at=local_time.now() + timedelta(hours=1))
    with unit_of_work():
        db.session.execute(deliveries.update().values(state=DeliveryState.CANCELLED, settled_at=local_time.now()))
    for number in range(6):
        add(f"nanti {number}", due_at=local_time.now() + timedelta(minutes=60 - number))
    for number in range(14):
        add(f"lalu {number}", due_at=local_time.now() - timedelta(minutes=number), target=f"+6281{number}")
    assert [entry.split()[-1] for entry in entries(developing, "Next")] == ["5", "4", "3", "2"]
    assert [entry.split()[-1] for entry in folded(developing, "later")] == ["1", "0"]
    latest = [entry.split()[-1] for entry in entries(developing, "Latest")]
    assert latest == [str(number) for number in range(12)]
    assert [entry.split()[-1] for entry in folded(developing, "older")] == ["12", "13"]
    assert len(folded(developing, "withdrawn")) == 1


def test_a_developer_can_answer_as_a_recipient(developing, recipient):
    add("Halo Siti", user_id=recipient.id, target=None, due_at=local_time.now())
    page = html.fromstring(developing.test_client().get("/dev/outbox").data)
    (form,) = page.forms
    assert form.inputs["phone"].value_options == ["+6281234567890"]
    form.fields = {"phone": "+6281234567890", "text": "<b>BANTUAN</b>"}
    response = developing.test_client().post(form.action, data=dict(form.form_values()))
    assert (response.status_code, response.location) == (303, "/dev/outbox")
    inbox.handle()
    text = developing.test_client().get("/dev/outbox").get_data(as_text=True)
    assert "&lt;b&gt;BANTUAN&lt;/b&gt;" in text
    assert "Keadaan darurat: 119 atau 112." in text
    for body in ({}, {"phone": "x", "text": "SUDAH"}, {"phone": "+6281234567890", "text": " "}):
        assert developing.test_client().post(form.action, data=body).status_code == 400


def heard(app):
    """Return the incoming messages that the outbox page shows, newest first."""
    return shown(app, "//li[@data-inbound]")


def test_the_outbox_shows_incoming_messages_with_their_outcome(developing, recipient):
    for text in (*["apa kabar"] * 3, "apa kabar lagi", "makasih"):
        outbox_page.write_as("+6281234567890", text)
    assert all("not handled yet" in entry and "(not shown)" in entry for entry in heard(developing))
    inbox.handle()
    silent, unanswered, answered, *_ = heard(developing)
    assert "text · courtesy ·" in silent
    assert "text · help ·" in unanswered
    assert "text · answered:help ·" in answered
    assert answered.endswith("apa kabar")


@pytest.mark.usefixtures("real_app")  # adds the phrases about a crisis to the database
def test_the_outbox_never_shows_the_text_of_a_crisis(developing, recipient):
    for phone in ("+6281234567890", "+6281234567890", "+6281299999999"):
        outbox_page.write_as(phone, "saya mau bunuh diri")
    assert "bunuh" not in " ".join(heard(developing))
    inbox.handle()
    shown = heard(developing)
    assert [entry.split(" · ")[1] for entry in shown] == ["answered:crisis", "crisis", "answered:crisis"]
    assert "bunuh" not in developing.test_client().get("/dev/outbox").get_data(as_text=True)


def test_the_outbox_shows_the_receipt_of_a_message(developing):
    add("sampai", due_at=local_time.now())
    add("gagal", due_at=local_time.now())
    with unit_of_work():
        sent = {"state": DeliveryState.SENT, "settled_at": local_time.now(), "receipt": "read"}
        db.session.execute(deliveries.update().values(sent))
        failed = {"receipt": "failed", "receipt_code": "131026"}
        db.session.execute(deliveries.update().where(deliveries.c.dedupe_key == "gagal").values(failed))
    assert sorted(entry.split("sent ")[1] for entry in entries(developing, "Latest")) == [
        "failed (131026) message to +6281 gagal",
        "read message to +6281 sampai",
    ]


def test_the_password_reset_page_is_in_readable_indonesian(developing):
    page = html.fromstring(developing.test_client().get("/dev/reset-password?code=x").data)
    assert page.get("lang") == "id"
    assert page.findtext(".//title") == "Kata sandi baru · pengembangan"
    for text in page.xpath("//body//text()[normalize-space() and not(parent::code)]"):
        assert_readable(" ".join(text.split()))


def test_pages_run_no_foreign_or_inline_code(developing):
    client = developing.test_client()
    for path in ("/dev/outbox", "/dev/reset-password?code=x", "/dev/push", "/dev/today"):
        page = client.get(path)
        assert page.status_code == 200, path
        policy = page.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        for source in re.findall(r'(?:src|href)="([^"]+)"', page.get_data(as_text=True)):
            assert source.startswith("/")
            if source.startswith(("/dev/static", "/static")):
                with client.get(source) as file:
                    assert file.status_code == 200, source
    with client.get("/dev/push-worker.js") as worker:
        assert worker.status_code == 200
        assert "javascript" in worker.mimetype


def test_the_pages_exist_only_in_development(real_app):
    assert not [rule for rule in real_app.url_map.iter_rules() if rule.rule.startswith("/dev")]
    with pytest.raises(ValueError, match="ENVIRONMENT=development"):
        create_development_app(config_for_tests())
