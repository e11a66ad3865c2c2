-- The service's role and database, and the log settings of the server:
--     runuser -u postgres -- psql --file=deploy/postgres.sql && systemctl restart postgresql
-- The role has no password, because on one machine PostgreSQL checks the system user of a connection ("peer").
\set ON_ERROR_STOP on
CREATE ROLE health LOGIN;
CREATE DATABASE health OWNER health;
-- Otherwise PostgreSQL logs the statement and the row of every error, with names, numbers and password hashes.
ALTER SYSTEM SET log_min_error_statement = 'panic';
ALTER SYSTEM SET log_error_verbosity = 'terse';
-- The SQL console changes this parameter to keep its errors out of the log.
GRANT SET ON PARAMETER log_min_messages TO health;
-- At most 8 for each web process (one for each core), and 32 for each worker.
ALTER SYSTEM SET max_connections = 200;
