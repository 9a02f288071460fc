#!/usr/bin/env python3
"""The five scenarios, whole: with one phone, and with all phones of class lab. DevTests have the plain `dev`.

Usage: scenarios.py PROGRAM

Each has a `PROGRAM dev` of its own, and they run side by side, beside a `trigger --stay` that leaves a card
whose taps have an answer, and ends it at SIGTERM. The last line on stdout is the summary, as JSON; the exit
status is 0 where every scenario converged.
"""
import os
import signal
import subprocess
import threading
import time

from world import PROGRAM, SCENARIOS, Dev, expect, finish, start, within

WAYS = {"one phone": ([], ["--phones", "1"]), "all lab": (["--phone", "all.class=lab"], [])}
SECONDS = {}


class Relay(Dev):
    def trigger(self, *words):
        return start(PROGRAM, "trigger", *words, "-o", "json", env={**os.environ, **self.environment},
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def cards(self):
        return self.ask("GET", "/v1/phones/phone-1")["cards"]


def play(way):
    flags, words = WAYS[way]
    dev = Relay(*flags)
    for name in SCENARIOS:
        began = time.monotonic()
        run = dev.trigger(name, "--for", "4s", *words)
        output, errors = run.communicate(timeout=180)
        SECONDS[f"{way}: {name}"] = round(time.monotonic() - began)
        expect(run.returncode == 0 and '"converged":true' in output,
               f"{way}: {name} ended with {run.returncode}: {errors} {output[:400]}")


def stay():
    """A tap has its answer after the scenario's end, too."""
    dev = Relay("--phones", "1")
    run = dev.trigger("radial", "--phones", "1", "--stay")
    while "stays" not in (line := run.stderr.readline()):
        if not line:
            return expect(False, "stay: it ended")
    expect(within(30, lambda: dev.cards()[-1]["phase"] == "active"), "stay: a card runs")
    activity = dev.cards()[-1]["activity"]
    dev.ask("POST", "/v1/phones/phone-1", {"do": "tap", "activity": activity, "intent": "turn"})
    expect(within(30, lambda: [
        card["drawn_state"]["offset"] for card in dev.cards() if card.get("activity") == activity] == [180]),
        "stay: a tap turns the card")
    run.send_signal(signal.SIGTERM)
    expect(run.wait(timeout=30) == 0, f"stay: it ended with {run.returncode}")
    expect(dev.ask("GET", f"/v1/activities/{activity}")["status"] == "ended", "stay: the card runs on")


threads = [threading.Thread(target=play, args=(way,)) for way in WAYS] + [threading.Thread(target=stay)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
finish(seconds=SECONDS)
