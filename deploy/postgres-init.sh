#!/bin/sh
# Run once by the image of PostgreSQL, on an empty volume: the service's role and its database. The role owns the
# database and may make roles (`flask sql-role create`), but it is no superuser: the SQL console refuses those. The
# console keeps its errors, which quote what they met, out of the server's log.
set -eu
password=$(cat /run/secrets/postgres_password)  # a line of its own, or the script would go on without it
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$password" \
    --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE health LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE health OWNER health;
GRANT SET ON PARAMETER log_min_messages TO health WITH GRANT OPTION;
SQL
