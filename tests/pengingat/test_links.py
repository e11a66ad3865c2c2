"""Answers to reminders without a login, by the web link in a message or from a push."""

import re
from html import unescape

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.notifications.models import Delivery
from app.pengingat.models import Occurrence
from tests.helpers.client import assert_error
from tests.helpers.factories import PASSWORD
from tests.pengingat.ledgers import ledger, texts, waiting
from tests.pengingat.links import ADDRESS, page, payloads, said, tap

MISSED = 'Belum ada jawaban dari Anda. Kalau sudah, tekan "Sudah" sekarang.'


def test_a_message_ends_with_its_link_which_is_stored_only_as_a_hash(token):
    end = f"pukul 19.00 WIB. Pengingat: Obat diabetes.\nJawab di sini: {ADDRESS}/k/{token}"
    assert str(payloads("messaging")[0]["text"]).endswith(end)
    hashes = db.session.scalars(sa.select(Delivery.link_hash).filter_by(channel="messaging")).all()
    assert all(re.fullmatch("[0-9a-f]{64}", value or "") for value in hashes)
    assert token not in str(hashes)


def test_messages_have_no_link_without_a_public_address(siti, moment, obat):
    siti.post("/pengingat/obat", obat)
    assert all(text.endswith("WIB.") for text in texts())


def test_the_link_page_shows_time_and_type_but_no_names_and_allows_no_scripts(token, client):
    response = page(client, token)
    assert response.status_code == 200
    text = response.text
    assert "Obat pukul 19.00 WIB" in text
    assert "Senin, 2 Maret 2026" in text
    for word in ("Siti", "Metformin", "diabetes", "<script", "src="):
        assert word not in text
    assert re.findall(r'value="(\w+)"', text) == ["done", "snooze", "skipped"]
    assert len(response.get_data()) < 6000
    headers = response.headers
    assert headers["Cache-Control"] == "no-store"
    assert "noindex" in headers["X-Robots-Tag"]
    assert headers["Referrer-Policy"] == "no-referrer"
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        headers["Content-Security-Policy"],
    )


def test_a_tap_on_done_records_the_answer_and_is_idempotent(token, client, siti):
    before = ledger()
    page(client, token)
    assert ledger() == before  # chat apps open links for a preview
    for _ in range(2):
        response = tap(client, token, "done")
        assert (response.status_code, response.headers["Location"]) == (303, f"/k/{token}")
    text = page(client, token).text
    assert "Tercatat, terima kasih." in text
    assert re.findall(r'value="(\w+)">([^<]*)<', unescape(text)) == [("skipped", 'Salah tekan? Ganti ke "Lewati"')]
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
    assert row.answered_via == "link"
    assert siti.get("/pengingat").json[0]["is_done"] is True


def test_a_tap_on_snooze_postpones_the_reminder_by_half_an_hour(token, client):
    tap(client, token, "snooze")
    assert waiting()[0] == "02 12:35"
    assert "Ditunda sampai pukul 19.35 WIB." in page(client, token).text
    for _ in range(2):
        tap(client, token, "snooze")
    refused = tap(client, token, "snooze")
    assert refused.status_code == 409
    assert "Pengingat ini tidak dapat ditunda lagi.<br>Ditunda sampai pukul 19.35 WIB." in refused.text


def test_the_token_of_a_push_snoozes_and_answers_a_reminder(token, client):
    push = str(payloads("push_fan_out")[0]["token"])
    assert push != token
    answer = client.post(f"/konfirmasi/{push}", {"status": "snooze", "minutes": 10})
    assert answer.json == {
        "status": "snooze",
        "tipe": "obat",
        "due_at": "2026-03-02T12:00:00Z",
        "state": "pending",
        "snoozed_until": "2026-03-02T12:15:00Z",
    }
    client.post(f"/konfirmasi/{push}", {"status": "done"})
    row = db.session.scalars(sa.select(Occurrence).filter_by(state="done")).one()
    assert row.answered_via == "push"


def test_link_pages_are_rate_limited_by_token_and_refused_with_html(limited, token, client):
    assert {page(client, f"{n:022}").status_code for n in range(61)} == {404}
    assert {page(client, token).status_code for _ in range(60)} == {200}
    refused = page(client, token)
    assert (refused.status_code, refused.mimetype) == (429, "text/html")
    assert "Terlalu banyak permintaan. Coba lagi dalam " in refused.text
    assert refused.headers["Cache-Control"] == "no-store"
    assert int(refused.headers["Retry-After"]) > 0


def test_an_invalid_answer_is_400_and_shows_the_link_page(token, client):
    for data in ({}, {"status": "void"}):
        response = client.post(f"/k/{token}", data=data)
        assert (response.status_code, "Obat pukul" in response.text) == (400, True)
    assert ledger()[0] == "02 12:00 1 pending"


def test_a_link_expires_after_a_day(token, client, moment):
    moment.elapse(hours=11)
    assert said(client, token) == (MISSED, ["done"])
    moment.move(hours=12, minutes=55)
    assert page(client, token).status_code == 200
    moment.move(minutes=1)
    for response in (page(client, token), tap(client, token, "done")):
        assert (response.status_code, "Tautan ini sudah tidak berlaku." in response.text) == (410, True)
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 410, "gone")


def test_an_unknown_token_is_404_and_its_page_says_what_to_do(client):
    for unknown in ("x", "x" * 500, "%00", "..%2f"):
        assert page(client, unknown).status_code == 404
        assert_error(client.post(f"/konfirmasi/{unknown}", {"status": "done"}), 404)
    sentence = "Tautan ini tidak kami temukan. Coba buka lagi dari pesan kami yang terbaru."
    assert sentence in page(client, "x" * 22).text


def test_the_link_of_a_deleted_reminder_shows_a_page_but_refuses_answers(token, siti, client):
    (reminder,) = siti.get("/pengingat").json
    siti.delete(f"/pengingat/{reminder['id']}")
    text = page(client, token).text
    assert "Jadwal ini sudah diubah atau dihapus." in text
    assert "<button" not in text
    assert tap(client, token, "done").status_code == 409
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 409, "already_closed")


@pytest.mark.parametrize("answered", [False, True])
def test_a_link_is_404_after_its_owner_requests_account_deletion(client, siti, token, answered):
    if answered:
        tap(client, token, "done")
    response = siti.delete("/profile", {"password": PASSWORD, "forum": "delete"})
    assert response.status_code == 202, response.json
    assert page(client, token).status_code == 404
    assert "19.00" not in page(client, token).text
    assert_error(client.post(f"/konfirmasi/{token}", {"status": "done"}), 404, "not_found")


def test_the_page_of_a_closed_dose_has_no_buttons_and_refuses_answers(token, client, moment):
    moment.elapse(hours=12)
    assert said(client, token) == ("Waktu untuk menjawab pengingat ini sudah lewat.", [])
    assert tap(client, token, "done").status_code == 409
