#!/usr/bin/env python3
"""Verdicts of a server that nobody here wrote, against the whole relay.

Usage: verdicts.py PROGRAM

nginx stands in Apple's part and answers by the token's first digits: 200, 410, 429, 503, 400 of two
kinds. Every push ends in its class, tokens are retired as they should be, and the relay's books say so.
Then nginx heals, and whoever was only held back holds the newest state. The last line on stdout is the
summary, as JSON; the exit status is 0 where all went as expected.
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
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
BUNDLE = "com.example.app"
# The token's first digits, and what becomes of the device: its class, and whether its token stays.
KINDS = {
    "a": ("accepted", True), "b": ("token_gone", False), "c": ("held_back", True),
    "d": ("held_back", True), "e": ("dead_letter", True), "f": ("token_misplaced", False),
}
VERDICTS = """
    location /3/device/b { return 410 '{"reason":"Unregistered","timestamp":4102444800000}'; }
    location /3/device/c { return 429 '{"reason":"TooManyRequests"}'; }
    location /3/device/d { return 503 '{"reason":"ServiceUnavailable"}'; }
    location /3/device/e { return 400 '{"reason":"BadCollapseId"}'; }
    location /3/device/f { return 400 '{"reason":"BadDeviceToken"}'; }
"""
DEVICES = 5


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    def __init__(self, work):
        self.path = lambda name: os.path.join(work, name)
        self.port = free_port()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", self.path("tls.key"), "-out", self.path("tls.pem"), "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            check=True, capture_output=True)
        self.configure(VERDICTS)
        program = next(p for p in ("/usr/sbin/nginx", "nginx") if p == "nginx" or os.path.exists(p))
        self.process = subprocess.Popen(
            [program, "-q", "-p", work, "-c", self.path("nginx.conf")], stderr=subprocess.DEVNULL)

    def configure(self, verdicts):
        temporary = "".join(
            f"{name}_temp_path {self.path(name)};"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(self.path("nginx.conf"), "w") as file:
            file.write(f"""
                daemon off; worker_processes 1; pid {self.path("pid")}; error_log {self.path("error.log")};
                events {{ worker_connections 256; }}
                http {{
                    log_format push '$request_uri $status'; access_log {self.path("pushes.log")} push;
                    keepalive_requests 1000000; {temporary}
                    server {{
                        listen 127.0.0.1:{self.port} ssl http2;
                        ssl_certificate {self.path("tls.pem")}; ssl_certificate_key {self.path("tls.key")};
                        default_type application/json;
                        {verdicts}
                        location /3/device/ {{ return 200; }}
                    }}
                }}""")

    def heal(self):
        self.configure("")
        self.process.send_signal(signal.SIGHUP)

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def pushes(self):
        with open(self.path("pushes.log")) as file:
            return [line.split() for line in file]


class Relay:
    def __init__(self, work, nginx):
        path = lambda name: os.path.join(work, name)
        self.port = free_port()
        os.mkdir(path("data"), 0o700)
        key = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            check=True, capture_output=True).stdout
        with open(path("key.p8"), "wb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(key)
        app = {"id": BUNDLE, "team_id": "TEAM123456", "key_id": "ABC123DEFG",
               "key_file": path("key.p8"), "environment": "sandbox",
               "endpoint": f"https://127.0.0.1:{nginx.port}", "ca_file": path("tls.pem")}
        with open(path("tombolo.json"), "w") as file:
            json.dump({"listen": f"127.0.0.1:{self.port}", "data": path("data"), "apps": [app],
                       "limits": {"probe_max": "1s"}}, file)
        minted = subprocess.run(
            [PROGRAM, "key", "mint", "--scope", "produce,observe,operate", "--data", path("data"),
             "-o", "json"], check=True, capture_output=True)
        self.key = json.loads(minted.stdout)["key"]
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--config", path("tombolo.json")], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        assert '"ready":true' in self.process.stdout.readline()

    def ask(self, method, path, body=None, raw=False):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return text.decode() if raw else json.loads(text)

    def metrics(self):
        lines = self.ask("GET", "/metrics", raw=True).splitlines()
        return {l.rsplit(" ", 1)[0]: int(float(l.rsplit(" ", 1)[1])) for l in lines if l and l[0] != "#"}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def wait_for(what, look, seconds=60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if look():
            return True
        time.sleep(0.1)
    FAULTS.append(f"{what}: not within {seconds} s")
    return False


FAULTS = []


def expect(what, expected, got):
    if expected != got:
        FAULTS.append(f"{what}: expected {expected}, got {got}")


def run(work):
    nginx = Nginx(work)
    time.sleep(0.5)
    relay = Relay(work, nginx)
    try:
        devices = {}
        for digit in KINDS:
            for number in range(DEVICES):
                name = f"{digit}-{number}"
                devices[name] = digit
                relay.ask("PUT", f"/v1/devices/{name}", {"app": BUNDLE, "budget_class": "lab"})
                relay.ask("PUT", f"/v1/devices/{name}/tokens/activity:cat",
                          {"token": digit + "0" * 14 + str(number)})
        relay.ask("PUT", "/v1/activities/cat", {
            "type": "Any", "audience": {"devices": list(devices), "start": "adopt"},
            "state": {"lap": 0}})
        for lap in range(1, 11):
            relay.ask("PATCH", "/v1/activities/cat", {"state": {"lap": lap}, "urgency": "high"})
            time.sleep(0.3)
        shown = lambda: {d["device"]: d for d in relay.ask("GET", "/v1/activities/cat")["destinations"]}
        wait_for("the good phones hold the newest state", lambda: all(
            d["acknowledged_version"] == 11 for n, d in shown().items() if devices[n] == "a"))
        time.sleep(3)
        # Who is held back has not got it, and is told why; whose token is gone gets nothing more.
        for name, destination in shown().items():
            kind, stays = KINDS[devices[name]]
            tokens = relay.ask("GET", f"/v1/devices/{name}")["tokens"]
            expect(f"{name}: tokens", 1 if stays else 0, len(tokens))
            expect(f"{name}: gone", not stays, destination["phase"] == "gone")
            if kind == "held_back":
                expect(f"{name}: waits", True, "waiting" in destination)
        dead = relay.ask("GET", "/v1/dead-letters?limit=1000")["dead_letters"]
        reasons = collections.Counter((d["device"][0], d["reason"]) for d in dead)
        expect("dead letters", {"e", "f"}, {digit for digit, _ in reasons})
        nginx.heal()
        wait_for("whoever was held back holds the newest state", lambda: all(
            d["acknowledged_version"] == 11 for n, d in shown().items() if devices[n] in "acd"), 120)
        relay.ask("PATCH", "/v1/activities/cat", {"state": {"lap": 11}, "urgency": "high"})
        wait_for("all that have a token hold the last state", lambda: all(
            d["acknowledged_version"] == 12 for n, d in shown().items() if KINDS[devices[n]][1]))
        # The books: every event is in one class at each phone, and every push in one class too.
        page = relay.ask("GET", "/v1/activities/cat/deliveries?limit=1000")
        for book in page["destinations"]:
            events = book["events"]
            classes = sum(events[k] for k in ("sent", "merged", "skipped", "expired", "refused"))
            expect(f"{book['device']}: asked", 12, events["asked"])
            expect(f"{book['device']}: decided", 12, classes)
            expect(f"{book['device']}: waiting", 0, events["waiting"])
        metrics = relay.metrics()
        sent = metrics["tombolo_pushes_sent_total"]
        results = {k: v for k, v in metrics.items() if k.startswith("tombolo_push_results_total")}
        expect("pushes by class", sent, sum(results.values()))
    finally:
        relay.stop()
        nginx.stop()
    pushes = nginx.pushes()
    expect("pushes that nginx saw", sent, len(pushes))
    by_status = collections.Counter(status for _, status in pushes)
    expect("accepted", by_status["200"], results['tombolo_push_results_total{result="accepted"}'])
    # Nothing goes to a token after its retirement is on record.
    per_token = collections.Counter(uri for uri, _ in pushes)
    for uri, count in per_token.items():
        if uri.split("/")[-1][0] in "bf":
            expect(f"pushes to {uri}", 1, count)
    return {"pushes": sent, "by_status": dict(sorted(by_status.items())), "results": results,
            "dead_letters": {f"{d} {r}": n for (d, r), n in sorted(reasons.items())}}


with tempfile.TemporaryDirectory() as directory:
    summary = run(directory)
for fault in FAULTS:
    print(fault)
summary["faults"] = len(FAULTS)
print(json.dumps(summary))
sys.exit(1 if FAULTS else 0)
