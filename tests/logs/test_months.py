"""Monthly partitions of the activity logs: creation ahead of time, late creation, and deletion."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db
from app.core.lib import local_time
from app.logs import buffer, jobs, months
from app.logs.models import ActivityLog


def put(*moments: datetime) -> None:
    for moment in moments:
        buffer.put({"log": "user", "created_at": moment, "extra": {}})
    jobs.ingest()


def partitions() -> dict[str, int]:
    """Return the number of rows by partition."""
    where = sa.literal_column("tableoid::regclass::text")
    counts = dict(db.session.execute(sa.select(where, sa.func.count()).select_from(ActivityLog).group_by(where)).all())
    return {name: counts.get(name, 0) for name in db.session.scalars(months._PARTITIONS)}


def test_a_record_is_stored_in_the_partition_of_its_jakarta_month(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_time, "now", lambda: datetime(2031, 5, 20, tzinfo=UTC))
    jobs.make_months_ahead()
    last_of_may = datetime(2031, 5, 31, 16, 59, 59, tzinfo=UTC)  # 23:59:59 in Jakarta
    put(last_of_may, last_of_may + timedelta(seconds=1))
    counts = partitions()
    assert counts["activity_logs_2031_05"] == counts["activity_logs_2031_06"] == 1
    assert counts["activity_logs_2031_07"] == counts["activity_logs_rest"] == 0


def test_a_record_is_moved_when_the_partition_of_its_month_is_created(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(datetime(2031, 5, 20, tzinfo=UTC), datetime(2031, 9, 1, tzinfo=UTC))
    assert partitions()["activity_logs_rest"] == 2
    monkeypatch.setattr(local_time, "now", lambda: datetime(2031, 5, 21, tzinfo=UTC))
    for _ in range(2):
        jobs.make_months_ahead()
    counts = partitions()
    assert (counts["activity_logs_2031_05"], counts["activity_logs_rest"]) == (1, 1)


def test_storing_the_same_record_twice_makes_one_row(app: Flask) -> None:
    put(local_time.now())
    record = {"event_id": str(db.session.scalar(sa.select(ActivityLog.event_id))), "log": "user", "extra": {}}
    row = db.session.scalars(sa.select(ActivityLog)).one()
    assert buffer.store([{**record, "created_at": row.created_at}]) == 0
    assert db.session.scalar(sa.select(sa.func.count()).select_from(ActivityLog)) == 1


def test_pruning_drops_whole_months_and_deletes_rows_of_a_partial_month(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_time, "now", lambda: datetime(2031, 3, 15, 12, tzinfo=UTC))
    jobs.make_months_ahead()
    monkeypatch.setattr(local_time, "now", lambda: datetime(2031, 6, 20, 12, tzinfo=UTC))
    jobs.make_months_ahead()
    put(*(datetime(2031, month, day, tzinfo=UTC) for month in (3, 4, 5, 6) for day in (10, 25)))
    dropped, rows = jobs.prune(30)
    assert (dropped[-2:], rows) == (["activity_logs_2031_03", "activity_logs_2031_04"], 1)
    assert "activity_logs_2031_05" not in dropped
    assert partitions() == {
        **partitions(),
        "activity_logs_2031_05": 1,
        "activity_logs_2031_06": 2,
    }
    assert "activity_logs_2031_03" not in partitions()


def test_the_partition_made_by_the_migration_keeps_its_months(app: Flask) -> None:
    """The migration put all rows of an unpartitioned table into one partition.

    This partition ends at the end of the next month.
    """
    for name in months._partitions():
        if name != months.REST:
            db.session.execute(sa.text(f"DROP TABLE {name}"))
    bound = months._begin(months._next(months._next(local_time.today().replace(day=1))))
    until = f"activity_logs_until_{bound:%Y_%m}"
    db.session.connection().exec_driver_sql(
        f"CREATE TABLE {until} PARTITION OF activity_logs FOR VALUES FROM (MINVALUE) TO ('{bound}')"
    )
    jobs.make_months_ahead()
    assert set(months._partitions()) == {until, months.REST, f"activity_logs_{bound:%Y_%m}"}
    put(local_time.now() - timedelta(days=400), local_time.now())
    assert partitions()[until] == 2
    assert jobs.prune(30) == ([], 1)


def test_a_long_read_delays_a_new_partition_but_blocks_no_writes(
    committed: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that has read the table stays open, as in a long export."""
    monkeypatch.setattr(local_time, "now", lambda: datetime(2031, 5, 20, tzinfo=UTC))
    with db.engine.connect() as reader:
        reader.execute(sa.select(ActivityLog.id)).all()
        jobs.make_months_ahead()
        put(local_time.now())
        assert "activity_logs_2031_05" not in partitions()
        db.session.remove()
    jobs.make_months_ahead()
    try:
        assert partitions()["activity_logs_2031_05"] == 1
    finally:
        db.session.remove()
        jobs.prune(1)
        with db.engine.begin() as connection:
            for month in ("05", "06", "07"):
                connection.execute(sa.text(f"DROP TABLE IF EXISTS activity_logs_2031_{month}"))


def test_the_prune_command_reports_dropped_months_and_deleted_rows(app: Flask) -> None:
    put(local_time.now() - timedelta(days=400))
    result = app.test_cli_runner().invoke(args=["logs", "prune", "--days", "30"])
    assert result.output == "0 whole months dropped, 1 rows of the month in between deleted.\n"
