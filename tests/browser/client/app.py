"""Actions of people in an application that uses the example client."""

from datetime import UTC, datetime, timedelta

from dev.stack.waiting import wait_until

PASSWORD = "rahasia123"


#: Headers that let a page of another origin read the response.
READABLE = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After",
            "Content-Type": "application/json"}  # fmt: skip


def log_in(page, username="siti"):
    page.evaluate("([name, password]) => client.login(name, password)", [username, PASSWORD])


def go_offline(page):
    """Cut the network. A busy browser sends requests for a moment after `set_offline`, so wait until one fails."""
    page.context.set_offline(True)
    wait_until(lambda: page.evaluate("fetch(location.href, {cache: 'no-store'}).then(() => false, () => true)"))


def reminder(title, seconds):
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=seconds)
    return {"tipe": "terapi", "judul": title, "waktu": due.isoformat(), "details": {}}


def own(page, title):
    return [row for row in page.evaluate("client.get('/pengingat')") if row["judul"] == title]


def open_again(page):
    """Reload the page. The access token is lost, and stored data is kept."""
    api = page.evaluate("client.api")
    page.reload()
    page.evaluate("(api) => start(api)", api)


def another_tab(page):
    tab = page.context.new_page()
    tab.goto(page.url)
    tab.evaluate("(api) => start(api)", page.evaluate("client.api"))
    return tab
