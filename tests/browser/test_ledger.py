"""A front end of another origin creates a reminder, answers the reminder by a link, and shows it in the history."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.client.app import reminder
from tests.browser.screens import PHONE, sent_message

pytestmark = pytest.mark.browser

TITLE = "Fisioterapi bahu kiri"


class Client:
    def __init__(self, page, front_end, service):
        page.goto(f"{front_end}/")
        self.page, self.api = page, f"{service.url}/api"

    def call(self, method, path, body=None, *, status=200):
        call = "([api, method, path, body]) => call(api, method, path, body)"
        got = self.page.evaluate(call, [self.api, method, path, body])
        assert got["status"] == status, got
        return got


@pytest.fixture
def client(page, front_end, service):
    client = Client(page, front_end, service)
    client.call("POST", "/login", {"username": "siti", "password": "rahasia123"})
    return client


def test_a_reminder_is_created_sent_answered_by_link_and_in_the_history(client, service):
    made = client.call("POST", "/pengingat", reminder(TITLE, 5), status=201)["answer"]

    tab = client.page.context.new_page()
    message = sent_message(tab, service, TITLE)
    expect(message).to_contain_text(f"waktunya terapi {TITLE} pukul")
    message.locator("a[href*='/k/']").first.click()

    expect(tab.get_by_role("heading", name=re.compile(r"^Terapi pukul \d\d\.\d\d WIB$"))).to_be_visible()
    assert TITLE not in tab.content()
    tab.get_by_role("button", name="Sudah").click()
    expect(tab.get_by_role("status")).to_have_text("Tercatat, terima kasih.")

    (row,) = client.call("GET", f"/pengingat/{made['id']}/riwayat")["answer"]
    assert (row["judul"], row["state"], row["answered_via"], row["late"]) == (TITLE, "done", "link", False)
    assert client.call("GET", f"/pengingat/{made['id']}")["answer"]["is_done"] is True
    adherence = client.call("GET", "/pengingat/kepatuhan")["answer"]
    (of_reminder,) = [each for each in adherence["reminders"] if each["id"] == made["id"]]
    assert (of_reminder["due"], of_reminder["done"]) == (1, 1)
    assert adherence["percent"] is not None

    pdf = client.call("GET", "/pengingat/kepatuhan/laporan")
    assert (pdf["type"], pdf["answer"][:5]) == ("application/pdf", "%PDF-")


def test_the_page_of_today_can_answer_a_dose_and_undo_the_answer(client):
    """Use the developers' page of today's doses on a small phone."""
    title = "Fisioterapi lutut"
    client.call("POST", "/pengingat", reminder(title, 2), status=201)

    tab = client.page.context.new_page()
    tab.set_viewport_size(PHONE)
    tab.goto("/dev/today")
    tab.get_by_role("button", name="Masuk").click()
    dose = tab.locator(".entry", has_text=title)
    expect(dose).to_contain_text("belum dijawab")
    dose.get_by_role("button", name="Sudah").click()
    expect(dose.get_by_role("button", name="Batalkan")).to_be_visible()
    expect(dose.get_by_role("button", name="Sudah")).to_have_count(0)
    dose.get_by_role("button", name="Batalkan").click()
    expect(dose).to_contain_text("belum dijawab")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
