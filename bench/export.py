"""Benchmark of exports: the time for a CSV file of 1,000,000 rows, and the memory for CSV and XLSX."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import psycopg2

from app.admins.service.reports import REPORTS, within
from app.core.exports import csv, xlsx
from app.core.exports.table import Table
from bench.environment import BenchEnvironment, Result, at_most

CSV_ROWS = 1_000_000
XLSX_ROWS = 200_000
ROUNDS = 5
MEBIBYTE = 1024 * 1024

FILL = f"""
INSERT INTO activity_logs (stream_id, log, user_id, event_type, event_name, screen_name, activity_description,
    session_id, user_ip, remote_ip, created_at)
SELECT gen_random_uuid(), 'user', 1, 'screen', 'open_' || n % 50, 'Beranda', 'membuka artikel nomor ' || n,
    md5((n / 20)::text), '203.0.113.' || n % 250, '203.0.113.1', now() - n * interval '5 seconds'
FROM generate_series(1, {CSV_ROWS}) n;
VACUUM ANALYZE activity_logs;
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    environment.people(1)
    connection = psycopg2.connect(environment.database_url)
    connection.autocommit = True
    with connection.cursor() as cursor:
        for statement in FILL.strip().split(";\n"):
            cursor.execute(statement.removesuffix(";"))
        report = REPORTS["activity-logs"]
        table = report.table(within(report.moment, None, None))
        some = Table(table.columns, table.source.limit(XLSX_ROWS))
        with environment.app.app_context():
            ours: list[float] = []
            grown = 0
            for _ in range(ROUNDS):
                before = _resident(peak=False)
                _reset_peak()
                ours.append(_seconds(lambda: _drain(csv.stream(table))))
                grown = max(grown, _resident(peak=True) - before)
            yield at_most(f"CSV of {CSV_ROWS:,} rows", median(ours), 10, "s")
            yield at_most("CSV: memory", grown / MEBIBYTE, 32, "MiB")
            before = _resident(peak=False)
            _reset_peak()
            _drain(xlsx.stream(some, title="Log"))
            yield at_most(f"XLSX of {XLSX_ROWS:,} rows: memory", (_resident(peak=True) - before) / MEBIBYTE, 32, "MiB")
    connection.close()


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _drain(chunks: Any) -> None:
    for _ in chunks:
        pass


def _resident(*, peak: bool) -> int:
    match = re.search(rf"{'VmHWM' if peak else 'VmRSS'}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) * 1024 if match else 0


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")
