#!/usr/bin/env python3
"""A data directory is put back from a copy of the disk, under its followers: copy_back.py PROGRAM

Readers of commands (server-sent events) and facts (NDJSON), and the example of a backend, are then
ahead of the log. Each door that takes a position says so until the log has come as far. The readers
recover as the answer says, and miss nothing that was acknowledged since.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True  # The package manager warns of files that it does not know.
from ten_kills import World

FOLLOW = pathlib.Path(__file__).resolve().parents[2] / "Protocol/examples/backend/follow.py"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"


class Relay(World):
    def open(self, path, body=None, accept="application/json"):
        """The answer; where something is asked, also a problem."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/v1/{path}", body and json.dumps(body).encode(),
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json",
             "Accept": accept}, method="PUT" if body else "GET")
        try:
            return urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as problem:
            assert not body, f"{path}: {problem.read().decode()}"
            return problem

    def store(self, prefix, count):
        """Cards, acknowledged: each is a command, and a fact `card.began`."""
        cards = [f"{prefix}-{number}" for number in range(count)]
        start = {"type": "Any", "state": {}, "audience": {"device": "tablet", "start": "adopt"}}
        for card in cards:
            self.open(f"activities/{card}", start).close()
            token = {"token": card.encode().hex()}
            self.open(f"devices/tablet/tokens/activity:{card}", token).close()
        return set(cards)

    def at_each_door(self, places):
        """What each door answers that is asked from a place: its status, and the problem."""
        for place in places:
            for door, accept in ("tail", EVENTS), ("tail", LINES), ("log", "application/json"):
                with self.open(f"{door}?{place}", accept=accept) as answer:
                    problem = json.load(answer) if answer.status >= 400 else {}
                    yield f"{door}?{place} as {accept}", answer.status, problem


class Reader(threading.Thread):
    """Follows one kind, and recovers as the problem says."""

    def __init__(self, relay, query, accept):
        super().__init__(daemon=True)
        self.relay, self.query, self.accept = relay, query, accept
        self.place, self.known, self.read_anew = "", set(), set()
        self.start()

    def run(self):
        while True:
            try:
                self.follow()
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.5)  # The relay is away, or the line was cut.

    def follow(self):
        with self.relay.open(f"tail?{self.query}{self.place}", accept=self.accept) as answer:
            if answer.status == 410:
                cards = self.relay.get("/v1/activities?limit=1000")["activities"]
                self.place = f"&cursor={json.load(answer)['newest']}"
                self.read_anew = {card["activity"] for card in cards}
                return
            self.place = f"&cursor={answer.headers['Tombolo-Cursor']}"
            for line in answer:
                line = line.removeprefix(b"data: ")
                if line.startswith(b"{"):
                    row = json.loads(line)
                    self.known.add(row.get("activity"))
                    self.place = f"&cursor={row['cursor']}"


def wait_for(what, look):
    deadline = time.monotonic() + 20
    while not look():
        assert time.monotonic() < deadline, f"not within 20 s: {what}"
        time.sleep(0.05)


def put_back(relay, readers, book):
    """Returns places that are ahead of the log then."""
    relay.store("before", 10)
    relay.kill_relay()
    subprocess.run(["cp", "-a", relay.path("data"), relay.path("copy")], check=True)
    relay.start_relay()
    lost = relay.store("lost", 40)
    wait_for("all have what will be lost", lambda: '"lost-39"' in book.read_text()
             and all(lost <= reader.known for reader in readers))
    last = [relay.get(f"/v1/log?kind={kind}&limit=1000")["events"][-1] for kind in ("all", "fact")]
    relay.kill_relay()
    os.rename(relay.path("data"), relay.path("gone"))
    os.rename(relay.path("copy"), relay.path("data"))
    relay.start_relay()
    return [f"kind=all&cursor={last[0]['cursor']}", f"kind=fact&since={last[1]['seq']}",
            "kind=command&since=50"]


def run(relay, backend, book):
    relay.start_relay()
    relay.open("devices/tablet", {"environment": "sandbox", "budget_class": "lab"}).close()
    readers = Reader(relay, "kind=command", EVENTS), Reader(relay, "kind=fact", LINES)
    wait_for("begun", lambda: book.exists() and book.read_text() and all(r.place for r in readers))
    ahead = put_back(relay, readers, book)
    since = relay.store("since", 3)
    for door, status, problem in relay.at_each_door(ahead):
        assert (status, problem.get("code")) == (410, "position-ahead-of-log"), f"{door}: {status}"
        assert "GET" in problem["detail"] and '"newest"' in problem["detail"], problem
    wait_for("the readers notice", lambda: all(reader.read_anew for reader in readers))
    assert b"The log was replaced" in backend.communicate(timeout=20)[1]
    later = relay.store("later", 5)
    while any(status == 410 for _, status, _ in relay.at_each_door(ahead)):
        later |= relay.store(f"later-{len(later)}", 5)
        assert len(later) < 300, "the log has come as far, and is still behind"
    wait_for("nothing is missed", lambda: all(
        later <= reader.known and since <= reader.known | reader.read_anew for reader in readers))
    # From the beginning there is what the copy had and what came since, each once.
    names = [row["activity"] for row in relay.get("/v1/log?limit=1000")["events"]]
    assert len(names) == len(set(names)) == 10 + len(since | later) and since | later < set(names)
    return {"noticed": len(readers) + 1, "missed": 0, "acknowledged": len(since | later)}


with tempfile.TemporaryDirectory(prefix="tombolo-copy.") as work:
    relay, book = Relay(work), pathlib.Path(work, "outcomes.ndjson")
    env = os.environ | {
        "TOMBOLO_RELAY": f"http://127.0.0.1:{relay.port}", "TOMBOLO_KEY": relay.key}
    backend = subprocess.Popen([sys.executable, FOLLOW, book], env=env, stderr=subprocess.PIPE)
    try:
        print(json.dumps(run(relay, backend, book)))
    finally:
        relay.stop()
        backend.kill()
