"""The example client in several tabs of one browser, with a different person in each."""

import pytest

from dev.stack.waiting import wait_until
from tests.browser.client.app import READABLE, another_tab, log_in, open_again

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("logged_in")]


def test_a_logout_in_another_tab_logs_this_tab_out(page):
    page.evaluate("client.get('/profile')")
    other = another_tab(page)
    other.evaluate("client.logout()")
    wait_until(lambda: page.evaluate("window.ended") == 1)
    assert page.evaluate("client.isLoggedIn") is False
    assert page.evaluate("client.get('/forum/categories')") != []


def test_a_login_in_another_tab_changes_the_person_in_this_tab(page):
    page.evaluate("client.get('/profile')")
    log_in(another_tab(page), "budi")
    wait_until(lambda: page.evaluate("window.ended") == 1)
    assert page.evaluate("client.get('/profile').then(({username}) => username)") == "budi"


@pytest.mark.parametrize("status", [200, 401])
def test_a_late_refresh_of_the_previous_person_is_ignored(page, status):
    held = []
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
