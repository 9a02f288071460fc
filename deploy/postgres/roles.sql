-- One role that owns the schema may do all: make the log and run relays. Then you need nothing of this file.
--
-- Two roles have the least rights. tombolo_maker makes the tables: PGUSER=tombolo_maker tombolo log create --config FILE.
-- tombolo runs relays: it reads and writes rows, and changes no table. Give both a password (\password tombolo), or a
-- certificate. In the log's database, as a superuser, or as a role with CREATEROLE and with CREATE on the database:
--   psql --set schema=tombolo --file deploy/postgres/roles.sql
-- At an error nothing is made. Roles that are there stay as they are.
\set ON_ERROR_STOP on
BEGIN;
SELECT format('CREATE ROLE %I LOGIN', name) FROM unnest(ARRAY['tombolo_maker', 'tombolo']) AS name
    WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec
-- Only a member of a role may give it a schema: this role is one until the end of the transaction.
GRANT tombolo_maker TO CURRENT_USER;
CREATE SCHEMA :"schema" AUTHORIZATION tombolo_maker;
SET LOCAL ROLE tombolo_maker;
GRANT USAGE ON SCHEMA :"schema" TO tombolo;
ALTER DEFAULT PRIVILEGES IN SCHEMA :"schema" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tombolo;
RESET ROLE;
REVOKE tombolo_maker FROM CURRENT_USER;
COMMIT;
-- For the metrics: who holds the oldest snapshot. From PostgreSQL 16 on only a superuser may grant it. Without it
-- tombolo_database_oldest_snapshot_transactions does not see the sessions of other roles; nothing else is lost.
DO $$ BEGIN
    GRANT pg_read_all_stats TO tombolo;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE 'tombolo has no pg_read_all_stats: its metrics do not see who else holds a snapshot';
END $$;
