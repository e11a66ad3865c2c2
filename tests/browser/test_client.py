"""The example client of `docs/client.md`, as it stands there, in a browser and from another origin."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from dev.stack.waiting import PATIENCE_S, wait_until
from tests.e2e.launcher import Launcher

pytestmark = pytest.mark.browser

PASSWORD = "rahasia123"


@pytest.fixture
def context(browser: Browser, tmp_path: Path) -> Iterator[BrowserContext]:
    context = browser.new_context(permissions=["notifications"])
    context.set_default_timeout(PATIENCE_S * 1000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, front_end: str, service: Launcher) -> Iterator[Page]:
    """The client's page; an uncaught error in its script fails the test."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{front_end}/client.html")
    page.evaluate("(api) => start(api)", f"{service.url}/api")
    yield page
    assert problems == []


def log_in(page: Page, username: str = "siti") -> None:
    page.evaluate("([name, password]) => client.login(name, password)", [username, PASSWORD])


def reminder(title: str, seconds: int) -> dict[str, Any]:
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=seconds)
    return {"tipe": "terapi", "judul": title, "waktu": due.isoformat(), "details": {}}


def own(page: Page, title: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = page.evaluate("client.get('/pengingat')")
    return [row for row in rows if row["judul"] == title]


def test_a_create_whose_answer_was_lost_creates_once(page: Page) -> None:
    log_in(page)
    keys: list[str] = []

    def lose_the_first(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) == 1:
            assert route.fetch().status == 201
            route.abort()
        else:
            route.continue_()

    page.route("**/api/pengingat", lose_the_first)
    made = page.evaluate("(body) => client.create('/pengingat', body)", reminder("Jawaban yang hilang", 3600))
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert [row["id"] for row in own(page, "Jawaban yang hilang")] == [made["id"]]


def test_a_service_that_is_away_for_a_moment_is_asked_again(page: Page) -> None:
    log_in(page)
    statuses = iter([503, 502])

    def fail_twice(route: Route) -> None:
        status = next(statuses, None)
        route.continue_() if status is None else route.fulfill(status=status, headers={"Retry-After": "0"})

    page.route("**/api/profile", fail_twice)
    assert page.evaluate("client.get('/profile')")["username"] == "siti"


def test_who_must_wait_for_an_hour_is_told_so_at_once(page: Page) -> None:
    log_in(page)
    headers = READABLE | {"Retry-After": "3600"}
    page.route("**/api/profile", lambda route: route.fulfill(status=429, headers=headers, body="{}"))
    page.evaluate("() => { client.get('/profile').catch(({retryAfter}) => { window.told = retryAfter; }); }")
    wait_until(lambda: page.evaluate("window.told") == 3600)


#: What a page of another origin may read.
READABLE = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After",
            "Content-Type": "application/json"}  # fmt: skip


def test_a_refusal_is_told_and_not_repeated(page: Page) -> None:
    log_in(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method) if request.url.endswith("/pengingat") else None)
    refusal = page.evaluate(
        "client.create('/pengingat', {tipe: 'obat'}).catch(({status, code, errors}) => ({status, code, errors}))"
    )
    assert (refusal["status"], refusal["code"]) == (400, "validation_error")
    assert "judul" in refusal["errors"]
    assert asked.count("POST") == 1


def test_many_calls_with_an_ended_token_refresh_it_once(page: Page) -> None:
    log_in(page)
    ended = set()
    refreshed: list[str] = []

    def end(route: Route) -> None:
        token = route.request.headers.get("authorization", "")
        if not ended:
            ended.add(token)
        if token in ended:
            headers = {"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"}
            route.fulfill(status=401, headers=headers, body='{"error": "invalid_token", "message": "Sesi berakhir."}')
        else:
            route.continue_()

    page.route("**/api/profile", end)
    page.on("request", lambda request: refreshed.append(request.method) if request.url.endswith("/refresh") else None)
    names = page.evaluate(
        "Promise.all([...Array(8)].map(() => client.get('/profile'))).then((all) => all.map((u) => u.username))"
    )
    assert names == ["siti"] * 8
    assert refreshed.count("POST") == 1


