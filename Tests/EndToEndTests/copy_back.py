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
import shutil
import subprocess
import sys
import threading
import time

from world import ROOT, World, check, start, within

FOLLOW = ROOT / "Protocol/examples/backend/follow.py"
EVENTS, LINES = "text/event-stream", "application/x-ndjson"


class Relay(World):
    def read(self, path, accept="application/json"):
        """The answer, also where it is a problem."""
        return self.open("GET", f"/v1/{path}", Accept=accept)

    def store(self, prefix, count):
        """Cards, acknowledged: each is a command, and a fact `card.began`."""
        cards = [f"{prefix}-{number}" for number in range(count)]
        card_start = {"type": "Any", "state": {}, "audience": {"device": "tablet", "start": "adopt"}}
        for card in cards:
            self.ask("PUT", f"/v1/activities/{card}", card_start)
            self.ask("PUT", f"/v1/devices/tablet/tokens/activity:{card}", {"token": card.encode().hex()})
        return set(cards)

    def at_each_door(self, places):
        """What each door answers that is asked from a place: its status, and the problem."""
        for place in places:
            for door, accept in ("tail", EVENTS), ("tail", LINES), ("log", "application/json"):
                with self.read(f"{door}?{place}", accept) as answer:
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
        with self.relay.read(f"tail?{self.query}{self.place}", self.accept) as answer:
            if answer.status == 410:
                cards = self.relay.ask("GET", "/v1/activities?limit=1000")["activities"]
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
    check(within(20, look), "not within 20 s:", what)


def put_back(relay, readers, book):
    """Returns places that are ahead of the log then."""
    relay.store("before", 10)
    relay.kill()
    shutil.copytree(relay.path("data"), relay.path("copy"))
    relay.start()
    lost = relay.store("lost", 40)
    wait_for("all have what will be lost", lambda: '"lost-39"' in book.read_text()
             and all(lost <= reader.known for reader in readers))
    last = [relay.ask("GET", f"/v1/log?kind={kind}&limit=1000")["events"][-1] for kind in ("all", "fact")]
    relay.kill()
    os.rename(relay.path("data"), relay.path("gone"))
    os.rename(relay.path("copy"), relay.path("data"))
    relay.start()
    return [f"kind=all&cursor={last[0]['cursor']}", f"kind=fact&since={last[1]['seq']}",
            "kind=command&since=50"]


def run(relay, backend, book):
    relay.start()
    relay.ask("PUT", "/v1/devices/tablet", {"environment": "sandbox", "budget_class": "lab"})
    readers = Reader(relay, "kind=command", EVENTS), Reader(relay, "kind=fact", LINES)
    wait_for("begun", lambda: book.exists() and book.read_text() and all(r.place for r in readers))
    ahead = put_back(relay, readers, book)
    since = relay.store("since", 3)
    for door, status, problem in relay.at_each_door(ahead):
        assert (status, problem.get("code")) == (410, "position-ahead-of-log"), f"{door}: {status}"
        assert "GET" in problem["detail"] and '"newest"' in problem["detail"], problem
    wait_for("the readers notice", lambda: all(reader.read_anew for reader in readers))
    assert "The log was replaced" in backend.communicate(timeout=20)[1]
    later = relay.store("later", 5)
    while any(status == 410 for _, status, _ in relay.at_each_door(ahead)):
        later |= relay.store(f"later-{len(later)}", 5)
        assert len(later) < 300, "the log has come as far, and is still behind"
    wait_for("nothing is missed", lambda: all(
        later <= reader.known and since <= reader.known | reader.read_anew for reader in readers))
    # From the beginning there is what the copy had and what came since, each once.
    names = [row["activity"] for row in relay.ask("GET", "/v1/log?limit=1000")["events"]]
    assert len(names) == len(set(names)) == 10 + len(since | later) and since | later < set(names)
    return {"noticed": len(readers) + 1, "missed": 0, "acknowledged": len(since | later)}


relay = Relay()
book = pathlib.Path(relay.path("outcomes.ndjson"))
backend = start(sys.executable, FOLLOW, book, env=os.environ | relay.environment, stderr=subprocess.PIPE)
print(json.dumps(run(relay, backend, book)))
