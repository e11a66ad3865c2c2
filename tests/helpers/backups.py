"""Helpers that run `deploy/backup` like the timer does, and a service to restore into."""

import subprocess

from config import ROOT, environment
from dev.stack.processes import WebOnly
from dev.testing import empty_database
from tests.helpers.postgres_programs import PATH


def backup(folder, database_url, media_root):
    env = {
        **environment(),
        "PATH": PATH,
        "DATABASE_URL": database_url.replace("+psycopg2", ""),
        "MEDIA_ROOT": str(media_root),
    }
    return subprocess.run([ROOT / "deploy" / "backup", folder], env=env, capture_output=True, text=True, check=False)


def backup_of(config, folder):
    """Back up the database and the pictures of an application."""
    done = backup(folder, config.database_url, config.media_root)
    assert done.returncode == 0, done.stderr


def empty_service(variables, folder, **settings):
    """Return a service on an empty database. Its own files are in the new folder `folder`."""
    folder.mkdir()
    url = empty_database(variables["DATABASE_URL"])
    return WebOnly({**variables, "DATABASE_URL": url, "PATH": PATH, **settings}, folder)
