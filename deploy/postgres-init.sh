#!/bin/sh
# Create the service's role and database. The PostgreSQL image runs this once, on an empty volume. The role owns the
# database. It is no superuser, because the SQL console refuses those. `sql-role.sql` makes a role for the console.
# The console changes log_min_messages, because its errors would write personal data to the server's log.
set -eu
password=$(cat /run/secrets/postgres_password)  # on its own line, so that a failure ends the script
psql --no-psqlrc -v ON_ERROR_STOP=1 -v password="$password" \
    --username "$POSTGRES_USER" --dbname postgres <<'SQL'
CREATE ROLE health LOGIN PASSWORD :'password';
CREATE DATABASE health OWNER health;
GRANT SET ON PARAMETER log_min_messages TO health;
SQL
