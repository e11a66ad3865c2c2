"""Jobs that erase or export personal data.

The worker of `deadly.py` kills itself again and again during these jobs. The scheduler retries each job until the job
is done.
"""

import io
import os
from zipfile import ZipFile

import orjson
import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.identity import own_pictures
from app.identity.models import User
from app.personal_data import jobs
from app.personal_data.models import DataExport
from dev.stack.waiting import wait_until
from tests.core.media.samples import plain
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD, make_user
from tests.personal_data.traces import MARK, fill, found

pytestmark = [pytest.mark.takes(seconds=30), pytest.mark.processes]

NIK = "3273014502907788"


@pytest.fixture
def marked(committed):
    """Return a person with a row in every table, and a picture."""
    with unit_of_work():
        user = make_user(username=f"{MARK.lower()}_9", nama_ktp=f"{MARK} Wulandari", nik=NIK)
        fill(user, make_user())
        user.image = pictures.save(io.BytesIO(plain()))
        own_pictures.keep(user.id, {"image": user.image})
        db.session.expunge_all()
    return user


@pytest.fixture
def spare(tmp_path):
    """Return an empty folder for the worker's temporary files."""
    folder = tmp_path / "spare"
    folder.mkdir()
    return folder


@pytest.fixture
def deadly_worker(committed, start_worker, tmp_path, spare):
    """Return a function that starts the worker of `deadly.py`.

    The function returns the file that gets a byte for each kill.
    """

    def start(job, *, step):
        kills = tmp_path / "kills"
        kills.touch()
        start_worker(
            module="tests.worker.deadly",
            DEADLY_JOB=f"{job.__module__}.{job.__qualname__}",
            DEADLY_STEP=str(step),
            DEADLY_KILLS=str(kills),
            MEDIA_ROOT=str(committed.extensions["config"].media_root),
            TMPDIR=str(spare),
        )
        return kills

    return start


def test_an_erasure_job_that_is_killed_repeatedly_finishes(committed, marked, deadly_worker):
    response = Client(committed).as_(marked).delete("/profile", {"password": PASSWORD, "forum": "delete"})
    assert response.status_code == 202, response.json
    with unit_of_work():
        db.session.execute(sa.update(User).where(User.id == marked.id).values(erasure_due_at=sa.func.now()))
    kills = deadly_worker(jobs.erase, step=25)

    def is_gone():
        with unit_of_work():
            return db.session.scalar(sa.select(User.id).where(User.id == marked.id)) is None

    wait_until(is_gone)
    assert kills.stat().st_size > 3
    with unit_of_work():
        assert found(committed, MARK, NIK) == {}
    assert marked.image not in {name for name, _ in pictures.store().names()}


def test_an_export_job_that_is_killed_repeatedly_makes_one_complete_file(
    committed, marked, deadly_worker, spare, monkeypatch
):
    client = Client(committed).as_(marked)
    with unit_of_work():  # delete the export that `fill` added: only one export per day is allowed
        db.session.execute(sa.delete(DataExport))
    export_id = client.post("/profile/ekspor", {"password": PASSWORD}).json["id"]
    kills = deadly_worker(jobs.make_export, step=15)
    path = f"/profile/ekspor/{export_id}"
    wait_until(lambda: client.get(path).status_code == 200)
    assert kills.stat().st_size > 3
    with ZipFile(io.BytesIO(client.get(path).data)) as file:
        assert file.testzip() is None
        assert [row["nik"] for row in orjson.loads(file.read("data/users.json"))] == [NIK]
        assert f"gambar/{marked.image}" in file.namelist()
    # Files that the killed jobs left are deleted when they are too old to belong to a running job.
    media = committed.extensions["config"].media_root
    for left in (media / Area.EXPORTS).glob("??/*.part"):
        os.utime(left, (0, 0))
    jobs.delete_old_exports()
    with unit_of_work():
        file_name = db.session.scalars(sa.select(DataExport.file)).one()
    assert [name for name, _ in storage.area(Area.EXPORTS).names()] == [file_name]
