"""Facilities at 200,000 places: around positions from the database, at one that was just asked for, and by name."""

from __future__ import annotations

import csv
import gzip
import hashlib
import random

import psycopg2

from app.providers.gazetteer import PLACES

FASKES = 200_000

#: Degrees that a position strays from a village: some ten facilities lie within five kilometres of the usual one.
SPREAD = 0.15

FILL = """
INSERT INTO faskes (id, nama, alamat, lat, lng, jenis, telepon, province, rating)
SELECT 'bench-' || n, (ARRAY['RSUD', 'Klinik', 'Puskesmas', 'Apotek'])[1 + n %% 4] || ' ' || left(md5(n::text), 8),
       'Jl. Contoh No. ' || n, lat, lng, 'klinik', '022-' || n, 'Jawa Barat', 4.2
FROM unnest(%s::float[], %s::float[]) WITH ORDINALITY AS places (lat, lng, n)
"""


def positions(count: int, seed: int) -> list[tuple[float, float]]:
    """Positions all over the country, denser where villages are."""
    draw = random.Random(seed)
    with gzip.open(PLACES, "rt", encoding="utf-8", newline="") as file:
        villages = [(float(lat), float(lng)) for lat, lng, _, province in csv.reader(file) if province]
    chosen = draw.choices(villages, k=count)
    return [(round(lat + draw.gauss(0, SPREAD), 6), round(lng + draw.gauss(0, SPREAD), 6)) for lat, lng in chosen]


def fill(url: str) -> None:
    """Fill an empty, migrated database; takes half a minute."""
    lats, lngs = zip(*positions(FASKES, seed=1), strict=True)
    connection = psycopg2.connect(url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        cursor.execute(FILL, [list(lats), list(lngs)])
        cursor.execute("VACUUM ANALYZE faskes")
    connection.close()


def nearby_paths() -> list[str]:
    return [f"/api/faskes/nearby?lat={lat}&lng={lng}" for lat, lng in positions(500, seed=2)]


def search_paths() -> list[str]:
    """Selective words: each is in one name."""
    words = (hashlib.md5(str(n).encode()).hexdigest()[:8] for n in range(1, FASKES, 700))
    return [f"/api/faskes/search?keyword={word}" for word in words]