def test_a_session_that_has_ended_logs_the_page_out_once(page: Page) -> None:
    log_in(page)
    page.evaluate("localStorage.setItem('refresh_token', 'x.y.z')")
    page.evaluate("start(client.api)")  # as after a reload: there is no access token yet
    refused = page.evaluate(
        "Promise.allSettled([client.get('/profile'), client.get('/pengingat')])"
        ".then((all) => all.map((each) => each.reason?.status))"
    )
    assert refused == [401, 401]
    assert page.evaluate("[window.ended, client.isLoggedIn]") == [1, False]


def test_what_is_answered_offline_reaches_the_service_later(page: Page, context: BrowserContext) -> None:
    log_in(page)
    made = page.evaluate("(body) => client.create('/pengingat', body)", reminder("Tanpa jaringan", 2))
    wait_until(lambda: page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"]) != [])
    context.set_offline(True)
    page.evaluate("(id) => client.answer(id, 'done')", made["id"])
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    assert [each["path"] for each in page.evaluate("client.waiting")] == [
        f"/pengingat/{made['id']}/konfirmasi",
        "/log/user-log",
    ]
    context.set_offline(False)
    wait_until(lambda: page.evaluate("client.waiting") == [])
    (row,) = page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"])
    assert (row["state"], row["answered_via"]) == ("done", "app")


def test_what_waits_leaves_when_the_application_is_opened_again(page: Page) -> None:
    log_in(page)
    page.route("**/api/log/user-log", lambda route: route.abort())
    page.evaluate("client.log({event_type: 'view', event_name: 'sebelum ditutup'})")
    assert len(page.evaluate("client.waiting")) == 1
    page.unroute("**/api/log/user-log")
    open_again(page)
    wait_until(lambda: page.evaluate("client.waiting") == [])


def test_what_waits_stays_where_the_answer_breaks_off(page: Page) -> None:
    log_in(page)
    page.route("**/api/log/user-log", lambda route: route.fulfill(status=503, headers=READABLE, body='{"error": "serv'))
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    assert len(page.evaluate("client.waiting")) == 1


def test_what_the_service_refuses_does_not_block_what_waits_behind_it(page: Page, context: BrowserContext) -> None:
    log_in(page)
    context.set_offline(True)
    page.evaluate("client.answer(999999999, 'done')")
    page.evaluate("client.log({event_type: 'view', event_name: 'beranda'})")
    context.set_offline(False)
    wait_until(lambda: page.evaluate("client.waiting") == [])


def test_what_waits_is_sent_by_whom_it_is_of_and_nobody_else(page: Page, context: BrowserContext) -> None:
    log_in(page)
    context.set_offline(True)
    page.evaluate("client.log({event_type: 'view', event_name: 'milik siti'})")
    page.evaluate("client.logout().catch(() => {})")
    context.set_offline(False)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method) if request.url.endswith("/user-log") else None)
    log_in(page, "budi")
    page.evaluate("client.log({event_type: 'view', event_name: 'milik budi'})")
    wait_until(lambda: [each["body"]["event_name"] for each in page.evaluate("client.waiting")] == ["milik siti"])
    assert sent.count("POST") == 1
    log_in(page)
    wait_until(lambda: page.evaluate("client.waiting") == [])
    assert sent.count("POST") == 2


def test_a_create_that_is_tried_again_is_not_sent_by_who_logs_in_meanwhile(page: Page, context: BrowserContext) -> None:
    log_in(page)
    page.evaluate("client.get('/profile')")
    context.set_offline(True)
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


def test_a_tab_whose_person_logs_out_in_another_is_told_and_reads_as_nobody(page: Page) -> None:
    log_in(page)
    page.evaluate("client.get('/profile')")
    other = another_tab(page)
    other.evaluate("client.logout()")
    wait_until(lambda: page.evaluate("window.ended") == 1)
    assert page.evaluate("client.isLoggedIn") is False
    assert page.evaluate("client.get('/forum/categories')") != []


def test_a_tab_is_told_when_somebody_else_logs_in_in_another(page: Page) -> None:
    log_in(page)
    page.evaluate("client.get('/profile')")
    log_in(another_tab(page), "budi")
    wait_until(lambda: page.evaluate("window.ended") == 1)
    assert page.evaluate("client.get('/profile').then(({username}) => username)") == "budi"


