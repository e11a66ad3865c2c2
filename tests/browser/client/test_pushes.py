"""The example service worker of `docs/sw.js` in a browser, with pushes and their answer buttons."""

import json
from urllib.parse import quote

import pytest

from dev.stack.waiting import wait_until
from tests.browser.client.app import go_offline, log_in, reminder
from tests.browser.screens import deliver_push, sent_message

pytestmark = pytest.mark.browser


def test_a_logout_removes_the_push_subscription(page):
    log_in(page)
    page.evaluate(SUBSCRIBED, SUBSCRIPTION)
    page.evaluate("(subscription) => client.post('/push/subscribe', subscription)", SUBSCRIPTION)
    with page.expect_response(lambda response: response.request.method == "DELETE") as deleted:
        page.evaluate("client.logout()")
    # The logout request runs at the same time as this DELETE. If the logout request arrives first, the service has
    # already deleted the subscription.
    assert deleted.value.status in (200, 404)
    assert page.evaluate("[window.unsubscribed, client.isLoggedIn]") == [True, False]


def test_a_login_of_another_person_removes_the_push_subscription(page):
    log_in(page)
    page.evaluate(SUBSCRIBED, SUBSCRIPTION)
    page.evaluate("localStorage.setItem('pushes_of', client.user)")
    log_in(page)
    assert page.evaluate("window.unsubscribed") is None
    page.evaluate("localStorage.removeItem('refresh_token'); localStorage.removeItem('user')")  # the session has ended
    log_in(page, "budi")
    assert page.evaluate("window.unsubscribed") is True


#: Script that replaces the push subscription, because a headless browser has no push service.
SUBSCRIBED = """(subscription) => {
  const own = { ...subscription, unsubscribe: async () => { window.unsubscribed = true; } };
  navigator.serviceWorker.getRegistration = async () => ({ pushManager: { getSubscription: async () => own } });
}"""
KEYS = {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "auth": "BTBZMqHH6r4Tts7J_aSIgg"}  # fmt: skip
SUBSCRIPTION = {"endpoint": "https://fcm.googleapis.com/fcm/send/contoh-keluar", "keys": KEYS}


@pytest.mark.parametrize(("action", "state"), [("done", "done"), ("snooze", "pending")])
def test_a_push_is_answered_by_its_button_without_a_login(page, context, service, action, state):
    log_in(page)
    title = f"Tombol {action}"
    made = page.evaluate("(body) => client.create('/pengingat', body)", reminder(title, 3))
    token = _token(context, service, title)
    page.evaluate("localStorage.removeItem('refresh_token')")  # The person has logged out of the application.
    worker = _worker(page, service)
    pushed = {"title": title, "body": "Waktunya.", "actions": [{"action": action, "title": "Sudah"}], "token": token}
    _deliver(page, pushed)
    worker.evaluate(CLICK, action)
    told = {"done": "Sudah dicatat. Terima kasih.", "snooze": "Kami ingatkan lagi 30 menit lagi."}[action]
    assert worker.evaluate("shown") == [["Waktunya.", 1], [told, 0]]
    log_in(page)
    (row,) = page.evaluate("(id) => client.get(`/pengingat/${id}/riwayat`)", made["id"])
    assert row["state"] == state
    assert (row["snoozed_until"] is not None) is (action == "snooze")


#: A push about a dose, with an answer button.
DOSE = {"title": "Pengingat", "body": "Waktunya.", "actions": [{"action": "done", "title": "Sudah"}], "token": "x" * 22}
#: Two notifications: the first one, and the one after an answer that could not be sent.
COME_BACK = [["Waktunya.", 1], ["Belum terkirim. Waktunya.", 1]]


def test_a_push_answered_offline_is_shown_again(page, service):
    worker = _worker(page, service)
    _deliver(page, DOSE)
    go_offline(page)
    worker.evaluate(CLICK, "done")
    assert worker.evaluate("shown") == COME_BACK


@pytest.mark.parametrize(
    "trouble",
    [
        "AbortSignal.timeout = () => AbortSignal.abort()",
        "self.fetch = async () => Response.json({message: 'Silakan coba lagi.'}, {status: 503})",
    ],
    ids=["the network swallows it", "the service is in trouble"],
)
def test_a_push_whose_answer_cannot_be_sent_is_shown_again(page, service, trouble):
    worker = _worker(page, service)
    _deliver(page, DOSE)
    worker.evaluate(trouble)
    worker.evaluate(CLICK, "done")
    assert worker.evaluate("shown") == COME_BACK


