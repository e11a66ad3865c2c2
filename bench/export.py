"""Benchmark of exports: a CSV file of 1,000,000 rows beside 8 clients, and the memory for CSV and XLSX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import requests

from app.admins.service.reports import REPORTS, within
from app.core.exports import csv, xlsx
from app.core.exports.table import Table
from bench import wrk
from bench.environment import BenchEnvironment, Result, at_least, at_most
from bench.login import READS

CSV_ROWS = 1_000_000
XLSX_ROWS = 200_000

FILL = f"""
INSERT INTO activity_logs (stream_id, log, user_id, event_type, event_name, screen_name, activity_description,
    session_id, user_ip, remote_ip, created_at)
SELECT gen_random_uuid(), 'user', 1, 'screen', 'open_' || n % 50, 'Beranda', 'membuka artikel nomor ' || n,
    md5((n / 20)::text), '203.0.113.' || n % 250, '203.0.113.1', now() - n * interval '5 seconds'
FROM generate_series(1, {CSV_ROWS}) n
"""


def run(environment: BenchEnvironment) -> Iterator[Result]:
    (token,) = environment.people(1, "admin")
    environment.fill(FILL)
    with environment.running() as url:
        wrk.rate(url, READS, seconds=1)
        kept, seconds = wrk.beside(url, READS, lambda: _download(url, token), connections=8)
    yield at_most(f"CSV of {CSV_ROWS:,} rows beside 8 clients", seconds, 10, "s")
    yield at_least("reads of these clients", kept, 0.5, "of alone")
    report = REPORTS["activity-logs"]
    table = report.table(within(report.moment, None, None))
    some = Table(table.columns, table.source.limit(XLSX_ROWS))
    with environment.app.app_context():
        yield at_most("CSV: memory", _grown_mib(csv.stream(table)), 32, "MiB")
        yield at_most(f"XLSX of {XLSX_ROWS:,} rows: memory", _grown_mib(xlsx.stream(some, title="Log")), 32, "MiB")


def _download(url: str, token: str) -> None:
    path, headers = "/api/admins/export/activity-logs?format=csv", {"Authorization": f"Bearer {token}"}
    with requests.get(url + path, headers=headers, stream=True, timeout=60) as response:
        response.raise_for_status()
        lines = sum(chunk.count(b"\n") for chunk in response.iter_content(2**20))
    assert lines == CSV_ROWS + 1, lines


def _grown_mib(chunks: Iterable[bytes]) -> float:
    """Return how much this process's memory grows at most while it writes a file."""
    before = _resident_kib("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM, the peak
    for _ in chunks:
        pass
    return (_resident_kib("VmHWM") - before) / 1024


def _resident_kib(name: str) -> int:
    match = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(match[1]) if match else 0
