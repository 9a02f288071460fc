#!/usr/bin/env python3
"""A relay whose log is in PostgreSQL, as an operator has it: made, served, killed, moved, and the five scenarios.

Usage: deploy/postgres/server postgres.py PROGRAM

The server is that of TOMBOLO_POSTGRES. The last line on stdout is the summary, as JSON; the exit status is 0
where all held. A pooler is tried where pgbouncer is installed.
"""
import http.client
import json
import os
import shutil
import signal
import socket
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


def requests(api, method, place, **fields):
    """An answer with its fields."""
    connection = http.client.HTTPConnection(api.split("//")[1], timeout=10)
    connection.request(method, place, headers=fields)
    return connection.getresponse()


class Relay(Running, API):
    def __init__(self, path, key, **more):
        Running.__init__(self, "serve", "--config", path, PGUSER="tombolo", **{"log": f"{path}.log", **more})
        API.__init__(self, self.ready["api"], key)


def waits(path, relay):
    """A second relay refuses all, and says for whom it waits; it ends at once, or takes over."""
    notify = f"{WORK}/notify"
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(notify)
    os.chmod(notify, 0o777)
    other = Relay(path, relay.key, log=f"{path}.second.log", waits=True, NOTIFY_SOCKET=notify)
    message = manager.recv(4096).decode()
    expect("READY=1" in message and "STATUS=waits for " in message and "(owner since " in message, message)
    expect(other.call("GET", "/livez")[0] == 200, "a relay that waits does not live")
    for method, place in (("GET", "/v1/overview"), ("PUT", "/v1/activities/a"), ("GET", "/nothing"), ("GET", "/readyz")):
        answer = requests(other.api, method, place)
        expect(answer.status == 503 and answer.headers["Retry-After"] == "1"
               and json.loads(answer.read())["code"] == "waiting", f"{method} {place}: {answer.status}")
    ready = json.loads(requests(other.api, "GET", "/readyz", accept="application/json").read())
    expect(ready["status"] == "waiting" and str(relay.process.pid) in ready["owner"]
           and ready["owner_since"] < ready["last_beat"], f"readyz: {ready}")
    text = requests(other.api, "GET", "/metrics").read().decode()
    expect("\ntombolo_waiting 1\n" in text and "tombolo_owner_beat_seconds " in text and "tombolo_ready" not in text, text)
    os.kill(other.process.pid, signal.SIGHUP)
    expect(within(5, lambda: "the configuration is read again" in other.said()), "SIGHUP is not heard")
    began = time.monotonic()
    expect(other.end() == 0 and time.monotonic() - began < 1, f"SIGTERM: {other.said()[-400:]}")
    expect(within(15, lambda: "\ntombolo_standbys 0\n" in relay.call("GET", "/metrics")[1]), "who waits is not counted")
    codes = [item["code"] for item in relay.ask("GET", "/v1/overview")["attention"]]
    expect("no_standby" in codes, f"attention: {codes}")


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
    waits(path, relay)
    minted = tombolo("key", "mint", "--scope", "observe", "--config", path, PGUSER="tombolo")
    expect(minted.returncode == 3 and str(relay.process.pid) in minted.stderr and "--relay" in minted.stderr,
           f"key mint beside a relay: {minted.stderr}")
    run = tombolo("doctor", path, "--relay", relay.api, "--key", relay.key, "-o", "json")
    expect("durability local" in run.stdout, f"doctor: {run.stdout}")
    run = tombolo("config", "check", "--connect", path, PGUSER="tombolo")
    expect(run.returncode in (0, 7) and run.stdout.count("\nok ") == 3, f"config check: {run.stdout} {run.stderr}")
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
