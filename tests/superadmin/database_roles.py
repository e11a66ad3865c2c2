"""Database roles for the SQL console in tests."""

from contextlib import closing, contextmanager

import psycopg2
import sqlalchemy as sa


def as_superuser(app, statements):
    """Run statements as the superuser of the test server. Return the rows of the last one."""
    address = app.extensions["config"].database_url.replace("+psycopg2", "")
    with closing(psycopg2.connect(address, user="postgres")) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statements)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def alone(app):
    """Wait for other test processes of the server that change rights on parameters, which all databases share."""
    address = sa.make_url(app.extensions["config"].database_url).set(database="postgres", username="postgres")
    url = address.set(drivername="postgresql").render_as_string(hide_password=False)
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(1)")
        yield


def name_of(app, prefix):
    """Return the name of a role that only this test database uses, because all databases of a server share roles."""
    return f"{prefix}_{sa.make_url(app.extensions['config'].database_url).database}"


def log_in(app, change_settings, role, password=None, **settings):
    """Let the console log in as this role. Also change these settings."""
    url = sa.make_url(app.extensions["config"].database_url).set(username=role, password=password)
    change_settings(superadmin_database_url=url.render_as_string(hide_password=False), **settings)
