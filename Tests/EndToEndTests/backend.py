"""Runs Protocol/examples/backend/follow.py beside a relay and an APNs simulator: 200 cards, one tail,
restarts and kills of both ends. Every outcome is in the backend's book, once.

    python3 Tests/EndToEndTests/backend.py PROGRAM
"""
import collections
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CARDS, DEVICES = 200, 20
PATIENCE = 60


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.relay = self.backend = None
        self.origin = f"http://127.0.0.1:{free_port()}"
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
             f"{folder}/key.p8"], check=True, capture_output=True)
        self.apple = subprocess.Popen(
            [PROGRAM, "sim", "--listen", "127.0.0.1:0", "--phones", "0", "--key-file", f"{folder}/key.p8",
             "--key-id", "ABC123DEFG", "--team-id", "TEAM123456", "--topic", "com.example.app",
             "--ca-out", f"{folder}/ca.pem", "--accept-any-token"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        apple = json.loads(self.apple.stdout.readline())["simulator"]
        with open(f"{folder}/tombolo.json", "w") as file:
            json.dump({
                "listen": self.origin[7:], "data": "data", "apps": [{
                    "id": "com.example.app", "team_id": "TEAM123456", "key_id": "ABC123DEFG",
                    "key_file": "key.p8", "environment": "sandbox", "endpoint": apple,
                    "ca_file": "ca.pem"}]}, file)
        minted = subprocess.run(
            [PROGRAM, "key", "mint", "--scope", "all", "--data", f"{folder}/data", "-o", "json"],
            check=True, capture_output=True, text=True)
        self.key = json.loads(minted.stdout)["key"]

    def end(self):
        for process in (self.backend, self.relay, self.apple):
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def start_relay(self):
        self.relay = subprocess.Popen(
            [PROGRAM, "serve", "--config", f"{self.folder}/tombolo.json"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        self.relay.stdout.readline()

    def restart_relay(self, how):
        self.relay.send_signal(how)
        self.relay.wait(30)
        self.start_relay()

    def start_backend(self):
        environment = {**os.environ, "TOMBOLO_RELAY": self.origin, "TOMBOLO_KEY": self.key}
        self.backend = subprocess.Popen(
            [sys.executable, f"{TREE}/Protocol/examples/backend/follow.py", self.book_path],
            env=environment)

    def restart_backend(self):
        self.backend.kill()
        self.backend.wait()
        self.start_backend()

    @property
    def book_path(self):
        return f"{self.folder}/outcomes.ndjson"

    def ask(self, method, path, body=None, kind="application/json"):
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.origin}{path}", data, method=method)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", kind)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")

    def events(self, lines):
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        for line in self.ask("POST", "/v1/events", body, "application/x-ndjson").splitlines():
            assert json.loads(line)["ok"], line

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
            page = json.loads(self.ask("GET", f"/v1/log?limit=1000&fact={names}{cursor}"))
            found += page["events"]
            cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
        return found


def device(number):
    return f"phone-{number % DEVICES}"


def outcome(line):
    return line["fact"], line.get("activity"), line.get("reason") or line.get("body", {}).get("by")


def run(bench):
    bench.start_relay()
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
            bench.restart_relay(signal.SIGTERM)
        if number == CARDS // 2:
            bench.restart_backend()
        if number == CARDS * 3 // 4:
            bench.restart_relay(signal.SIGKILL)
    for number in range(120):
        by = "user" if number < 80 else "system"
        bench.dismiss(number, by)
        expected.add(("card.dismissed", f"card-{number}", by))
        if number == 40:
            bench.restart_relay(signal.SIGKILL)
        if number == 60:
            bench.backend.kill()
            bench.backend.wait()
    bench.events([
        {"activity": f"late-{number}", "do": "start", "type": "Order", "state": {"step": 0},
         "start_wait": "1s", "audience": {"device": device(number)}} for number in range(10)])
    expected |= {("push.skipped", f"late-{number}", "start_wait") for number in range(10)}
    bench.start_backend()
    bench.restart_relay(signal.SIGTERM)
    wait_for(lambda: expected <= {outcome(line) for line in bench.book()[1:]},
             lambda: sorted(expected - {outcome(line) for line in bench.book()[1:]})[:10])
    counts = collections.Counter(outcome(line) for line in bench.book() if line["kind"] == "fact")
    twice = [name for name, count in counts.items() if count > 1]
    assert not twice, f"in the book twice: {twice[:10]}"
    assert set(counts) == expected, f"nobody expected {sorted(set(counts) - expected)[:10]}"
    ofCards = collections.Counter(
        outcome(line) for line in bench.facts("card.began,card.dismissed,card.lost,card.ended"))
    assert max(ofCards.values()) == 1, f"in the log twice: {ofCards.most_common(5)}"
    print(f"backend: {len(counts)} outcomes of {CARDS} cards, each once, through 4 restarts of the relay "
          "and 2 of the backend")


def wait_for(condition, missing=lambda: "it"):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"backend: after {PATIENCE} s there is not {missing()}")
        time.sleep(0.1)


with tempfile.TemporaryDirectory() as folder:
    bench = Bench(folder)
    try:
        run(bench)
    finally:
        bench.end()