@pytest.mark.parametrize("status", [200, 401])
def test_a_refresh_for_who_has_left_changes_nothing_for_who_came(page: Page, status: int) -> None:
    log_in(page)
    held: list[Route] = []
    page.route("**/api/refresh", lambda route: held.append(route))
    open_again(page)
    page.evaluate("() => { window.asked = client.get('/profile').then(() => 'sent', ({status}) => status); }")
    wait_until(lambda: page.evaluate("1") == 1 and len(held) == 1)
    log_in(page, "budi")
    body = '{"access_token": "token.of.siti", "error": "invalid_token", "message": "Sesi berakhir."}'
    held[0].fulfill(status=status, headers=READABLE, body=body)
    page.unroute("**/api/refresh")
    assert page.evaluate("window.asked") != "sent"
    assert page.evaluate("[client.isLoggedIn, window.ended]") == [True, 0]
    assert page.evaluate("client.get('/profile').then(({username}) => username)") == "budi"


def open_again(page: Page) -> None:
    """As after a reload: the access token is gone, what is stored stays."""
    api = page.evaluate("client.api")
    page.reload()
    page.evaluate("(api) => start(api)", api)


def another_tab(page: Page) -> Page:
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.evaluate("(api) => start(api)", page.evaluate("client.api"))
    return tab


def test_after_a_logout_the_browser_gets_no_more_pushes(page: Page) -> None:
    log_in(page)
    page.evaluate(SUBSCRIBED, SUBSCRIPTION)
    page.evaluate("(subscription) => client.post('/push/subscribe', subscription)", SUBSCRIPTION)
    with page.expect_response(lambda response: response.request.method == "DELETE") as deleted:
        page.evaluate("client.logout()")
    assert deleted.value.status == 200
    assert page.evaluate("[window.unsubscribed, client.isLoggedIn]") == [True, False]


#: A browser without a screen has no push service to subscribe at.
SUBSCRIBED = """(subscription) => {
  const own = { ...subscription, unsubscribe: async () => { window.unsubscribed = true; } };
  navigator.serviceWorker.getRegistration = async () => ({ pushManager: { getSubscription: async () => own } });
}"""
KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg"}  # fmt: skip
SUBSCRIPTION = {"endpoint": "https://fcm.googleapis.com/fcm/send/contoh-keluar", "keys": KEYS}


@pytest.mark.parametrize(("action", "state"), [("done", "done"), ("snooze", "pending")])
def test_a_push_is_answered_by_its_button_without_a_login(
    page: Page, context: BrowserContext, service: Launcher, action: str, state: str
) -> None:
    log_in(page)
    title = f"Tombol {action}"
    made = page.evaluate("(body) => client.create('/pengingat', body)", reminder(title, 3))
    token = _token(context, service, title)
    page.evaluate("localStorage.removeItem('refresh_token')")  # the application is logged out
    worker = _worker(page, service)
    pushed = {"title": title, "body": "Waktunya.", "actions": [{"action": action, "title": "Sudah"}], "token": token}
    _deliver(page, pushed)
    wait_until(lambda: worker.evaluate("self.registration.getNotifications().then((all) => all.length)") == 1)
    worker.evaluate(CLICK, action)
    told = worker.evaluate("self.registration.getNotifications().then((all) => all.map((each) => each.body))")
    assert told == [{"done": "Sudah dicatat. Terima kasih.", "snooze": "Kami ingatkan lagi 30 menit lagi."}[action]]
    log_in(page)
    (row,) = page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"])
    assert row["state"] == state
    assert (row["snoozed_until"] is not None) is (action == "snooze")


def test_a_push_that_is_answered_offline_comes_back(page: Page, context: BrowserContext, service: Launcher) -> None:
    worker = _worker(page, service)
    actions = [{"action": "done", "title": "Sudah"}]
    _deliver(page, {"title": "Pengingat", "body": "Waktunya.", "actions": actions, "token": "x" * 22})
    wait_until(lambda: worker.evaluate("self.registration.getNotifications().then((all) => all.length)") == 1)
    context.set_offline(True)
    worker.evaluate(CLICK, "done")
    told = worker.evaluate(
        "self.registration.getNotifications().then((all) => all.map(({body, actions}) => [body, actions.length]))"
    )
    assert told == [["Belum terkirim. Waktunya.", 1]]


