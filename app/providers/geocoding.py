"""Offline geocoder: the province of a position, from the villages of Indonesia and the towns around Indonesia.

`data/ATTRIBUTION.md` lists the sources of the data. The 85,000 places are sorted by grid cell and stored in flat
arrays, which need 5 MB of memory.
"""

from __future__ import annotations

import csv
import gzip
import math
from array import array
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock

from app.core.lib import geo

PLACES = Path(__file__).parent / "data" / "places.csv.gz"

#: Maximum km from a position to the nearest village. A position farther away is at sea or in another country.
NEAR_KM = 30.0

#: Side of a grid cell in degrees. On Java a cell contains a few dozen villages. In Papua most cells are empty.
_CELL = 0.1
_WEST, _SOUTH, _COLUMNS, _ROWS = 90.0, -13.0, 550, 220

_KM_PER_DEGREE = math.pi * geo.EARTH_RADIUS_KM / 180


class Gazetteer:
    """Places in a grid of cells. The gazetteer never changes after loading, so threads can share it without a lock."""

    def __init__(self, places: Iterable[tuple[float, float, str]]) -> None:
        """Sort the places into grid cells.

        `places` are (latitude, longitude, province) in any order. The province of a foreign place is "". Longitudes are
        90 to 145 E, latitudes 13 S to 9 N.
        """
        in_order = sorted(places, key=lambda place: _row(place[0]) * _COLUMNS + _column(place[1]))
        self._lats = array("f", (lat for lat, _, _ in in_order))
        self._lngs = array("f", (lng for _, lng, _ in in_order))
        self._provinces = [province for _, _, province in in_order]
        # Index of the first place of each grid cell. The places of a cell end where the next cell's places begin.
        self._starts = array("I", bytes(4 * (_COLUMNS * _ROWS + 1)))
        for lat, lng, _ in in_order:
            self._starts[_row(lat) * _COLUMNS + _column(lng) + 1] += 1
        for cell in range(_COLUMNS * _ROWS):
            self._starts[cell + 1] += self._starts[cell]

    def nearest(self, lat: float, lng: float, within_km: float) -> str | None:
        """Return the province of the nearest place, "" abroad, or `None` if no place is within `within_km`."""
        if not (_SOUTH <= lat < _SOUTH + _ROWS * _CELL and _WEST <= lng < _WEST + _COLUMNS * _CELL):
            return None
        squeeze = math.cos(math.radians(lat))  # km per degree of longitude, divided by km per degree of latitude
        limit = within_km / _KM_PER_DEGREE
        best, place = limit * limit, -1
        row, column = _row(lat), _column(lng)
        for ring in range(math.ceil(limit / (_CELL * squeeze)) + 1):
            # Stop if every place in this ring is farther away than the nearest place so far. The distances are in
            # degrees of latitude.
            if ((ring - 1) * _CELL * squeeze) ** 2 > best and ring > 0:
                break
            for start, end in self._runs(row, column, ring):
                for i in range(start, end):
                    north = self._lats[i] - lat
                    east = (self._lngs[i] - lng) * squeeze
                    distance = north * north + east * east
                    if distance <= best:
                        best, place = distance, i
        return self._provinces[place] if place >= 0 else None

    def _runs(self, row: int, column: int, ring: int) -> Iterator[tuple[int, int]]:
        """Yield the index ranges of the places in all cells that are `ring` cells away from the given cell.

        If adjacent cells are in the same row of the grid, one range covers these cells.
        """
        west, east = max(column - ring, 0), min(column + ring, _COLUMNS - 1)
        for y in range(max(row - ring, 0), min(row + ring, _ROWS - 1) + 1):
            line = y * _COLUMNS
            if abs(y - row) == ring:
                yield self._starts[line + west], self._starts[line + east + 1]
                continue
            for x in (column - ring, column + ring):
                if 0 <= x < _COLUMNS:
                    yield self._starts[line + x], self._starts[line + x + 1]


def _row(lat: float) -> int:
    return min(max(int((lat - _SOUTH) / _CELL), 0), _ROWS - 1)


def _column(lng: float) -> int:
    return min(max(int((lng - _WEST) / _CELL), 0), _COLUMNS - 1)


_loading = Lock()


@cache
def _load() -> Gazetteer:
    names: dict[str, str] = {}  # so that all villages of a province share one string
    with gzip.open(PLACES, "rt", encoding="utf-8", newline="") as file:
        return Gazetteer(
            (float(lat), float(lng), names.setdefault(name, name)) for lat, lng, _, name in csv.reader(file)
        )


def gazetteer() -> Gazetteer:
    """Return the gazetteer of this process. The first call loads the data, which takes 0.2 s of CPU time.

    A web process loads the data before its first request, so that no request waits for the loading.
    """
    with _loading:
        return _load()


def province_at(lat: float, lng: float) -> str | None:
    """Return the official name of the province at a position. Return `None` outside Indonesia or far from land."""
    return gazetteer().nearest(lat, lng, NEAR_KM) or None
