-- The roles of a log in PostgreSQL, with the least rights. As a superuser, in the log's database:
--   psql --set schema=tombolo --file deploy/postgres/roles.sql
-- tombolo_maker makes the tables: PGUSER=tombolo_maker tombolo log create --config FILE. tombolo runs relays: it reads
-- and writes rows, and changes no table. Give both a password (\password tombolo), or a certificate.
CREATE ROLE tombolo_maker LOGIN;
CREATE ROLE tombolo LOGIN;
CREATE SCHEMA :"schema" AUTHORIZATION tombolo_maker;
GRANT USAGE ON SCHEMA :"schema" TO tombolo;
ALTER DEFAULT PRIVILEGES FOR ROLE tombolo_maker IN SCHEMA :"schema"
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tombolo;
-- For the metrics: who holds the oldest snapshot.
GRANT pg_read_all_stats TO tombolo;
