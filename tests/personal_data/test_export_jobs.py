"""Tests of the job that creates an export: killed, lost and concurrent jobs."""

import stat
import tracemalloc
from datetime import UTC, datetime, timedelta
from io import BytesIO
from unittest import mock
from zipfile import ZipFile

import orjson
import pytest
import sqlalchemy as sa
from sqlalchemy import event

from app.core.database.session import db
from app.core.media import storage
from app.core.media.storage import Area
from app.core.settings import current, settings
from app.pengingat.models import Occurrence
from app.pengingat.types.obat import Obat
from app.personal_data import archive, jobs
from app.personal_data.models import DataExport
from tests.helpers.client import assert_error
from tests.personal_data.exports import ask, opened, rows, stored


def test_an_export_file_is_readable_only_by_the_service_user(mine):
    """nginx runs as another user and can read the picture folder. The exports folder inside must be closed to nginx."""
    root = settings.media_root / Area.EXPORTS
    root.mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)  # older versions of the service set this mode
    export_id = ask(mine)
    jobs.make_export(export_id)
    (path,) = root.glob(f"??/{db.session.get_one(DataExport, export_id).file}")
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (root, path.parent)}
    assert (modes, stat.S_IMODE(path.stat().st_mode)) == ({0o700}, 0o600)
    storage.create(current()).put(f"{'0' * 32}.webp", BytesIO(b"x"), "image/webp")
    assert stat.S_IMODE((settings.media_root / "00" / f"{'0' * 32}.webp").stat().st_mode) & 0o044 == 0o044


def test_an_export_is_deleted_from_the_store_after_a_day(mine):
    export_id = ask(mine)
    jobs.make_export(export_id)
    file = db.session.get_one(DataExport, export_id).file
    jobs.delete_old_exports()
    assert file in stored()
    a_day_ago = datetime.now(UTC) - jobs.KEPT - timedelta(minutes=1)
    db.session.execute(sa.update(DataExport).values(ready_at=a_day_ago))
    assert_error(mine.get(f"/profile/ekspor/{export_id}"), 404, "not_found")
    jobs.delete_old_exports()
    assert file not in stored()
    assert db.session.get(DataExport, export_id) is None


def test_an_orphaned_export_file_is_deleted(app, monkeypatch):
    storage.area(Area.EXPORTS).put("0" * 32 + ".zip", BytesIO(b"x"), jobs.CONTENT_TYPE)
    jobs.delete_old_exports()
    assert "0" * 32 + ".zip" in stored(), "the row of a young file may not be committed yet"
    monkeypatch.setattr(jobs, "ORPHAN_AGE", timedelta())
    jobs.delete_old_exports()
    assert "0" * 32 + ".zip" not in stored()


def occurrences(user, count):
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    common = {"user_id": user.id, "tipe": Obat.name, "judul": "Metformin " * 10, "slot": "0", "day": moment.date()}
    db.session.execute(
        sa.insert(Occurrence), [{**common, "due_at": moment + timedelta(minutes=minute)} for minute in range(count)]
    )
    db.session.flush()


@pytest.mark.slow
def test_memory_use_of_an_export_does_not_grow_with_the_rows(mine, tmp_path):
    def peak():
        tracemalloc.start()
        archive.write(tmp_path / "export.zip", mine.user, db.session.connection())
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        with ZipFile(tmp_path / "export.zip") as file:
            counts.append(len(orjson.loads(file.read("data/occurrences.json"))))
        return most

    counts = []
    occurrences(mine.user, 2 * archive.ROWS_AT_ONCE)
    peak()  # ignore the first run, because it loads modules and fills caches
    few = peak()
    occurrences(mine.user, 10_000)
    many = peak()
    assert counts[-1] == 2 * archive.ROWS_AT_ONCE + 10_000
    assert many < few * 1.5  # there are many more rows, but not much more memory


class Killed(Exception):
    """Exception that simulates the kill of a process."""


@pytest.mark.processes
def test_an_export_killed_at_any_statement_is_restarted(app, mine):
    export_id = ask(mine)
    connection = db.session.connection()
    kills = 0
    for deadly in range(1, 200):
        left = deadly

        def kill(_connection, _cursor, statement, *_):
            nonlocal left
            left -= "SAVEPOINT" not in statement  # the test's own savepoints stand for transactions
            if left == 0:
                raise Killed

        event.listen(connection, "before_cursor_execute", kill)
        try:
            jobs.make_export(export_id)
        except Killed:
            kills += 1
        finally:
            event.remove(connection, "before_cursor_execute", kill)
            # Release the lock. After a real kill, PostgreSQL does this when the connection ends.
            db.session.execute(sa.select(sa.func.pg_advisory_unlock_all()))
        if db.session.get_one(DataExport, export_id, populate_existing=True).ready_at is not None:
            break
    assert kills > 10
    with opened(mine, export_id) as file:
        assert file.testzip() is None
        assert len(rows(file, "users")) == 1


def test_an_export_killed_after_storing_is_stored_under_the_same_name(mine):
    export_id = ask(mine)
    before = stored()
    with mock.patch.object(jobs, "_finish", side_effect=Killed), pytest.raises(Killed):
        jobs.make_export(export_id)
    assert mine.get(f"/profile/ekspor/{export_id}").status_code == 202
    jobs.make_export(export_id)
    assert mine.get(f"/profile/ekspor/{export_id}").status_code == 200
    assert len(stored() - before) == 1


def test_a_lost_export_job_is_enqueued_again_after_a_delay(app, mine):
    export_id = ask(mine)
    app.extensions["redis"].flushdb()
    with mock.patch.object(jobs, "enqueue_once_now") as enqueued:
        jobs.make_waiting_exports()
        assert not enqueued.called, "the first job has one minute before the sweep enqueues it again"
        db.session.execute(sa.update(DataExport).values(next_try_at=datetime.now(UTC)))
        jobs.make_waiting_exports()
        assert [call.args for call in enqueued.call_args_list] == [(jobs.make_export, export_id)]
        enqueued.reset_mock()
        with mock.patch.object(archive, "write", side_effect=OSError("full")), pytest.raises(OSError, match="full"):
            jobs.make_export(export_id)
        jobs.make_waiting_exports()
        assert not enqueued.called, "a failed export waits before its next retry"


def test_an_export_of_an_erased_person_leaves_no_file(mine):
    export_id = ask(mine)
    before = stored()

    write = archive.write

    def erase_meanwhile(*args):
        write(*args)
        db.session.execute(sa.delete(DataExport))

    with mock.patch.object(archive, "write", erase_meanwhile):
        jobs.make_export(export_id)
    assert stored() == before
    jobs.make_export(export_id)
    assert stored() == before


def test_a_locked_or_finished_export_is_not_created_again(app, mine):
    export_id = ask(mine)
    with mock.patch.object(archive, "write") as write:
        with mock.patch.object(jobs, "_locked") as locked:
            locked.return_value.__enter__.return_value = False
            jobs.make_export(export_id)
        assert not write.called
    jobs.make_export(export_id)
    with mock.patch.object(archive, "write") as write:
        jobs.make_export(export_id)
        assert not write.called, "the export is ready already"
