"""Which endpoints are called: those of known push services. All others are stored, and their pushes fail."""

import socket

import pytest

from app.notifications.models import DeliveryState
from tests.helpers.client import assert_error
from tests.push.pushes import push_to, subscribe

UNKNOWN_SERVICE = (DeliveryState.FAILED, "push: no known push service, see PUSH_HOSTS")

UNKNOWN = [
    "https://push.example.com/a", "https://127.0.0.1/a", "http://127.0.0.1/a", "https://[::1]/a",
    "https://169.254.169.254/latest/meta-data/", "http://fcm.googleapis.com/a", "https://fcm.googleapis.com./a",
    "https://fcm.googleapis.com:8443/a", "https://fcm.googleapis.com.example.org/a",
    "https://example.org/fcm.googleapis.com/a", "https://example.org?fcm.googleapis.com/a",
    "https://example.org#fcm.googleapis.com/a", "https://fcm.googleapis.com@example.org/a",
    "https://example.org\\@fcm.googleapis.com/a", "https://user:secret@fcm.googleapis.com/a",
    "https://notify.windows.com/a", "https://evilpush.apple.com/a",
]  # fmt: skip
KNOWN = [
    "https://fcm.googleapis.com/fcm/send/abc:APA91b", "https://FCM.googleapis.com:443/fcm/send/abc",
    "https://updates.push.services.mozilla.com/wpush/v2/gAAAA", "https://wns2-sg2p.notify.windows.com/w/?token=x",
    "https://web.push.apple.com/QK-x", "https://push.example.net/a", "https://eu.push.example.org/a",
]  # fmt: skip


@pytest.fixture
def looked_up(monkeypatch):
    """Return a list of the host names that calls look up. Each name resolves to a loopback address."""
    names = []
    real = socket.getaddrinfo

    def resolve(host, port, *args, **options):
        names.append(host)
        return real("127.0.0.1", 1, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return names


@pytest.fixture
def production(committed, user_id, monkeypatch, change_settings):
    change_settings(environment="production", push_hosts=("push.example.net", "*.push.example.org"))
    monkeypatch.delitem(committed.extensions, "webpush", raising=False)
    yield
    committed.extensions.pop("webpush", None)


def pushed(endpoint, caller, browser, user_id):
    """Subscribe with this endpoint and send a push. Return the state and the error of the push."""
    row = push_to(subscribe(caller, {**browser, "endpoint": endpoint}, user_id))
    return row.state, row.last_error


@pytest.mark.usefixtures("production")
def test_an_endpoint_of_an_unknown_host_is_stored_and_never_called(caller, browser, user_id, looked_up, subtests):
    for endpoint in UNKNOWN:
        with subtests.test(endpoint):
            assert pushed(endpoint, caller, browser, user_id) == UNKNOWN_SERVICE
    assert looked_up == []


@pytest.mark.usefixtures("production")
def test_known_push_services_and_push_hosts_are_called(caller, browser, user_id, looked_up):
    for endpoint in KNOWN:
        state, error = pushed(endpoint, caller, browser, user_id)
        assert (state, error) == (DeliveryState.PENDING, "push: unreachable"), endpoint
    hosts = {endpoint.split("/")[2].lower().removesuffix(":443") for endpoint in KNOWN}
    assert {name.lower() for name in looked_up} == hosts


def test_outside_production_only_loopback_is_called_in_addition(caller, sim, browser, user_id):
    for host in ("10.255.255.1", "localhost.example.org", "127.0.0.1.example.org", "127.0.0.2"):
        endpoint = browser["endpoint"].replace("127.0.0.1", host)
        assert pushed(endpoint, caller, browser, user_id) == UNKNOWN_SERVICE, host
    assert pushed(browser["endpoint"], caller, browser, user_id) == (DeliveryState.SENT, None)
    assert len(sim.push.calls) == 1


def test_text_that_is_no_web_address_is_refused(client, browser):
    wrong = ("push", "ftp://push.example.com/a", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b")
    for endpoint in wrong:
        assert_error(client.post("/push/subscribe", {**browser, "endpoint": endpoint}), 400, field="endpoint")
