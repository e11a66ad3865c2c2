"""Statuses of the live reads while a provider is down, slow or wrong, in one table."""

from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import quote

import pytest

from app.core.lib import local_time
from app.providers import cache, ministry, places, videos
from tests.articles.samples import first
from tests.faskes.provider import HOSPITAL, JAYAPURA
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
    *(({"kind": kind}, FAILED) for kind in ("down", "drop", "not_http", "garbage", "wrong_type")),
    ({"kind": "oversize"}, FAILED),
    *(({"kind": "status", "status": status}, FAILED) for status in (401, 403, 500, 503)),
    ({"kind": "status", "status": 429, "retry_after": 60}, FAILED),
    ({"kind": "hang"}, TIMEOUT),
    ({"kind": "slow"}, TIMEOUT),
]


@contextmanager
def budgets(kind):
    """Shorten the time for a call if the provider never answers. The simulators keep such a call for a minute."""
    with pytest.MonkeyPatch.context() as patch:
        for provider in (ministry, places, videos) if kind in ("hang", "slow") else ():
            patch.setattr(provider, "BUDGET_S", 0.5)
        yield


def test_a_read_is_answered_within_ten_seconds():
    assert max(provider.BUDGET_S for provider in (ministry, places, videos)) <= 8  # a last read may take two more


@pytest.mark.parametrize(("fault", "answer"), FAULTS, ids=str)
def test_a_failure_is_502_or_504_without_a_copy_and_200_with_one(client, outside, monkeypatch, fault, answer):
    for provider, path_of in READS.values():
        path = path_of(outside)
        outside.fault(provider, times=None, **fault)
        with budgets(fault["kind"]):
            response = client.get(path)
        assert_error(response, *answer)
        assert "simulated" not in response.get_data(as_text=True)  # neither the provider's words nor our key
        outside.clear_faults()
        copy = client.get(path)
        assert copy.status_code == 200, copy.json
        stale = local_time.now() + timedelta(hours=30)
        outside.fault(provider, times=None, **fault)
        with monkeypatch.context() as later, budgets(fault["kind"]):
            later.setattr(cache, "now", lambda at=stale: at)
            assert client.get(path).json == copy.json
        outside.clear_faults()


@pytest.mark.parametrize("fault", ["down", "hang", "garbage", "OVER_QUERY_LIMIT", "REQUEST_DENIED"])
def test_a_failure_of_the_places_provider_is_200_and_not_remembered(client, outside, fault):
    path = f"/faskes/nearby?lat={JAYAPURA[0]}&lng={JAYAPURA[1]}"
    outside.fault("places", fault, times=None)
    with budgets(fault):
        response = client.get(path)
    assert (response.status_code, response.json) == (200, {"results": [], "status": "ZERO_RESULTS"})
    outside.clear_faults()
    assert [row["id"] for row in client.get(path).json["results"]] == [HOSPITAL]
