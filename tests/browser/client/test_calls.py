"""Calls of the example client: retries create no duplicates, and errors are reported."""

import pytest

from dev.stack.waiting import wait_until
from tests.browser.client.app import READABLE, go_offline, own, reminder

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("logged_in")]


def test_a_create_whose_response_was_lost_is_retried_without_a_duplicate(page):
    keys = []

    def lose_the_first(route):
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


def test_a_form_sent_again_with_its_idempotency_key_creates_one_row(page):

    def lose(route):
        if route.request.method != "POST":
            route.continue_()
            return
        assert route.fetch().status == 201
        route.abort()

    page.route("**/api/pengingat", lose)
    saving = "([body, key]) => client.create('/pengingat', body, key).catch(({status}) => status)"
    form = [reminder("Disimpan dua kali", 3600), "kunci-formulir"]
    assert page.evaluate(saving, form) == 0
    page.unroute("**/api/pengingat")
    made = page.evaluate(saving, form)
    assert [row["id"] for row in own(page, "Disimpan dua kali")] == [made["id"]]


def test_a_request_is_retried_after_502_and_503(page):
    statuses = iter([503, 502])

    def fail_twice(route):
        status = next(statuses, None)
        route.continue_() if status is None else route.fulfill(status=status, headers={"Retry-After": "0"})

    page.route("**/api/profile", fail_twice)
    assert page.evaluate("client.get('/profile')")["username"] == "siti"


def test_a_page_of_a_list_has_the_total_and_the_number_of_pages(page):
    first, second, last = (page.evaluate("(n) => client.page('/articles/all?q=a', n, 1)", n) for n in (1, 2, 1000))
    assert first["total"] == second["total"] == last["total"] > 1
    assert first["pages"] == first["total"]
    assert [len(each["rows"]) for each in (first, second, last)] == [1, 1, 0]
    assert first["rows"][0]["id"] != second["rows"][0]["id"]


def test_a_registration_logs_the_person_in(page):
    person = {"username": "baru.sekali", "password": "rahasia123", "nama_ktp": "Baru Sekali", "nama_samaran": "Baru",
              "nomor_hp": "081234500077", "domicile": "Aceh"}  # fmt: skip
    page.evaluate("(person) => client.register(person)", person)
    assert page.evaluate("client.get('/profile')")["username"] == "baru.sekali"
    again = page.evaluate(
        "(person) => client.register(person).catch(({errors}) => errors)", {**person, "password": "x"}
    )
    assert "password" in again


def test_a_request_without_a_response_times_out_and_is_retried(page):
    page.evaluate(SWALLOW_THE_NEXT)
    assert page.evaluate("client.get('/profile')")["username"] == "siti"
    assert page.evaluate("window.givenUp") is True


SWALLOW_THE_NEXT = """() => {
  const { answerMs } = client;
  const { fetch } = window;
  client.answerMs = 100;
  window.fetch = (url, { signal }) => {
    Object.assign(client, { answerMs });
    window.fetch = fetch;
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => { window.givenUp = true; reject(signal.reason); });
    });
  };
}"""


def test_a_long_retry_after_is_reported_immediately(page):
    headers = READABLE | {"Retry-After": "3600"}
    page.route("**/api/profile", lambda route: route.fulfill(status=429, headers=headers, body="{}"))
    page.evaluate("() => { client.get('/profile').catch(({retryAfter}) => { window.told = retryAfter; }); }")
    wait_until(lambda: page.evaluate("window.told") == 3600)


def test_a_refused_request_is_reported_and_not_retried(page):
    asked = []
    page.on("request", lambda request: asked.append(request.method) if request.url.endswith("/pengingat") else None)
    refusal = page.evaluate(
        "client.create('/pengingat', {tipe: 'obat'}).catch(({status, code, errors}) => ({status, code, errors}))"
    )
    assert (refusal["status"], refusal["code"]) == (400, "validation_error")
    assert "judul" in refusal["errors"]
    assert asked.count("POST") == 1


def test_concurrent_calls_refresh_an_expired_token_once(page):
    ended = set()
    refreshed = []

    def end(route):
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


def test_a_logout_without_a_network_takes_effect_immediately(page):
    go_offline(page)
    page.evaluate("() => { window.told = client.logout().then(() => 'told', ({status}) => status); }")
    assert page.evaluate("[client.isLoggedIn, client.user, window.ended]") == [False, None, 1]
    assert page.evaluate("window.told") == 0
    assert page.evaluate("window.ended") == 1


def test_a_logout_without_an_access_token_ends_the_session(page):
    refresh = page.evaluate("localStorage.getItem('refresh_token')")
    page.evaluate("start(client.api)")  # removes the access token, like a reload of the page
    page.evaluate("client.logout()")
    page.evaluate("(token) => localStorage.setItem('refresh_token', token)", refresh)
    assert page.evaluate("client.get('/profile').catch(({status}) => status)") == 401


def test_a_session_that_has_ended_logs_the_page_out_once(page):
    page.evaluate("localStorage.setItem('refresh_token', 'x.y.z')")
    page.evaluate("start(client.api)")  # removes the access token, like a reload of the page
    refused = page.evaluate(
        "Promise.allSettled([client.get('/profile'), client.get('/pengingat')])"
        ".then((all) => all.map((each) => each.reason?.status))"
    )
    assert refused == [401, 401]
    assert page.evaluate("[window.ended, client.isLoggedIn]") == [1, False]
