-- Make the database role of the SQL console, or set its password and its rights anew. Run it as a superuser:
--   psql --dbname health --variable password='A LONG ONE' --file deploy/sql-role.sql
-- The role is called sql_console, unless `--variable role=...` names another.
-- Then set SUPERADMIN_DATABASE_URL=postgresql://sql_console:A-LONG-ONE@host/health
-- The role reads all tables, also later ones. It owns no table, so it cannot alter tables or disable triggers.
\set ON_ERROR_STOP on
\if :{?role}
\else
\set role sql_console
\endif
SELECT format('CREATE ROLE %I', :'role') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'role') \gexec
SELECT tableowner AS service FROM pg_tables WHERE schemaname = 'public' AND tablename = 'audit_entries' \gset
BEGIN;
ALTER ROLE :"role" LOGIN PASSWORD :'password';
ALTER ROLE :"role" SET default_transaction_read_only = on;
-- The console keeps its errors out of the server's log, because they contain personal data.
GRANT SET ON PARAMETER log_min_messages TO :"role";
GRANT USAGE ON SCHEMA public TO :"role";
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM :"role";
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM :"role";
GRANT SELECT ON ALL TABLES IN SCHEMA public TO :"role";
ALTER DEFAULT PRIVILEGES FOR ROLE :"service" IN SCHEMA public GRANT SELECT ON TABLES TO :"role";
-- Without the two dashes, the next line also lets the role write all present tables, except the audit log.
-- ALTER ROLE :"role" RESET default_transaction_read_only; GRANT INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA public TO :"role"; GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO :"role"; REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON audit_entries FROM :"role";
COMMIT;
