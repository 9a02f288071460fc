#!/usr/bin/env python3
"""A relay on a primary and its standby: a server that is away, a wait for the standby, a promotion that loses commits.

Usage: deploy/postgres/server postgres_standby.py PROGRAM

The server of TOMBOLO_POSTGRES is the primary; the standby is made from it. The last line on stdout is the summary, as
JSON; the exit status is 0 where all held.
"""
import json
import os
import subprocess
import threading
import time
import urllib.parse

from world import (
    API, Running, expect, finish, folder, freeze, mint, pg_ctl, psql, start_standby, thaw, tombolo, within, write)

PRIMARY = urllib.parse.urlsplit(os.environ["TOMBOLO_POSTGRES"])
WORK = folder()
NOTES = {}


class Relay(Running, API):
    def __init__(self, path, key):
        Running.__init__(self, "serve", "--config", path, log=f"{path}.log")
        API.__init__(self, self.ready["api"], key)

    def start(self, name, **more):
        """Each on a device of its own: one has so many cards only. Status and answer."""
        card = {"type": "OrderAttributes", "audience": {"device": name}, "state": {"step": 0}}
        try:
            status, text = self.call("PUT", f"/v1/activities/{name}", card, **more)
            return status, json.loads(text)
        except OSError:
            return 0, {}  # It ends.


def away(relay):
    """The server is frozen for 15 s: 503 after 10, and all goes on by itself; then it restarts under load."""
    frozen = freeze(psql("SHOW data_directory"))
    began = time.monotonic()
    status, answer = relay.start("away-1", **{"Idempotency-Key": "away-1"})
    NOTES["refused after, s"] = round(time.monotonic() - began, 1)
    expect(status == 503 and answer["code"] == "log-silent", f"a silent server: {status} {answer}")
    expect(9 < time.monotonic() - began < 13, f"503 after {time.monotonic() - began:.1f} s")
    began = time.monotonic()
    status, answer = relay.start("away-2")
    expect(status == 503 and time.monotonic() - began < 1, f"the next one: {status} {answer}")
    time.sleep(3)
    thaw(frozen)
    began = time.monotonic()
    status, answer = within(30, lambda: (
        said := relay.start("away-1", **{"Idempotency-Key": "away-1"}))[0] != 503 and said) or (503, {})
    NOTES["goes on after, s"] = round(time.monotonic() - began, 1)
    expect(status in (200, 201) and answer["version"] == 1, f"after it: {status} {answer}")

    acknowledged, stop = [], threading.Event()

    def post(thread):
        number = 0
        while not stop.is_set():
            name = f"load-{thread}-{number}"
            while relay.start(name, **{"Idempotency-Key": name})[0] not in (200, 201):
                time.sleep(0.05)
            acknowledged.append(name)
            number += 1
    threads = [threading.Thread(target=post, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        time.sleep(1)
        subprocess.run([os.environ["TOMBOLO_POSTGRES_RESTART"]], check=True)
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    NOTES["acknowledged over three crashes"] = len(acknowledged)
    return acknowledged


psql("ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET wal_level = replica", "SELECT pg_reload_conf()")
time.sleep(0.5)
place = f"{WORK}/standby"
port = start_standby(place)
database = {
    "postgres": {"host": ["127.0.0.1", "127.0.0.1"], "port": f"{PRIMARY.port},{port}", "dbname": "postgres",
                 "user": "tests"}, "pepper_file": f"{WORK}/pepper"}
path = write(f"{WORK}/relay.json", {"listen": "127.0.0.1:0", "database": database})
tombolo("log", "create", "--config", path)
key = mint("all", "--config", path)
relay = Relay(path, key)
acknowledged = away(relay)
verdict = tombolo("log", "verify", "--config", path)
expect(verdict.returncode == 0, f"verify: {verdict.stdout[:400]}")
export = tombolo("log", "export", "--config", path).stdout
missing = [name for name in acknowledged if export.count(f'"{name}"') == 0]
expect(not missing, f"acknowledged and lost: {missing[:5]}")
answer = relay.ask("GET", "/v1/log?limit=1")
cursor = answer.get("next_cursor") or answer.get("cursor")

# The standby goes, a hundred events come, the primary goes, the standby is promoted.
pg_ctl(place, "--mode", "fast", "stop")
for number in range(100):
    relay.start(f"gone-{number}")
data = psql("SHOW data_directory")
pg_ctl(data, "--mode", "immediate", "stop")
os.remove(f"{place}/standby.signal")
pg_ctl(place, "start")
relay.start("after-1")
status = relay.process.wait(timeout=60)
lines = relay.said()
expect(status == 1 and "went back to an older state" in lines, f"a lossy promotion: {status} {lines[-600:]}")
again = Relay(path, key)
export = tombolo("log", "export", "--config", path).stdout
identity = json.loads(export.splitlines()[0])
expect("restored" in json.dumps(identity), f"it does not count as restored: {identity}")
expect("gone-99" not in export, "the standby had all of it")
status, answer = again.call("GET", f"/v1/log?cursor={cursor}")
expect(status == 410, f"a cursor of before: {status} {answer}")
expect(again.start("after-2")[0] in (200, 201), "it takes no events")

# SIGTERM while nobody answers.
frozen = freeze(place)
threading.Thread(target=lambda: again.start("after-3"), daemon=True).start()
time.sleep(1)
began = time.monotonic()
again.end()
seconds = time.monotonic() - began
thaw(frozen)
NOTES["ends beside a silent server in, s"] = round(seconds, 1)
expect(seconds < 10.5, f"SIGTERM took {seconds:.1f} s")
finish(notes=NOTES)