def test_pushes_of_doses_at_the_same_time_are_one_notification(page, service):
    worker = _worker(page, service)
    _deliver(page, DOSE)
    _deliver(page, {**DOSE, "title": "Pengingat: Amlodipin", "body": "Waktunya minum Amlodipin."})
    _deliver(page, DOSE)  # The service repeats this push, because the dose is unanswered.
    both = ["Waktunya.", "Waktunya minum Amlodipin."]
    assert worker.evaluate("shown") == [[both[0], 1], ["\n".join(both), 1], ["\n".join(reversed(both)), 1]]
    assert worker.evaluate("[last.title, last.tag, last.renotify]") == ["2 pengingat", DOSE["token"], True]


def test_concurrent_pushes_are_both_shown_and_a_repeat_replaces_its_line(page, service):
    worker = _worker(page, service)
    bodies = ["Waktunya minum Metformin.", "Waktunya minum Amlodipin."]
    pushed = [{**DOSE, "body": body} for body in (*bodies, f"{bodies[0]} Pesan tidak sampai.")]
    worker.evaluate(PUSH_AT_ONCE, [json.dumps(each) for each in pushed])
    wait_until(lambda: len(worker.evaluate("shown")) == 3)
    assert worker.evaluate("shown")[1:] == [["\n".join(bodies), 1], [f"{bodies[1]}\n{pushed[2]['body']}", 1]]


PUSH_AT_ONCE = """(pushed) => {
  for (const data of pushed) self.dispatchEvent(new PushEvent("push", { data }));
}"""


def test_a_push_with_invalid_json_shows_a_default_text(page, service):
    worker = _worker(page, service)
    _deliver(page, "{")
    assert worker.evaluate("shown") == [["Buka aplikasi untuk melihatnya.", 0]]


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("/client.html?utas=5", "**/client.html?utas=5"),
        ("https://other.example/", "**/"),
        ("javascript:document.title='x'", "**/"),
    ],
)
def test_a_clicked_push_opens_its_url_in_the_open_page(page, service, url, opened):
    worker = _worker(page, service)
    _deliver(page, {"title": "Balasan", "body": "Ada balasan.", "url": url})
    # A browser allows `focus` only after a real click, so the test replaces `focus`.
    worker.evaluate("WindowClient.prototype.focus = async function () { return this; }")
    worker.evaluate(CLICK, "")
    page.wait_for_url(opened)
    assert page.title() != "x"


def test_a_browser_subscribes_when_its_service_worker_is_ready(page):
    page.evaluate(SUBSCRIBING)
    subscribing = (
        "(user) => subscribe({ api: client.api, user, get: async () => ({ vapid_public_key: 'x' }), post() {} })"
    )
    assert page.evaluate(subscribing, None) is False  # Without a login, the page does not subscribe.
    assert page.evaluate(subscribing, "7") is True
    assert page.evaluate("window.readiness") in ("activating", "activated")
    assert page.evaluate("localStorage.getItem('pushes_of')") == "7"


#: Script that replaces the browser's push service. A real one refuses a browser without an active service worker.
SUBSCRIBING = """() => {
  PushManager.prototype.subscribe = async () => {
    window.readiness = (await navigator.serviceWorker.getRegistration()).active?.state;
    return { toJSON() {} };
  };
}"""


#: Script that records the shown notifications, because a headless browser sometimes loses one.
KEEP = """() => {
  const show = self.registration.showNotification.bind(self.registration);
  self.shown = [];
  self.last = null;
  self.registration.getNotifications = async ({ tag }) => [self.last].filter((each) => each?.tag === tag);
  self.registration.showNotification = async (title, options) => {
    await show(title, options);
    self.last = { title, ...options, close() {} };
    self.shown.push([options.body, (options.actions ?? []).length]);
  };
}"""

#: Script that presses a button of the last notification.
CLICK = """async (action) => {
  const work = [];
  const event = new Event("notificationclick");
  Object.assign(event, { notification: self.last, action, waitUntil: (promise) => work.push(promise) });
  self.dispatchEvent(event);
  await Promise.all(work);
}"""


def _worker(page, service):
    api = quote(f"{service.url}/api", safe="")
    page.evaluate(
        "async (url) => { await navigator.serviceWorker.register(url); await navigator.serviceWorker.ready; }",
        f"sw.js?api={api}",
    )
    wait_until(lambda: len(page.context.service_workers) == 1)
    (worker,) = page.context.service_workers
    worker.evaluate(KEEP)
    return worker


def _deliver(page, payload):
    """Send a push payload to the page's service worker, and wait for its notification."""
    (worker,) = page.context.service_workers
    before = len(worker.evaluate("shown"))
    deliver_push(page, payload if isinstance(payload, str) else json.dumps(payload))
    wait_until(lambda: len(worker.evaluate("shown")) == before + 1)


def _token(context, service, title):
    tab = context.new_page()
    link = sent_message(tab, service, title).locator("a[href*='/k/']").first.get_attribute("href") or ""
    tab.close()
    return link.rpartition("/")[2]
