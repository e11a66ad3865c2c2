#!/bin/sh
# Create the service's role and database. The PostgreSQL image runs this once, on an empty volume. The role owns the
# database and may create roles (`flask sql-role create`). It is no superuser, because the SQL console refuses those.
# The console changes log_min_messages, because its errors would write personal data to the server's log.
set -eu
password=$(cat /run/secrets/postgres_password)  # on its own line, so that a failure ends the script
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$password" \
    --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE health LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE health OWNER health;
GRANT SET ON PARAMETER log_min_messages TO health WITH GRANT OPTION;
SQL
