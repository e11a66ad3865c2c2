-- The service's role, its database, and what the server must not log:
--     runuser -u postgres -- psql --file=deploy/postgres.sql && systemctl restart postgresql
-- The role has no password: on one machine PostgreSQL asks the kernel who connects ("peer").
\set ON_ERROR_STOP on
CREATE ROLE health LOGIN CREATEROLE;
CREATE DATABASE health OWNER health;
-- PostgreSQL quotes the statement and the row of every error, with names, numbers and password hashes in them.
ALTER SYSTEM SET log_min_error_statement = 'panic';
ALTER SYSTEM SET log_error_verbosity = 'terse';
-- The SQL console keeps its errors out of the log.
GRANT SET ON PARAMETER log_min_messages TO health WITH GRANT OPTION;
-- 32 for each web process (one a core) and each worker.
ALTER SYSTEM SET max_connections = 200;
