#!/usr/bin/env python3
"""A relay whose log is in PostgreSQL, as an operator has it: made, served, killed, moved, and the five scenarios.

Usage: deploy/postgres/server postgres.py PROGRAM

The server is that of TOMBOLO_POSTGRES. The last line on stdout is the summary, as JSON; the exit status is 0
where all held. A pooler is tried where pgbouncer is installed.
"""
import os
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse

from world import (
    API, SCENARIOS, Dev, NotReady, Running, expect, finish, folder, free_port, mint, start, tombolo, within, write)

URL = os.environ["TOMBOLO_POSTGRES"]
SERVER = urllib.parse.urlsplit(URL)
WORK = folder()
NOTES = []


def psql(*statements, file=None):
    words = ["psql", URL, "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]
    if file:
        words += ["--set", "schema=tombolo", "--file", file]
    for statement in statements:
        words += ["--command", statement]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def configuration(name, port=SERVER.port, **more):
    database = {
        "postgres": {"host": "127.0.0.1", "port": port, "dbname": "postgres", **more.pop("postgres", {})},
        "pepper_file": f"{WORK}/pepper", **more}
    return write(f"{WORK}/{name}.json", {"listen": "127.0.0.1:0", "database": database})


class Relay(Running, API):
    def __init__(self, path, key):
        Running.__init__(self, "serve", "--config", path, log=f"{path}.log", PGUSER="tombolo")
        API.__init__(self, self.ready["api"], key)


def serves():
    """Least rights, a key, events, a kill, another relay beside it."""
    psql(file="deploy/postgres/roles.sql")
    path = configuration("relay")
    refused = tombolo("log", "create", "--config", path, PGUSER="tombolo_maker")
    expect(refused.returncode == 3 and "fsync = off" in refused.stderr, f"fsync: {refused.stderr}")
    psql("ALTER SYSTEM SET fsync = on", "SELECT pg_reload_conf()")
    time.sleep(0.5)
    for made in ("true", "false"):
        run = tombolo("log", "create", "--config", path, "-o", "json", PGUSER="tombolo_maker")
        expect(f'"created":{made}' in run.stdout, f"log create: {run.stdout} {run.stderr}")
    expect(os.stat(f"{WORK}/pepper").st_mode & 0o777 == 0o600, "the pepper is not 0600")
    relay = Relay(path, mint("all", "--config", path, PGUSER="tombolo"))
    card = {"type": "OrderAttributes", "audience": {"device": "phone-1"}, "state": {"step": 0}}
    for number in range(200):
        relay.ask("PUT", f"/v1/activities/order-{number}", card)
    other = tombolo("serve", "--config", path, PGUSER="tombolo")
    expect(other.returncode == 3 and "another relay (" in other.stderr, f"a second relay: {other.stderr}")
    expect(str(relay.process.pid) in other.stderr, "which relay it is is not said")
    run = tombolo("doctor", path, "--relay", relay.api, "--key", relay.key, "-o", "json")
    expect("durability local" in run.stdout, f"doctor: {run.stdout}")
    for words in (["log", "verify"], ["backup", "create", f"{WORK}/copy"]):
        run = tombolo(*words, "--config", path, PGUSER="tombolo")
        if words[0] == "log":
            expect(run.returncode == 0 and '"events":200' in run.stdout, f"verify: {run.stdout} {run.stderr}")
        else:
            expect(run.returncode == 2 and "pg_dump" in run.stderr and "pepper" in run.stderr, run.stderr)
    relay.end(signal.SIGKILL)
    began = time.monotonic()
    relay = Relay(path, relay.key)
    NOTES.append({"start after a kill, s": round(time.monotonic() - began, 1)})
    answer = relay.ask("PUT", "/v1/activities/order-0", card)
    expect(answer.get("version") == 1, f"a start that was stored: {answer}")
    expect(relay.end() == 0, "SIGTERM")
    wrong = configuration("wrong", pepper_file=f"{WORK}/other")
    write(f"{WORK}/other", "0" * 32)
    run = tombolo("serve", "--config", wrong, PGUSER="tombolo")
    expect(run.returncode == 3 and "another pepper" in run.stderr, f"another pepper: {run.stderr}")
    return path


def moves(path):
    """To SQLite and back: the same lines."""
    first = tombolo("log", "export", "--config", path, PGUSER="tombolo").stdout
    run = tombolo("log", "import", "--data", f"{WORK}/data", given=first)
    second = tombolo("log", "export", "--data", f"{WORK}/data").stdout
    back = configuration("back", postgres={"user": "tests"}, schema="back")
    tombolo("log", "create", "--config", back)
    third = tombolo("log", "import", "--config", back, given=second)
    last = tombolo("log", "export", "--config", back).stdout
    expect(first == second == last and first.count("\n") > 400, f"moved: {run.stderr} {third.stderr}")
    run = tombolo("log", "import", "--config", back, given=second)
    expect(run.returncode == 3 and "has a log already" in run.stderr, run.stderr)


def secrets():
    """A password in a file; nobody prints it."""
    psql("CREATE ROLE secretive LOGIN PASSWORD 'correct horse' SUPERUSER")
    hba = psql("SHOW hba_file")
    lines = open(hba).read()
    with open(hba, "w") as file:
        file.write(f"host all secretive 127.0.0.1/32 scram-sha-256\n{lines}")
    psql("SELECT pg_reload_conf()")
    write(f"{WORK}/password", "correct horse\n")
    path = configuration("secret", postgres={"user": "secretive"}, password_file=f"{WORK}/password")
    run = tombolo("log", "verify", "--config", path)
    expect(run.returncode == 0, f"with a password: {run.stderr}")
    write(f"{WORK}/password", "battery staple\n")
    run = tombolo("log", "verify", "--config", path)
    expect(run.returncode == 3 and "pg_hba.conf" in run.stderr, f"a wrong password: {run.stderr}")
    expect("staple" not in run.stderr + run.stdout, "a password is shown")


def pooler():
    if shutil.which("pgbouncer") is None:
        return NOTES.append("pgbouncer: skipped, it is not installed")
    port = free_port()
    path = write(f"{WORK}/bouncer.ini", f"""[databases]
postgres = host=127.0.0.1 port={SERVER.port} dbname=postgres user=tombolo
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = session
unix_socket_dir =
ignore_startup_parameters = options
""")
    as_user = ["-u", "postgres"] if os.getuid() == 0 else []
    os.chmod(path, 0o644)
    start("pgbouncer", "-q", *as_user, path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pooled = configuration("pooled", port=port)
    expect(within(10, lambda: "pooler" in (run := tombolo("log", "verify", "--config", pooled, PGUSER="tombolo")).stderr
                  and run.returncode == 3), "a pooler is not refused")
    session = configuration("session", port=port, pooler="session")
    run = tombolo("log", "verify", "--config", session, PGUSER="tombolo")
    expect(run.returncode == 0, f"a pooler of sessions: {run.stderr}")


def play(name):
    """Each scenario with a relay and a database of its own."""
    psql(f'CREATE DATABASE "{name}"')
    try:
        dev = Dev("--database", SERVER._replace(path=f"/{name}").geturl(), log=f"{WORK}/{name}.log")
    except NotReady as why:
        return expect(False, f"{name}: {why}")
    run = dev.tombolo("trigger", name, "--for", "4s", "-o", "json")
    expect(run.returncode == 0 and '"converged":true' in run.stdout, f"{name}: {run.stderr} {run.stdout[:300]}")


players = [threading.Thread(target=play, args=(name,)) for name in SCENARIOS]
for player in players:
    player.start()
place = serves()
moves(place)
secrets()
pooler()
for player in players:
    player.join()
finish(notes=NOTES)
