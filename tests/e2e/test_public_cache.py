"""Tests of public reads through the deployed nginx.

Cached responses are updated in time, and contain no personal data.
"""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from app import create_app
from app.core.database.session import db, unit_of_work
from app.dokter.models import Dokter
from app.faskes.models import Faskes
from app.identity import sessions
from app.identity.models import RoleName
from app.komunitas.models import Komunitas
from config import Config
from dev.stack.outages import IsolatedStack
from dev.stack.site import DeployedStack
from dev.stack.waiting import PATIENCE_S, wait_until
from dev.system_packages import require
from tests.helpers.factories import make_article, make_user, make_video
from tests.routes.registry import ACCESS, NOT_KEPT, PUBLIC_READS

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]

KEPT = PUBLIC_READS - NOT_KEPT
MARKER = "penanda"

#: Query string for each route that needs one. With this query string, the route finds at least one record.
QUESTIONS = {
    "GET /emergency/nearby": "lat=-6.88&lng=107.55",
    "GET /province-config/nearby": "lat=-6.88&lng=107.55",
    "GET /faskes/search": "keyword=rsud",
    "GET /articles/search": "title=artikel",
    "GET /articles/url": "url=https://contoh.id/artikel",
    "GET /videoplatform/search": "q=gizi",
}


def path_of(route):
    """Return the path of a route with the id of an existing record."""
    path = re.sub(r"<int:\w+>", "1", route.removeprefix("GET "))
    names = {"<province>": "default", "<faskes_id>": "rsud", "<username>": f"{MARKER}.admin", "<report>": "users"}
    names |= {"<table_name>": "users", "<string:video_id>": "1", "<string:channel_id>": "UCkemenkesSimulasi0000001"}
    for name, value in names.items():
        path = path.replace(name, value)
    return f"{path}?{QUESTIONS[route]}" if route in QUESTIONS else path


def found_by(site, route):
    """Return a path of the route that leads to an existing record.

    For `/articles/detail`, the simulator of the health ministry supplies the address of an article.
    """
    if route != "GET /articles/detail":
        return path_of(route)
    return f"/articles/detail?url={site.call('GET', '/articles').json()[0]['url']}"


@pytest.fixture(scope="module")
def site(running, tmp_path_factory):
    require("nginx")
    outside = running.ministry.env() | running.videos.env() | running.places.env() | running.messaging.env()
    env = {**outside, "FRONTEND_URL": "https://app.example.org"}
    with IsolatedStack.opened(tmp_path_factory.mktemp("public"), DeployedStack, **env) as isolated:
        yield isolated.stack


@pytest.fixture(scope="module")
def tokens(site):
    """Create one person of each role, with `MARKER` in the names, and public content. Return the tokens."""
    app = create_app(Config.from_env(site.env))
    with app.app_context():
        with unit_of_work():
            people = {
                role.value: make_user(role, username=f"{MARKER}.{role.value}", nama_ktp=f"{MARKER} {role.value}")
                for role in RoleName
            }
            found = {name: sessions.begin(user).access_token for name, user in people.items()}
            found["console"] = sessions.begin_superadmin(people[RoleName.SUPERADMIN])
            make_article(url="https://contoh.id/artikel")
            make_video(video_id="hdMaxres001")
            db.session.add(Komunitas(nama="Komunitas Diabetes"))
            db.session.add(Dokter(nama="dr. Ani"))
            db.session.add(Faskes(id="rsud", nama="RSUD Cibabat", lat=-6.88, lng=107.55, jenis="rumah_sakit"))
        db.engine.dispose()
    layout = {"sections": [{"id": "video", "enabled": True}]}
    for province in ("default", "Jawa Barat"):
        assert site.call("PUT", f"/province-config/{province}", found["admin"], json=layout).status_code == 200
    write_thread(site, found["pasien"])
    return found


def write_thread(site, token, **changed):
    """Create a thread under a pseudonym, with a like of its author."""
    category = site.call("GET", "/forum/categories", token).json()[0]["id"]
    thread = {"category_id": category, "title": "Menu sehat", "content": "Apa menu Anda?", "use_pseudonym": True}
    written = site.call("POST", "/forum/threads", token, json=thread | changed)
    assert written.status_code == 201, written.text
    record = written.json()
    assert site.call("POST", f"/forum/threads/{record['id']}/like", token).json() == {"is_liked": True}
    return record


def forget_copies(site):
    for file in (site.folder / "cache").glob("*/*/*"):
        file.unlink()


