"""Province of a position, from the villages of the gazetteer."""

import gc
import random
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from app.core.lib.provinces import PROVINCES
from app.providers import geocoding
from app.providers.geocoding import Gazetteer
from dev.distance import distance_km
from tests.helpers.offenders import assert_none
from tests.providers.known_places import INSIDE, OUTSIDE

INSIDE_CASES = [(name, at, province) for province, places in INSIDE.items() for name, at in places.items()]


def test_places_of_every_province_are_in_the_province_of_its_canonical_name():
    found = {(name, province): geocoding.province_at(*at) for name, at, province in INSIDE_CASES}
    wrong = (f"{name}, {province}: {at}" for (name, province), at in found.items() if at != province)
    assert_none(wrong, "Found in another province:")
    assert set(INSIDE) == set(PROVINCES)
    assert set(geocoding.gazetteer()._provinces) == {*PROVINCES, ""}


def test_no_place_outside_indonesia_has_a_province():
    found = {name: geocoding.province_at(*at) for name, at in OUTSIDE.items()}
    assert_none((f"{name}: {at}" for name, at in found.items() if at), "Found in a province:")


def test_the_gazetteer_file_is_under_a_megabyte_and_has_an_attribution():
    assert geocoding.PLACES.stat().st_size < 1_000_000
    attribution = (geocoding.PLACES.parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for words in ("geografis", "MIT License", "GeoNames", "Creative Commons Attribution 4.0"):
        assert words in attribution


def test_the_grid_search_gives_the_same_result_as_a_full_search():
    draw = random.Random(3)
    places = [(draw.uniform(-2, 2), draw.uniform(100, 104), str(number)) for number in range(500)]
    grid = Gazetteer(places)
    for _ in range(100):
        lat, lng = draw.uniform(-2.5, 2.5), draw.uniform(99.5, 104.5)
        km, area = min((distance_km(lat, lng, at, by), area) for at, by, area in places)
        assert grid.nearest(lat, lng, 10) == (area if km <= 10 else None)


def test_a_village_beyond_the_distance_limit_is_not_found():
    grid = Gazetteer([(0.0, 110.0, "Kalimantan Barat")])
    degrees = 30 / 111.195
    for sign in (1, -1):
        assert grid.nearest(sign * degrees * 0.999, 110, 30)
        assert grid.nearest(sign * degrees * 1.001, 110, 30) is None
        assert grid.nearest(0, 110 + sign * degrees * 0.999, 30)
        assert grid.nearest(0, 110 + sign * degrees * 1.001, 30) is None


@pytest.mark.slow
def test_loading_the_gazetteer_uses_less_than_twenty_megabytes_of_memory():
    gc.collect()
    tracemalloc.start()
    try:
        grid = geocoding._load.__wrapped__()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(grid._provinces) > 80_000
    assert kept < 5_000_000
    assert peak < 20_000_000


def test_concurrent_first_calls_load_the_gazetteer_once(monkeypatch):
    read = []

    def load():
        read.append(Gazetteer([]))
        time.sleep(0.05)  # gives the other threads time to arrive
        return read[-1]

    monkeypatch.setattr(geocoding, "_load", cache(load))
    with ThreadPoolExecutor(8) as pool:
        grids = list(pool.map(lambda _: geocoding.gazetteer(), range(8)))
    assert grids == read * 8
    assert len(read) == 1
