"""Tests of the simulated video platform: its three API reads, its quota and its errors."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from dev.simulators import Server
from dev.simulators.videos import KEY
from dev.stack.waiting import PATIENCE_S

CHANNEL = "UCkemenkesSimulasi0000001"


def get(sim: Server, read: str, **query: str | int) -> requests.Response:
    query = {"part": "snippet,contentDetails", "key": KEY} | query
    return requests.get(f"{sim.env['VIDEO_URL']}/{read}", params=query, timeout=PATIENCE_S)


def items(reply: requests.Response) -> list[dict[str, Any]]:
    assert reply.status_code == 200
    found: list[dict[str, Any]] = reply.json()["items"]
    return found


def test_videos_have_all_combinations_of_definition_and_thumbnails(sim: Server) -> None:
    found = items(get(sim, "videos", id="hdMaxres001,hdNoMaxres1,sdVideo0001"))
    seen = [(each["contentDetails"]["definition"], "maxres" in each["snippet"]["thumbnails"]) for each in found]
    assert seen == [("hd", True), ("hd", False), ("sd", False)]
    assert found[0]["snippet"]["thumbnails"]["high"]["url"].endswith("/hqdefault.jpg")
    assert found[0]["contentDetails"]["duration"] == "PT4M13S"


def test_only_the_requested_parts_are_returned(sim: Server) -> None:
    (found,) = items(get(sim, "videos", id="hdMaxres001", part="contentDetails"))
    assert "snippet" not in found


def test_unknown_and_private_ids_are_left_out(sim: Server) -> None:
    assert items(get(sim, "videos", id="nobodyKnows,private0001")) == []


def test_more_than_fifty_ids_are_refused(sim: Server) -> None:
    assert items(get(sim, "videos", id=",".join(f"v{n}" for n in range(50)))) == []
    reply = get(sim, "videos", id=",".join(f"v{n}" for n in range(51)))
    assert (reply.status_code, reply.json()["error"]["errors"][0]["reason"]) == (400, "invalidFilters")


def test_the_uploads_playlist_is_newest_first_with_private_videos(sim: Server) -> None:
    found = items(get(sim, "playlistItems", playlistId="UU" + CHANNEL[2:], maxResults=20))
    assert len(found) == 20
    dates = [each["contentDetails"]["videoPublishedAt"] for each in found]
    assert dates == sorted(dates, reverse=True)
    assert "private0001" in [each["contentDetails"]["videoId"] for each in found]


def test_an_unknown_channel_has_no_playlist(sim: Server) -> None:
    reply = get(sim, "playlistItems", playlistId="UUnobody")
    assert (reply.status_code, reply.json()["error"]["errors"][0]["reason"]) == (404, "playlistNotFound")


def test_search_results_have_escaped_titles_and_only_small_thumbnails(sim: Server) -> None:
    sim.videos.add("escaped0001", "Gula & Garam <penting>")
    (found,) = items(get(sim, "search", q="garam", type="video"))
    assert found["id"] == {"kind": "youtube#video", "videoId": "escaped0001"}
    assert found["snippet"]["title"] == "Gula &amp; Garam &lt;penting&gt;"
    assert set(found["snippet"]["thumbnails"]) == {"default", "medium", "high"}


def test_reads_cost_units_until_the_quota_is_exhausted(sim: Server) -> None:
    get(sim, "videos", id="hdMaxres001")
    get(sim, "search", q="gizi")
    assert sim.videos.units == 101
    sim.videos.exhaust()
    reply = get(sim, "videos", id="hdMaxres001")
    assert (reply.status_code, reply.json()["error"]["errors"][0]["reason"]) == (403, "quotaExceeded")
    assert (sim.videos.count("videos"), sim.videos.count("search")) == (2, 1)


@pytest.mark.parametrize(("key", "reason"), [("", "forbidden"), ("wrong", "keyInvalid")])
def test_a_bad_key_is_refused(sim: Server, key: str, reason: str) -> None:
    reply = get(sim, "videos", id="hdMaxres001", key=key)
    assert reply.json()["error"]["errors"][0]["reason"] == reason


def test_a_requested_error_is_returned(sim: Server) -> None:
    sim.fault("videos", "rateLimitExceeded")
    reply = get(sim, "videos", id="hdMaxres001")
    assert (reply.status_code, reply.json()["error"]["code"]) == (429, 429)
