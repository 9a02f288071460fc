#!/usr/bin/env python3
"""Ten kills of the relay under 100,000 lines: nothing that was acknowledged is lost or doubled.

Usage: ten_kills.py PROGRAM [LINES [KILLS]]

Starts the real relay, the real simulator with three phones, and curl as the producer. Kills the relay
with SIGKILL in the middle of the answers, starts it again, and sends what was not acknowledged once
more. At the end every acknowledged line is in the log once, byte for byte and at the place it was told,
and every phone holds the newest state. The last line on stdout is the summary, as JSON.
"""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
LINES = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
PHONES = ["phone-1", "phone-2", "phone-3"]
CATS = 3
ANSWER_BYTES = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    """A configured relay, and the simulator beside it."""

    def __init__(self, work):
        self.work = work
        self.port, self.simulator_port = free_port(), free_port()
        self.path = lambda name: os.path.join(work, name)
        os.mkdir(self.path("data"), 0o700)
        key = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            check=True, capture_output=True).stdout
        with open(self.path("key.p8"), "wb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(key)
        app = {
            "id": "com.example.app", "team_id": "TEAM123456", "key_id": "ABC123DEFG",
            "key_file": self.path("key.p8"), "environment": "sandbox",
            "endpoint": f"https://127.0.0.1:{self.simulator_port}", "ca_file": self.path("ca.pem"),
        }
        with open(self.path("tombolo.json"), "w") as file:
            json.dump({"listen": f"127.0.0.1:{self.port}", "data": self.path("data"), "apps": [app]}, file)
        minted = subprocess.run(
            [PROGRAM, "key", "mint", "--scope", "produce,observe,operate", "--data", self.path("data"),
             "-o", "json"], check=True, capture_output=True)
        self.key = json.loads(minted.stdout)["key"]
        self.simulator = subprocess.Popen(
            [PROGRAM, "sim", "--listen", f"127.0.0.1:{self.simulator_port}",
             "--key-file", self.path("key.p8"), "--key-id", "ABC123DEFG", "--team-id", "TEAM123456",
             "--topic", "com.example.app", "--ca-out", self.path("ca.pem"), "--data", self.path("sim"),
             "--phones", str(len(PHONES)), "--relay", f"http://127.0.0.1:{self.port}", "--key", self.key],
            stdout=subprocess.PIPE, text=True)
        assert '"ready":true' in self.simulator.stdout.readline()
        # Whoever does not read its lines would stop it.
        self.reader = subprocess.Popen(
            ["cat"], stdin=self.simulator.stdout, stdout=subprocess.DEVNULL)
        self.relay = None

    def start_relay(self):
        self.relay = subprocess.Popen(
            [PROGRAM, "serve", "--config", self.path("tombolo.json")], stdout=subprocess.PIPE, text=True)
        line = self.relay.stdout.readline()
        assert '"ready":true' in line, line

    def kill_relay(self):
        self.relay.send_signal(signal.SIGKILL)
        self.relay.wait()

    def stop(self):
        for process in (self.relay, self.simulator, self.reader):
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def get(self, path):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def post(self, lines):
        """curl, sending; its answers arrive in out.ndjson."""
        with open(self.path("in.ndjson"), "w") as file:
            file.writelines(line + "\n" for line in lines)
        return subprocess.Popen(
            ["curl", "-sN", "--data-binary", "@" + self.path("in.ndjson"),
             "-H", "Content-Type: application/x-ndjson", "-H", "Prefer: lines",
             "-H", f"Authorization: Bearer {self.key}",
             f"http://127.0.0.1:{self.port}/v1/events"], stdout=open(self.path("out.ndjson"), "w"))

    def answers(self):
        with open(self.path("out.ndjson")) as file:
            for line in file:
                # The last answer before a kill may be cut off: it is none.
                if line.endswith("\n"):
                    yield json.loads(line)


def make_lines(chance):
    lines = [
        {"id": f"cat{i}", "activity": f"cat{i}", "do": "start", "type": "RunnerWidgetAttributes",
         "audience": {"devices": PHONES}, "state": {"image": "", "n": -1}} for i in range(CATS)]
    lines += [
        {"id": f"other{i}", "activity": f"other{i}", "do": "start", "type": "Any", "state": {"n": 0}}
        for i in range(50)]
    while len(lines) < LINES:
        number = len(lines)
        name = f"cat{number % CATS}" if number % 100 == 0 else f"other{chance.randrange(50)}"
        lines.append({"id": f"line{number}", "activity": name, "do": "update", "state": {"n": number}})
    return {line["id"]: line for line in lines}


def send_all(world, lines, chance):
    acknowledged, kills = {}, 0
    while len(acknowledged) < len(lines):
        curl = world.post(json.dumps(line) for id, line in lines.items() if id not in acknowledged)
        if kills < KILLS:
            answered = chance.randint(LINES // 50, LINES // (KILLS + 2)) * ANSWER_BYTES
            while curl.poll() is None and os.path.getsize(world.path("out.ndjson")) < answered:
                time.sleep(0.002)
            world.kill_relay()
            kills += 1
            curl.wait()
            world.start_relay()
        else:
            assert curl.wait() == 0
        for answer in world.answers():
            assert answer["ok"], answer
            known = acknowledged.setdefault(answer["id"], answer["seq"])
            assert known == answer["seq"], f"{answer} was {known} before"
    return acknowledged, kills


def check_log(world, lines, acknowledged):
    cursor, places = "", {}
    while cursor is not None:
        page = world.get("/v1/log?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        for event in page["events"]:
            id = event["body"]["id"]
            assert id not in places, f"{id} is in the log twice"
            assert event["body"] == lines[id], f"{id} is not what was sent"
            places[id] = event["seq"]
        cursor = page["next_cursor"]
    assert places == acknowledged, "the log is not what was acknowledged"


def wait_for_phones(world):
    deadline = time.monotonic() + 90
    while True:
        views = [world.get(f"/v1/activities/cat{i}") for i in range(CATS)]
        behind = [
            (view["activity"], destination["device"]) for view in views
            for destination in view["destinations"]
            if not destination.get("shown", {}).get("matches")]
        if not behind and all(len(view["destinations"]) == len(PHONES) for view in views):
            return
        assert time.monotonic() < deadline, f"behind after 90 s: {behind}"
        time.sleep(0.5)


def main():
    chance = random.Random(1)
    work = tempfile.mkdtemp(prefix="tombolo-kills.")
    world = World(work)
    try:
        world.start_relay()
        lines = make_lines(chance)
        acknowledged, kills = send_all(world, lines, chance)
        check_log(world, lines, acknowledged)
        wait_for_phones(world)
        world.relay.send_signal(signal.SIGTERM)
        assert world.relay.wait(30) == 0, "a drained relay exits with 0"
    finally:
        world.stop()
        shutil.rmtree(work)
    print(json.dumps({"lines": len(lines), "kills": kills, "lost": 0, "doubled": 0, "converged": True}))


if __name__ == "__main__":
    main()
