"""Runs Protocol/examples/backend/follow.py beside a relay and an APNs simulator: 200 cards, one tail,
restarts and kills of both ends. Every outcome is in the backend's book, once.

    python3 Tests/EndToEndTests/backend.py PROGRAM
"""
import collections
import json
import os
import signal
import sys

from world import ROOT, World, check, start, within

CARDS, DEVICES = 200, 20
PATIENCE = 60


class Bench(World):
    def __init__(self):
        super().__init__("--accept-any-token", phones=0)
        self.book_path, self.backend = self.path("outcomes.ndjson"), None

    def restart(self, how):
        self.relay.end(how)
        self.start()

    def start_backend(self):
        self.backend = start(
            sys.executable, ROOT / "Protocol/examples/backend/follow.py", self.book_path,
            env={**os.environ, **self.environment})

    def kill_backend(self):
        self.backend.kill()
        self.backend.wait()

    def events(self, lines):
        for answer in self.lines(lines):
            check(answer["ok"], answer)

    def token(self, number):
        self.ask("PUT", f"/v1/devices/{device(number)}/tokens/activity:card-{number}",
                 {"token": f"{number:08x}"})

    def dismiss(self, number, by):
        self.ask("PUT", f"/v1/devices/{device(number)}/activities/card-{number}",
                 {"phase": "dismissed", "by": by})

    def book(self):
        with open(self.book_path, "rb") as file:
            return [json.loads(line) for line in file if line.endswith(b"\n")]

    def facts(self, names):
        found, cursor = [], ""
        while cursor is not None:
            page = self.ask("GET", f"/v1/log?limit=1000&fact={names}{cursor}")
            found += page["events"]
            cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
        return found


def device(number):
    return f"phone-{number % DEVICES}"


def outcome(line):
    return line["fact"], line.get("activity"), line.get("reason") or line.get("body", {}).get("by")


def run(bench):
    bench.start()
    bench.start_backend()
    wait_for(lambda: os.path.exists(bench.book_path) and bench.book())
    for number in range(DEVICES):
        bench.ask("PUT", f"/v1/devices/{device(number)}", {"environment": "sandbox", "budget_class": "lab"})
    bench.events([
        {"activity": f"card-{number}", "do": "start", "type": "Order", "state": {"step": 0},
         "audience": {"device": device(number), "start": "adopt"}} for number in range(CARDS)])
    expected = set()
    for number in range(CARDS):
        bench.token(number)
        expected.add(("card.began", f"card-{number}", None))
        if number == CARDS // 4:
            bench.restart(signal.SIGTERM)
        if number == CARDS // 2:
            bench.kill_backend()
            bench.start_backend()
        if number == CARDS * 3 // 4:
            bench.restart(signal.SIGKILL)
    for number in range(120):
        by = "user" if number < 80 else "system"
        bench.dismiss(number, by)
        expected.add(("card.dismissed", f"card-{number}", by))
        if number == 40:
            bench.restart(signal.SIGKILL)
        if number == 60:
            bench.kill_backend()
    bench.events([
        {"activity": f"late-{number}", "do": "start", "type": "Order", "state": {"step": 0},
         "start_wait": "1s", "audience": {"device": device(number)}} for number in range(10)])
    expected |= {("push.skipped", f"late-{number}", "start_wait") for number in range(10)}
    bench.start_backend()
    bench.restart(signal.SIGTERM)
    wait_for(lambda: expected <= {outcome(line) for line in bench.book()[1:]},
             lambda: sorted(expected - {outcome(line) for line in bench.book()[1:]})[:10])
    counts = collections.Counter(outcome(line) for line in bench.book() if line["kind"] == "fact")
    twice = [name for name, count in counts.items() if count > 1]
    check(not twice, "in the book twice:", twice[:10])
    # On a busy machine an update of a card may still wait when the card goes: then it has no way to it.
    late = {("push.skipped", f"card-{number}", "no_route") for number in range(120)}
    check(set(counts) - late == expected, "nobody expected", sorted(set(counts) - late - expected)[:10])
    ofCards = collections.Counter(
        outcome(line) for line in bench.facts("card.began,card.dismissed,card.lost,card.ended"))
    check(max(ofCards.values()) == 1, "in the log twice:", ofCards.most_common(5))
    print(f"backend: {len(counts)} outcomes of {CARDS} cards, each once, through 4 restarts of the relay "
          "and 2 of the backend")


def wait_for(condition, missing=lambda: "it"):
    check(within(PATIENCE, condition), f"after {PATIENCE} s there is not", missing())


run(Bench())
