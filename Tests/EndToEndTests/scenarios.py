#!/usr/bin/env python3
"""The five scenarios, whole: with one phone, and with all phones of class lab. DevTests have the plain `dev`.

Usage: scenarios.py PROGRAM

Each has a `PROGRAM dev` of its own, and they run side by side, beside a `trigger --stay` that leaves a card
whose taps have an answer, and ends it at SIGTERM. The last line on stdout is the summary, as JSON; the exit
status is 0 where every scenario converged.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
WAYS = {"one phone": ([], ["--phones", "1"]), "all lab": (["--phone", "all.class=lab"], [])}
NAMES = ("runner", "window", "profile", "radial", "door")
FAULTS, SECONDS = [], {}


class Dev:
    def __init__(self, *flags):
        self.process = subprocess.Popen(
            [PROGRAM, "dev", "--no-input", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = json.loads(self.process.stdout.readline())
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.api, self.key = ready["api"], ready["key"]
        self.environment = {**os.environ, "TOMBOLO_RELAY": self.api, "TOMBOLO_KEY": self.key}

    def trigger(self, *words):
        return subprocess.Popen(
            [PROGRAM, "trigger", *words, "-o", "json"], env=self.environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.api + path, method=method, data=body and json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    def card(self, phone):
        return self.call("GET", f"/v1/phones/{phone}")["cards"][-1]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def play(way):
    flags, words = WAYS[way]
    dev = Dev(*flags)
    try:
        for name in NAMES:
            began = time.monotonic()
            run = dev.trigger(name, "--for", "4s", *words)
            output, errors = run.communicate(timeout=180)
            SECONDS[f"{way}: {name}"] = round(time.monotonic() - began)
            if run.returncode != 0 or '"converged":true' not in output:
                FAULTS.append(f"{way}: {name} ended with {run.returncode}: {errors} {output[:400]}")
    finally:
        dev.end()


def stay():
    """A tap has its answer after the scenario's end, too."""
    dev = Dev("--phones", "1")
    try:
        run = dev.trigger("radial", "--phones", "1", "--stay")
        while "stays" not in (line := run.stderr.readline()):
            if not line:
                return FAULTS.append("stay: it ended")
        until("stay: a card runs", lambda: dev.card("phone-1")["phase"] == "active")
        activity = dev.card("phone-1")["activity"]
        dev.call("POST", "/v1/phones/phone-1", {"do": "tap", "activity": activity, "intent": "turn"})

        def has_turned():
            cards = dev.call("GET", "/v1/phones/phone-1")["cards"]
            return [card["drawn_state"]["offset"] for card in cards if card.get("activity") == activity] == [180]
        until("stay: a tap turns the card", has_turned)
        run.send_signal(signal.SIGTERM)
        if run.wait(timeout=30) != 0:
            FAULTS.append(f"stay: it ended with {run.returncode}")
        if dev.call("GET", f"/v1/activities/{activity}")["status"] != "ended":
            FAULTS.append("stay: the card runs on")
    finally:
        dev.end()


def until(what, holds):
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            return FAULTS.append(what)
        time.sleep(0.05)


threads = [threading.Thread(target=play, args=(way,)) for way in WAYS] + [threading.Thread(target=stay)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# A thread that failed has no time for each of its scenarios.
if len(SECONDS) != len(WAYS) * len(NAMES):
    FAULTS.append(f"only {len(SECONDS)} scenarios came to an end")
print(json.dumps({"seconds": SECONDS, "faults": FAULTS}))
sys.exit(1 if FAULTS else 0)
