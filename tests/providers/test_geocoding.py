"""Province of a position: from the gazetteer, and from geocoding services."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from statistics import median
from typing import Any

import pytest

from app.core.lib.provinces import PROVINCES
from app.providers import gazetteer, geocoding
from app.providers.gazetteer import Gazetteer, Regency
from app.providers.http import AddressPolicy, Http
from config import ROOT, Config
from dev.distance import distance_km
from dev.simulators import Server
from tests.helpers.offenders import assert_none
from tests.providers.known_places import INSIDE, OUTSIDE
from tests.providers.patience import patience_with

INSIDE_CASES = [(name, at, province) for province, places in INSIDE.items() for name, at in places.items()]

BANDUNG = (-6.9025, 107.6188)
MID_OCEAN = (-10.5, 100.0)
MOVED = Regency("Kota Denpasar", "Bali")
SERVICES = {"google_geocoder": geocoding.Google, "nominatim": geocoding.Nominatim}


def service(sim: Server, name: str, url: str | None = None, fault: str = "") -> geocoding.Remote:
    http = Http(name, policy=AddressPolicy.ANYWHERE, attempts=2, **patience_with(fault))
    key = sim.env["GEOCODER_KEY"] if name == "google_geocoder" else None
    return SERVICES[name](http, url or sim.simulators[name].url, key)


# --- offline ------------------------------------------------------------------------------------------------


def test_every_known_place_is_in_its_province() -> None:
    offline = geocoding.Offline()
    found = {(name, province): offline.province_at(*at) for name, at, province in INSIDE_CASES}
    wrong = (f"{name}, {province}: {at}" for (name, province), at in found.items() if at != province)
    assert_none(wrong, "Found in another province:")


def test_no_place_outside_indonesia_has_a_province() -> None:
    found = {name: geocoding.Offline().province_at(*at) for name, at in OUTSIDE.items()}
    assert_none((f"{name}: {at}" for name, at in found.items() if at), "Found in a province:")


def test_the_known_places_cover_every_province() -> None:
    assert len(INSIDE_CASES) >= 100
    assert set(INSIDE) == set(PROVINCES)
    assert len(OUTSIDE) >= 15


def test_the_gazetteer_uses_the_canonical_name_of_every_province() -> None:
    found = {area.province for area in gazetteer.shared()._areas}
    assert found == {*PROVINCES, None}


def test_the_gazetteer_file_is_under_a_megabyte_and_has_an_attribution() -> None:
    assert gazetteer.PLACES.stat().st_size < 1_000_000
    attribution = (gazetteer.PLACES.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for words in ("geografis", "MIT License", "GeoNames", "Creative Commons Attribution 4.0"):
        assert words in attribution


def test_the_grid_search_gives_the_same_result_as_a_full_search() -> None:
    draw = random.Random(3)
    places = [(draw.uniform(-2, 2), draw.uniform(100, 104), Regency(str(number), "Riau")) for number in range(1500)]
    grid = Gazetteer(places)
    for _ in range(200):
        lat, lng = draw.uniform(-2.5, 2.5), draw.uniform(99.5, 104.5)
        km, area = min((distance_km(lat, lng, at, by), area.kabupaten) for at, by, area in places)
        found = grid.nearest(lat, lng, 10)
        assert (found.kabupaten if found else None) == (area if km <= 10 else None)


def test_a_village_beyond_the_distance_limit_is_not_found() -> None:
    grid = Gazetteer([(0.0, 110.0, Regency("Desa", "Kalimantan Barat"))])
    degrees = 30 / 111.195
    for sign in (1, -1):
        assert grid.nearest(sign * degrees * 0.999, 110, 30)
        assert grid.nearest(sign * degrees * 1.001, 110, 30) is None
        assert grid.nearest(0, 110 + sign * degrees * 0.999, 30)
        assert grid.nearest(0, 110 + sign * degrees * 1.001, 30) is None


def test_a_lookup_reads_only_a_small_part_of_the_places(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(5)
    spots = [(draw.uniform(-8.5, -6), draw.uniform(106, 114)) for _ in range(1000)]  # Java has the most villages
    grid = gazetteer.shared()
    runs, read = Gazetteer._runs, [0]

    def counted(*args: Any) -> Iterator[tuple[int, int]]:
        for start, end in runs(*args):
            read[-1] += end - start
            yield start, end

    monkeypatch.setattr(Gazetteer, "_runs", counted)
    for lat, lng in spots:
        grid.nearest(lat, lng, geocoding.NEAR_KM)
        read.append(0)
    assert median(read) < 200
    assert max(read) < 2000


@pytest.mark.slow
def test_loading_the_gazetteer_uses_less_than_twenty_megabytes_of_memory() -> None:
    gc.collect()
    tracemalloc.start()
    try:
        grid = Gazetteer.load()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(grid) > 80_000
    assert kept < 5_000_000
    assert peak < 20_000_000


@pytest.mark.slow
def test_importing_the_geocoder_reads_no_data() -> None:
    code = "import app.providers.geocoding, app.providers.gazetteer as g; print(g._load.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


# --- services -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_a_geocoding_service_returns_the_province_of_a_position(sim: Server, name: str) -> None:
    asked = service(sim, name)
    assert asked.province_at(*BANDUNG) == "Jawa Barat"
    sim.simulators[name].moved = MOVED
    assert asked.province_at(-6.2, 106.8) == "Bali"  # this result comes from the service, not from the gazetteer


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize("place", ["Indian Ocean", "Singapore", "Dili"])
def test_a_geocoding_service_gives_no_province_outside_indonesia(sim: Server, name: str, place: str) -> None:
    assert service(sim, name).province_at(*OUTSIDE[place]) is None


@pytest.mark.parametrize("name", SERVICES)
def test_nearby_positions_share_one_call_to_the_service(sim: Server, name: str) -> None:
    asked = service(sim, name)
    for step in range(5):
        asked.province_at(BANDUNG[0] + step * 0.00001, BANDUNG[1])
    assert len(sim.simulators[name].calls) == 1


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    "fault", ["down", "drop", "hang", "slow", "not_http", "garbage", "wrong_type", "oversize", "redirect", "status"]
)
def test_the_gazetteer_is_used_when_a_service_fails(sim: Server, name: str, fault: str) -> None:
    sim.simulators[name].moved = MOVED
    sim.fault(name, fault, times=None)
    assert service(sim, name, fault=fault).province_at(*BANDUNG) == "Jawa Barat"


@pytest.mark.parametrize("status", ["OVER_QUERY_LIMIT", "REQUEST_DENIED", "INVALID_REQUEST", "UNKNOWN_ERROR"])
def test_the_gazetteer_is_used_when_google_returns_an_error_status(sim: Server, status: str) -> None:
    sim.google_geocoder.moved = MOVED
    sim.fault("google_geocoder", status, times=None)
    assert service(sim, "google_geocoder").province_at(*BANDUNG) == "Jawa Barat"


def test_the_gazetteer_is_used_when_nominatim_blocks_requests(sim: Server) -> None:
    sim.nominatim.moved = MOVED
    sim.fault("nominatim", "blocked", times=None)
    assert service(sim, "nominatim").province_at(*BANDUNG) == "Jawa Barat"


@pytest.mark.parametrize("name", SERVICES)
def test_the_gazetteer_is_used_when_a_service_is_unreachable(sim: Server, name: str) -> None:
    assert service(sim, name, sim.closed_url).province_at(*BANDUNG) == "Jawa Barat"


def test_the_gazetteer_is_used_when_a_service_returns_an_unknown_province(sim: Server) -> None:
    sim.google_geocoder.moved = Regency("Kota", "Wakanda")
    assert service(sim, "google_geocoder").province_at(*BANDUNG) == "Jawa Barat"


def test_a_geocoding_failure_is_not_cached(sim: Server) -> None:
    asked = service(sim, "google_geocoder")
    sim.google_geocoder.moved = MOVED
    sim.fault("google_geocoder", "OVER_QUERY_LIMIT", times=1)
    assert asked.province_at(*BANDUNG) == "Jawa Barat"
    assert asked.province_at(*BANDUNG) == "Bali"


def test_a_nominatim_request_has_a_user_agent_and_asks_for_indonesian(sim: Server) -> None:
    service(sim, "nominatim").province_at(*BANDUNG)
    call = sim.nominatim.calls[0]
    assert call.headers["user-agent"].startswith("health-support/")
    assert call.query == {
        "lat": "-6.902", "lon": "107.619", "format": "jsonv2", "zoom": "5", "accept-language": "id",
    }  # fmt: skip


def test_the_configuration_chooses_the_geocoder(sim: Server) -> None:
    def chosen(**env: str) -> geocoding.Geocoder:
        return geocoding.from_config(Config.from_env({"ENVIRONMENT": "testing", **env}))

    assert isinstance(chosen(), geocoding.Offline)
    assert isinstance(chosen(GEOCODER="nominatim"), geocoding.Nominatim)
    google = chosen(**sim.google_geocoder.env())
    assert isinstance(google, geocoding.Google)
    assert google.province_at(*BANDUNG) == "Jawa Barat"
    assert chosen() is chosen()


def test_concurrent_first_calls_load_the_gazetteer_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Gazetteer] = []

    def load() -> Gazetteer:
        read.append(Gazetteer([]))
        time.sleep(0.05)  # gives the other threads time to arrive
        return read[-1]

    monkeypatch.setattr(gazetteer, "_load", cache(load))
    with ThreadPoolExecutor(8) as pool:
        grids = list(pool.map(lambda _: gazetteer.shared(), range(8)))
    assert grids == read * 8
    assert len(read) == 1