def test_a_push_that_a_service_in_trouble_cannot_take_comes_back(page: Page, service: Launcher) -> None:
    worker = _worker(page, service)
    actions = [{"action": "done", "title": "Sudah"}]
    _deliver(page, {"title": "Pengingat", "body": "Waktunya.", "actions": actions, "token": "x" * 22})
    wait_until(lambda: worker.evaluate("self.registration.getNotifications().then((all) => all.length)") == 1)
    worker.evaluate("self.fetch = async () => Response.json({message: 'Silakan coba lagi.'}, {status: 503})")
    worker.evaluate(CLICK, "done")
    told = worker.evaluate(
        "self.registration.getNotifications().then((all) => all.map(({body, actions}) => [body, actions.length]))"
    )
    assert told == [["Belum terkirim. Waktunya.", 1]]


def test_a_push_opens_its_address_in_the_page_that_is_there(page: Page, service: Launcher) -> None:
    worker = _worker(page, service)
    _deliver(page, {"title": "Balasan", "body": "Ada balasan.", "url": "/client.html?utas=5"})
    wait_until(lambda: worker.evaluate("self.registration.getNotifications().then((all) => all.length)") == 1)
    worker.evaluate("WindowClient.prototype.focus = async function () { return this; }")  # a person's click allows it
    worker.evaluate(CLICK, "")
    page.wait_for_url("**/client.html?utas=5")


def test_a_browser_subscribes_when_its_service_worker_is_ready(page: Page) -> None:
    page.evaluate(SUBSCRIBING)
    assert (
        page.evaluate("subscribe({ api: client.api, get: async () => ({ vapid_public_key: 'x' }), post() {} })") is True
    )
    assert page.evaluate("window.readiness") in ("activating", "activated")


#: A push service refuses who has no active service worker yet.
SUBSCRIBING = """() => {
  PushManager.prototype.subscribe = async () => {
    window.readiness = (await navigator.serviceWorker.getRegistration()).active?.state;
    return { toJSON() {} };
  };
}"""


#: As a person who presses a button of the notification; a browser without a screen shows none.
CLICK = """async (action) => {
  const [notification] = await self.registration.getNotifications();
  const work = [];
  const event = new NotificationEvent("notificationclick", { notification, action });
  event.waitUntil = (promise) => work.push(promise);
  self.dispatchEvent(event);
  await Promise.all(work);
}"""


def _worker(page: Page, service: Launcher) -> Any:
    api = quote(f"{service.url}/api", safe="")
    page.evaluate(
        "async (url) => { await navigator.serviceWorker.register(url); await navigator.serviceWorker.ready; }",
        f"sw.js?api={api}",
    )
    wait_until(lambda: len(page.context.service_workers) == 1)
    return page.context.service_workers[0]


def _deliver(page: Page, payload: dict[str, Any]) -> None:
    devtools = page.context.new_cdp_session(page)
    registrations: list[dict[str, Any]] = []
    devtools.on("ServiceWorker.workerRegistrationUpdated", lambda event: registrations.extend(event["registrations"]))
    devtools.send("ServiceWorker.enable")
    wait_until(lambda: page.evaluate("1") == 1 and registrations != [])
    origin = page.evaluate("location.origin")
    devtools.send(
        "ServiceWorker.deliverPushMessage",
        {"origin": origin, "registrationId": registrations[0]["registrationId"], "data": json.dumps(payload)},
    )


def _token(context: BrowserContext, service: Launcher, title: str) -> str:
    """The one in the link of the reminder's message."""
    tab = context.new_page()
    tab.goto(f"{service.url}/dev/outbox")
    message = tab.locator(".entry", has_text=title).filter(has=tab.locator(".state.sent", has_text="sent")).first
    expect(message).to_be_visible()
    link = message.locator("a[href*='/k/']").first.get_attribute("href") or ""
    tab.close()
    return link.rpartition("/")[2]
