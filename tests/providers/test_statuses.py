"""Statuses of the live reads while a provider is down, slow or wrong, in one table."""

from datetime import timedelta
from urllib.parse import quote

from app.core.lib import local_time
from app.providers import cache, ministry, places, videos
from tests.articles.samples import first
from tests.faskes.places import HOSPITAL, JAYAPURA
from tests.helpers.client import assert_error
from tests.videos.samples import CHANNEL, ONE

#: For each live read: the provider, and the path.
READS = {
    "articles": ("ministry", lambda _: "/articles"),
    "article": ("ministry", lambda sim: f"/articles/detail?url={quote(first(sim))}"),
    "video": ("videos", lambda _: ONE),
    "channel": ("videos", lambda _: f"/videoplatform/channel/{CHANNEL}"),
    "search": ("videos", lambda _: "/videoplatform/search?q=gizi"),
}
FAILED, TIMEOUT = (502, "provider_failed"), (504, "provider_timeout")
#: For each fault: the answer of a live read without a copy.
FAULTS = [
    *(({"kind": kind}, FAILED) for kind in ("down", "garbage", "wrong_type", "oversize")),
    *(({"kind": "status", "status": status}, FAILED) for status in (401, 403, 503)),
    ({"kind": "status", "status": 429, "retry_after": 60}, FAILED),
    ({"kind": "hang"}, TIMEOUT),
]


def shorten_calls(monkeypatch, kind):
    """Shorten the time for a call that hangs. The simulators keep such a call for a minute."""
    for provider in (ministry, places, videos) if kind == "hang" else ():
        monkeypatch.setattr(provider, "BUDGET_S", 0.2)


def test_a_read_is_answered_within_ten_seconds():
    assert max(provider.BUDGET_S for provider in (ministry, places, videos)) <= 8  # a last read may take two more


def test_a_failure_is_502_or_504_without_a_copy_and_is_not_remembered(client, outside, monkeypatch, subtests):
    for fault, answer in FAULTS:
        for read, (provider, path_of) in READS.items():
            with subtests.test(f"{read}: {fault}"), monkeypatch.context() as patch:
                outside.fault(provider, times=None, **fault)
                shorten_calls(patch, fault["kind"])
                response = client.get(path_of(outside))
                assert_error(response, *answer)
                assert "simulated" not in response.get_data(as_text=True)  # neither the provider's words nor our key
                outside.clear_faults()
    for _, path_of in READS.values():
        assert client.get(path_of(outside)).status_code == 200


def test_a_failure_is_200_with_a_copy(client, outside, monkeypatch, subtests):
    paths = [path_of(outside) for _, path_of in READS.values()]
    copies = {path: client.get(path) for path in paths}
    stale = local_time.now() + timedelta(hours=30)
    monkeypatch.setattr(cache, "now", lambda: stale)
    for fault, _ in FAULTS:
        for provider in ("ministry", "videos"):
            outside.fault(provider, times=None, **fault)
        for path, copy in copies.items():
            with subtests.test(f"{path}: {fault}"), monkeypatch.context() as patch:
                shorten_calls(patch, fault["kind"])
                assert copy.status_code == 200, copy.json
                assert client.get(path).json == copy.json
        outside.clear_faults()


def test_a_failure_of_the_places_provider_is_200_and_not_remembered(client, outside, monkeypatch, subtests):
    path = f"/faskes/nearby?lat={JAYAPURA[0]}&lng={JAYAPURA[1]}"
    for fault in ("down", "hang", "garbage", "OVER_QUERY_LIMIT", "REQUEST_DENIED"):
        with subtests.test(fault), monkeypatch.context() as patch:
            outside.fault("places", fault, times=None)
            shorten_calls(patch, fault)
            response = client.get(path)
            assert (response.status_code, response.json) == (200, {"results": [], "status": "ZERO_RESULTS"})
            outside.clear_faults()
    assert [row["id"] for row in client.get(path).json["results"]] == [HOSPITAL]
