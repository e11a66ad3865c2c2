"""Benchmark of the nearby search and the search by name among 200,000 facilities."""

from __future__ import annotations

import csv
import gzip
import hashlib
import random
from collections.abc import Iterator

import sqlalchemy as sa

from app.core.database.session import db
from app.faskes.models import distance_km
from app.faskes.service import facilities
from app.providers.geocoding import PLACES
from bench.environment import BenchEnvironment, Result, at_least
from bench.wrk import Target

FASKES = 200_000

#: Standard deviation of the random offset between a village and a position, in degrees. Without the offset, most
#: positions would be in densely populated Java.
SPREAD = 0.5
RADIUS_M = 5000

FILL = """
INSERT INTO faskes (id, nama, alamat, lat, lng, jenis, telepon, province, rating)
SELECT 'bench-' || n, (ARRAY['RSUD', 'Klinik', 'Puskesmas', 'Apotek'])[1 + n %% 4] || ' ' || left(md5(n::text), 8),
       'Jl. Contoh No. ' || n, lat, lng, 'klinik', '022-' || n, 'Jawa Barat', 4.2
FROM unnest(%s::float[], %s::float[]) WITH ORDINALITY AS places (lat, lng, n)
"""


def positions(count: int, seed: int) -> list[tuple[float, float]]:
    """Return random positions near villages of Indonesia."""
    draw = random.Random(seed)
    with gzip.open(PLACES, "rt", encoding="utf-8", newline="") as file:
        villages = [(float(lat), float(lng)) for lat, lng, _, province in csv.reader(file) if province]
    chosen = draw.choices(villages, k=count)
    return [(round(lat + draw.gauss(0, SPREAD), 6), round(lng + draw.gauss(0, SPREAD), 6)) for lat, lng in chosen]


def times_faster_than_a_scan(environment: BenchEnvironment) -> float:
    """Return PostgreSQL's execution time of a full scan, divided by the execution time of the indexed query."""
    spent = {"indexed": 0.0, "scanned": 0.0}
    with environment.app.app_context():
        connection = db.session.connection()
        connection.execute(sa.text("SET max_parallel_workers_per_gather = 0"))
        for lat, lng in positions(30, seed=4):
            far = distance_km(lat, lng)
            scan = sa.select(*facilities.COLUMNS, far).where(far <= RADIUS_M / 1000).order_by(far)
            indexed = facilities.CIRCLE.params(**facilities.circle(lat, lng, RADIUS_M))
            for name, statement in {"indexed": indexed, "scanned": scan}.items():
                literal = statement.compile(connection, compile_kwargs={"literal_binds": True})
                plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {literal}").scalar_one()
                spent[name] += plan[0]["Execution Time"]
    return spent["scanned"] / spent["indexed"]


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.fill(FILL, [list(column) for column in zip(*positions(FASKES, seed=1), strict=True)])
    yield at_least("nearby, against a full scan", times_faster_than_a_scan(environment), 100, "times")
    nearby = [f"/api/faskes/nearby?lat={lat}&lng={lng}" for lat, lng in positions(500, seed=2)]
    # Each of these words is in the name of only one facility.
    words = [hashlib.md5(str(n).encode()).hexdigest()[:8] for n in range(1, FASKES, 700)]
    yield from environment.compare(
        {
            "/faskes/nearby from the database": (0.35, Target(nearby)),
            "/faskes/search, a selective word": (0.3, Target([f"/api/faskes/search?keyword={word}" for word in words])),
        }
    )
