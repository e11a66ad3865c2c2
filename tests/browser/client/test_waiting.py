"""Requests that the example client stores while it is offline, and sends later for the same person."""

import pytest

from dev.stack.waiting import wait_until
from tests.browser.client.app import READABLE, go_offline, log_in, open_again, own, reminder

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("logged_in")]


def test_an_offline_answer_is_sent_when_the_network_returns(page, context):
    made = page.evaluate("(body) => client.create('/pengingat', body)", reminder("Tanpa jaringan", 2))
    wait_until(lambda: page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"]) != [])
    go_offline(page)
    assert page.evaluate("({id, waktu}) => client.answer(id, waktu, 'done')", made) is False
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    assert [each["path"] for each in page.evaluate("client.waiting")] == [
        f"/pengingat/{made['id']}/konfirmasi",
        "/log/user-log",
    ]
    context.set_offline(False)
    wait_until(lambda: page.evaluate("client.waiting") == [])
    (row,) = page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"])
    assert (row["state"], row["answered_via"]) == ("done", "app")


def test_stored_requests_are_sent_when_the_application_opens_again(page):
    page.route("**/api/log/user-log", lambda route: route.abort())
    page.evaluate("client.log({event_type: 'view', event_name: 'sebelum ditutup'})")
    assert len(page.evaluate("client.waiting")) == 1
    page.unroute("**/api/log/user-log")
    open_again(page)
    wait_until(lambda: page.evaluate("client.waiting") == [])


def test_a_request_with_an_incomplete_error_response_stays_stored(page):
    page.route("**/api/log/user-log", lambda route: route.fulfill(status=503, headers=READABLE, body='{"error": "serv'))
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    assert len(page.evaluate("client.waiting")) == 1


def test_a_refused_stored_request_does_not_block_later_ones(page, context):
    go_offline(page)
    page.evaluate("client.answer(999999999, '2026-03-02T00:00:00Z', 'done')")
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    context.set_offline(False)
    wait_until(lambda: page.evaluate("client.waiting") == [])
    assert page.evaluate("refused") == [["/pengingat/999999999/konfirmasi", "not_found"]]


def test_a_stored_request_after_a_server_error_is_retried_without_blocking(page):
    page.route("**/konfirmasi", lambda route: route.fulfill(status=500, headers=READABLE, body="{}"))
    assert page.evaluate("client.answer(999999999, '2026-03-02T00:00:00Z', 'done')") is False
    assert page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})") is True
    page.unroute("**/konfirmasi")
    wait_until(lambda: page.evaluate("client.waiting") == [])  # the client retries by itself, without a new call
    assert page.evaluate("refused") == [["/pengingat/999999999/konfirmasi", "not_found"]]


def test_log_records_above_the_limit_do_not_remove_a_stored_answer(page):
    go_offline(page)
    page.evaluate("client.answer(1, '2026-03-02T00:00:00Z', 'done')")
    page.evaluate(MANY_LOGS)
    page.evaluate("client.log({event_type: 'view', event_name: 'terakhir'})")
    waiting = page.evaluate("client.waiting")
    assert waiting[0]["path"] == "/pengingat/1/konfirmasi"
    assert len(waiting) == 502
    assert waiting[-1]["body"]["event_name"] == "terakhir"
    page.evaluate("localStorage.clear()")


#: Log records of a day without a network.
MANY_LOGS = """() => {
  for (let n = 0; n < 510; n += 1) {
    const item = { user: client.user, path: "/log/user-log", body: { event_type: "view", event_name: `layar ${n}` } };
    localStorage.setItem(`waiting:${Date.now()}.${String(n).padStart(6, "0")}`, JSON.stringify(item));
  }
}"""


def test_a_stored_request_is_sent_only_by_the_person_who_made_it(page, context):
    go_offline(page)
    page.evaluate("client.log({event_type: 'view', event_name: 'milik siti'})")
    page.evaluate("client.logout().catch(() => {})")
    context.set_offline(False)
    sent = []
    page.on("request", lambda request: sent.append(request.method) if request.url.endswith("/user-log") else None)
    log_in(page, "budi")
    page.evaluate("client.log({event_type: 'view', event_name: 'milik budi'})")
    wait_until(lambda: [each["body"]["event_name"] for each in page.evaluate("client.waiting")] == ["milik siti"])
    assert sent.count("POST") == 1
    log_in(page)
    wait_until(lambda: page.evaluate("client.waiting") == [])
    assert sent.count("POST") == 2


def test_a_pending_create_is_not_sent_after_another_person_logs_in(page, context):
    page.evaluate("client.get('/profile')")
    go_offline(page)
    page.evaluate(
        "(body) => { window.made = client.create('/pengingat', body).then(() => 'made', ({status}) => status); }",
        reminder("Milik siti", 3600),
    )
    page.evaluate("client.logout().catch(() => {})")
    page.route("**/api/pengingat", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    context.set_offline(False)
    log_in(page, "budi")
    page.unroute("**/api/pengingat")
    assert page.evaluate("window.made") == 0
    assert own(page, "Milik siti") == []