@pytest.mark.parametrize("route", sorted(KEPT))
def test_a_public_read_is_cached_only_for_callers_without_a_token(site, tokens, route):
    path = found_by(site, route)
    first, second = site.call("GET", path), site.call("GET", path)
    assert first.status_code == 200, first.text
    assert second.headers["Cache-Status"].startswith("nginx; hit")
    assert (second.content, second.headers["ETag"]) == (first.content, first.headers["ETag"])
    assert site.call("GET", path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    own = site.call("GET", path, tokens["pasien"])
    assert (own.status_code, own.headers["Cache-Control"]) == (200, "no-store")
    assert "Cache-Status" not in own.headers
    assert "ETag" not in own.headers


#: Request headers that nginx passes on. They must not change the cached response for other callers.
LIES = {
    "Accept": "text/evil", "Accept-Language": "xx", "Accept-Encoding": "evil", "Content-Type": "text/evil",
    "Cookie": "evil=1", "Range": "bytes=0-1", "Origin": "https://evil.example", "User-Agent": "evil",
    "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil", "Forwarded": "host=evil.example",
    "X-Original-URL": "/evil", "X-Rewrite-URL": "/evil", "X-HTTP-Method-Override": "DELETE", "X-Host": "evil.example",
    "Authorization": "", "Idempotency-Key": "evil-evil", "Cache-Control": "no-store",
}  # fmt: skip


def test_request_headers_and_body_do_not_change_the_cached_response(site, tokens):
    for route in sorted(KEPT):
        path = found_by(site, route)
        forget_copies(site)
        clean = site.call("GET", path)
        forget_copies(site)
        first = site.call("GET", path, headers=LIES, data=b'{"page": 2, "evil": 1}')
        copy = site.call("GET", path)
        assert copy.headers["Cache-Status"].startswith("nginx; hit"), route
        assert (copy.status_code, copy.content) == (200, clean.content) == (first.status_code, first.content), route
        changing = {"Date", "X-Request-ID", "Cache-Status"}
        kept = [{k: v for k, v in each.headers.items() if k not in changing} for each in (copy, clean)]
        assert kept[0] == kept[1], route


@pytest.mark.parametrize("nobody_is", ["first", "last"])
def test_the_cache_contains_no_personal_data(site, tokens, nobody_is):
    """Callers of every role read every route twice: first with an empty cache, then from the filled cache."""
    forget_copies(site)
    persons = [*tokens.values(), "expired"]
    identities = [None, *persons] if nobody_is == "first" else [*persons, None]
    reads = [route for route in ACCESS if route.startswith("GET ")]

    def walk(route):
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(site.certificate)
            for identity in [*identities, *identities]:
                headers = {"Authorization": f"Bearer {identity}"} if identity else {}
                answer = session.get(site.url + path_of(route), headers=headers, timeout=PATIENCE_S)
                if identity:
                    assert answer.headers["Cache-Control"] == "no-store", route
                    assert not answer.headers.get("Cache-Status"), route
                else:
                    assert MARKER not in answer.text, route
                    assert not re.search(r'"is_(liked|saved|owner)":true', answer.text), route

    with ThreadPoolExecutor(4) as walkers:
        list(walkers.map(walk, reads))
    copies = [file.read_bytes() for file in (site.folder / "cache").glob("*/*/*")]
    assert copies
    for secret in (MARKER, *tokens.values()):
        assert not any(secret.encode() in copy for copy in copies)


def test_cached_reads_show_changes_of_a_thread_in_time(site, tokens):
    thread = write_thread(site, tokens["pasien"])
    path = f"/forum/threads/{thread['id']}"

    def titles():
        return site.call("GET", "/forum/threads").json()[0]["title"], site.call("GET", path).json().get("title")

    wait_until(lambda: titles() == ("Menu sehat", "Menu sehat"))
    site.call("PUT", path, tokens["pasien"], json={"title": "Menu baru"})
    # a caller with a token sees the change at once
    assert site.call("GET", path, tokens["pendamping"]).json()["title"] == "Menu baru"
    wait_until(lambda: titles() == ("Menu baru", "Menu baru"))
    site.call("DELETE", path, tokens["pasien"])
    wait_until(lambda: site.call("GET", path).status_code == 404)


def test_a_hidden_post_is_removed_from_all_cached_responses(site, tokens):
    """Callers with a token see the change at once. Other callers see the change up to a second later."""
    thread = write_thread(site, tokens["pasien"], content=f"Beli {MARKER} di sini")
    paths = [
        "/forum/threads",
        *(f"/forum/threads{rest}" for rest in ("?per_page=5", f"?q={MARKER}", f"/{thread['id']}")),
    ]
    assert all(MARKER in site.call("GET", path).text for path in paths)
    report = site.call("POST", f"{paths[-1]}/lapor", tokens["pendamping"], json={"reason": "spam"})
    assert report.status_code == 201
    cases = site.call("GET", "/admins/moderasi", tokens["admin"]).json()
    (case,) = (each for each in cases if each["thread_id"] == thread["id"])
    hide = {"decision": "hide", "reason": "Iklan."}
    assert site.call("PUT", f"/admins/moderasi/{case['id']}", tokens["admin"], json=hide).status_code == 200
    for path in paths:
        assert MARKER not in site.call("GET", path, tokens["pendamping"]).text
    for path in paths:
        wait_until(lambda path=path: MARKER not in site.call("GET", path).text)
        assert MARKER not in site.call("GET", path).text
    assert site.call("GET", paths[-1]).json()["content"] == "[disembunyikan moderator]"
    assert site.call("DELETE", paths[-1], tokens["pasien"]).status_code == 200
