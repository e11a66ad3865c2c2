"""`deploy/backup`: it logs in like the service, leaves out unfinished files, and names what it cannot read."""

import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg2
import pytest

from dev.testing import DATABASE_VARIABLE, temporary_servers
from tests.helpers.backups import backup

pytestmark = pytest.mark.processes

PASSWORD = "a:b@c/d e'f%g"
NAME = f"{'ab' * 16}.webp"


@pytest.fixture
def media(tmp_path):
    """Return a folder with a picture, a tombstone, a personal copy and an unfinished file."""
    root = tmp_path / "media"
    for path in (f"ab/{NAME}", "tombstones/cd/cd12.k1", "exports/ef/ef34.zip", f"ab/{NAME}.1234.part"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    return root


@pytest.fixture(scope="module")
def sockets():
    """Yield the socket folder of a PostgreSQL server that requires a password."""
    with temporary_servers() as servers:
        address = servers[DATABASE_VARIABLE]
        with closing(psycopg2.connect(address, user="postgres")) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("ALTER ROLE health PASSWORD %s", [PASSWORD])
                cursor.execute("SHOW hba_file")
                hba = Path(cursor.fetchone()[0])
                hba.write_text(f"local all health scram-sha-256\n{hba.read_text()}")
                cursor.execute("SELECT pg_reload_conf()")
        yield address.rpartition("=")[2]


def test_a_backup_has_the_pictures_and_the_tombstones_and_nothing_else(variables, media, tmp_path):
    folder = tmp_path / "backup"
    done = backup(folder, variables["DATABASE_URL"], media)
    assert done.returncode == 0, done.stderr
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"database.dump", f"media/ab/{NAME}", "media/tombstones/cd/cd12.k1"}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    again = backup(folder, variables["DATABASE_URL"], media)
    assert (again.returncode, again.stderr) == (1, f"{folder} is there already: a backup never overwrites another\n")


def test_a_picture_that_cannot_be_read_is_named_and_the_backup_is_not_finished(variables, media, tmp_path):
    (media / "ab" / "loop.webp").symlink_to(media / "ab" / "loop.webp")
    done = backup(tmp_path / "backup", variables["DATABASE_URL"], media)
    assert done.returncode == 1
    assert "ab/loop.webp" in done.stderr
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("query", ["host={there}", "host={nowhere},{there}&port=5432,5432"], ids=["one", "two hosts"])
def test_a_backup_logs_in_with_the_password_to_the_host_that_responds(sockets, media, tmp_path, query):
    where = query.format(there=sockets, nowhere=tmp_path)
    done = backup(tmp_path / "backup", f"postgresql://health:{quote(PASSWORD, safe='')}@/health?{where}", media)
    assert done.returncode == 0, done.stderr
    wrong = backup(tmp_path / "other", f"postgresql://health:wrong@/health?{where}", media)
    assert wrong.returncode == 1
    assert "password authentication failed" in wrong.stderr
    assert "wrong" not in wrong.stderr
