#!/usr/bin/env python3
"""A relay whose log is in PostgreSQL, as an operator has it: made, served, killed, moved, and the five scenarios.

Usage: deploy/postgres/server postgres.py PROGRAM

The server is that of TOMBOLO_POSTGRES. The last line on stdout is the summary, as JSON; the exit status is 0
where all held. A pooler is tried where pgbouncer is installed.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
URL = os.environ["TOMBOLO_POSTGRES"]
SERVER = urllib.parse.urlsplit(URL)
WORK = tempfile.mkdtemp(prefix="tombolo-postgres-")
SCENARIOS = ("runner", "window", "profile", "radial", "door")
FAULTS, NOTES = [], []


def expect(holds, what):
    if not holds:
        FAULTS.append(what)


def psql(*statements, file=None):
    words = ["psql", URL, "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]
    if file:
        words += ["--set", "schema=tombolo", "--file", file]
    for statement in statements:
        words += ["--command", statement]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def tombolo(*words, given=None, **environment):
    return subprocess.run(
        [PROGRAM, *words], input=given, capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment})


def configuration(name, port=SERVER.port, **more):
    path = f"{WORK}/{name}.json"
    database = {
        "postgres": {"host": "127.0.0.1", "port": port, "dbname": "postgres", **more.pop("postgres", {})},
        "pepper_file": f"{WORK}/pepper", **more}
    with open(path, "w") as file:
        json.dump({"listen": "127.0.0.1:0", "database": database}, file)
    return path


class Relay:
    def __init__(self, path, key=None):
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--config", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=open(f"{path}.log", "a"), text=True, env={**os.environ, "PGUSER": "tombolo"})
        line = self.process.stdout.readline()
        self.key, self.api = key, json.loads(line)["api"] if line else None

    def put(self, path, body):
        request = urllib.request.Request(
            f"{self.api}{path}", method="PUT", data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


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
    run = tombolo("key", "mint", "--scope", "all", "--config", path, "-o", "json", PGUSER="tombolo")
    expect(run.returncode == 0, f"key mint: {run.stderr}")
    relay = Relay(path, json.loads(run.stdout)["key"])
    start = {"type": "OrderAttributes", "audience": {"device": "phone-1"}, "state": {"step": 0}}
    for number in range(200):
        relay.put(f"/v1/activities/order-{number}", start)
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
    expect(relay.api is not None, "no start after a kill")
    answer = relay.put("/v1/activities/order-0", start) if relay.api else {}
    expect(answer.get("version") == 1, f"a start that was stored: {answer}")
    expect(relay.end() == 0, "SIGTERM")
    wrong = configuration("wrong", pepper_file=f"{WORK}/other")
    with open(f"{WORK}/other", "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(b"0" * 32)
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
    with open(f"{WORK}/password", "w") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write("correct horse\n")
    path = configuration("secret", postgres={"user": "secretive"}, password_file=f"{WORK}/password")
    run = tombolo("log", "verify", "--config", path)
    expect(run.returncode == 0, f"with a password: {run.stderr}")
    with open(f"{WORK}/password", "w") as file:
        file.write("battery staple\n")
    run = tombolo("log", "verify", "--config", path)
    expect(run.returncode == 3 and "pg_hba.conf" in run.stderr, f"a wrong password: {run.stderr}")
    expect("staple" not in run.stderr + run.stdout, "a password is shown")


def pooler(path):
    if shutil.which("pgbouncer") is None:
        return NOTES.append("pgbouncer: skipped, it is not installed")
    with open(f"{WORK}/bouncer.ini", "w") as file:
        file.write(f"""[databases]
postgres = host=127.0.0.1 port={SERVER.port} dbname=postgres user=tombolo
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {SERVER.port + 1}
auth_type = any
pool_mode = session
unix_socket_dir =
ignore_startup_parameters = options
""")
    as_user = ["-u", "postgres"] if os.getuid() == 0 else []
    os.chmod(WORK, 0o755)
    bouncer = subprocess.Popen(
        ["pgbouncer", "-q", *as_user, f"{WORK}/bouncer.ini"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        time.sleep(1)
        run = tombolo("log", "verify", "--config", configuration("pooled", port=SERVER.port + 1), PGUSER="tombolo")
        expect(run.returncode == 3 and "pooler" in run.stderr, f"a pooler: {run.stderr}")
        run = tombolo("log", "verify", "--config", configuration(
            "session", port=SERVER.port + 1, pooler="session"), PGUSER="tombolo")
        expect(run.returncode == 0, f"a pooler of sessions: {run.stderr}")
    finally:
        bouncer.kill()
        bouncer.wait()


def play(name):
    """Each scenario with a relay and a database of its own."""
    psql(f'CREATE DATABASE "{name}"')
    process = subprocess.Popen(
        [PROGRAM, "dev", "--no-input", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0", "--database",
         SERVER._replace(path=f"/{name}").geturl()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line:
            return FAULTS.append(f"{name}: {process.stderr.read()}")
        for stream in (process.stdout, process.stderr):
            threading.Thread(target=stream.read, daemon=True).start()
        ready = json.loads(line)
        run = tombolo(
            "trigger", name, "--for", "4s", "-o", "json", TOMBOLO_RELAY=ready["api"], TOMBOLO_KEY=ready["key"])
        expect(run.returncode == 0 and '"converged":true' in run.stdout, f"{name}: {run.stderr} {run.stdout[:300]}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


try:
    players = [threading.Thread(target=play, args=(name,)) for name in SCENARIOS]
    for player in players:
        player.start()
    place = serves()
    moves(place)
    secrets()
    pooler(place)
    for player in players:
        player.join()
finally:
    shutil.rmtree(WORK)
print(json.dumps({"notes": NOTES, "faults": FAULTS}))
sys.exit(1 if FAULTS else 0)
