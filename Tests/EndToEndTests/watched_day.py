#!/usr/bin/env python3
"""The alerts and the dashboard, before a real Prometheus that scrapes a relay through a bad day.

Usage: watched_day.py PROGRAM

Debian's promtool checks the rules, and plays them (alerts_test.yml): each alert has a day on which it fires
and one on which it does not. Then the real relay, with TLS, pushes to the real simulator: events, a clip,
tokens that Apple refuses, a key that it refuses, a pause, requests that are refused. A Prometheus scrapes it
each second. In the end every query of every panel has a value, every name in an alert is a metric of the
relay, and the alert of a closed upstream is pending or fires. The last line on stdout is the summary; the
exit status is 0 where all held.
"""
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = os.path.join(ROOT, "deploy/prometheus/alerts.yml")
DASHBOARD = os.path.join(ROOT, "deploy/grafana/tombolo.json")
BUNDLE = "com.example.app"
FAULTS = []


def check(holds, *words):
    if not holds:
        FAULTS.append(" ".join(map(str, words)))
        print("FAULT", *words)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rules():
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alerts_test.yml")
    for words in (["check", "rules", RULES], ["test", "rules", tests]):
        result = subprocess.run(["promtool", *words], capture_output=True, text=True)
        check(result.returncode == 0, "promtool", *words, result.stdout, result.stderr)
    with open(RULES) as file:
        alerts = set(re.findall(r"- alert: (\w+)", file.read()))
    with open(tests) as file:
        text = file.read()
    for alert in sorted(alerts):
        fires = re.search(r"alertname: " + alert + r"\n\s+exp_alerts:\n", text)
        check(fires, alert, "has no test in which it fires")
        check(re.search(r"alertname: " + alert + r"\n\s+exp_alerts: \[\]", text),
              alert, "has no test in which it does not fire")
    return alerts


class World:
    """Relay and simulator, and how to ask them."""

    def __init__(self, work):
        path = lambda name: os.path.join(work, name)
        self.port, self.control = free_port(), free_port()
        os.mkdir(path("data"), 0o700)
        subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-out", path("key.p8")], check=True, capture_output=True)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1", "-addext",
             "subjectAltName=IP:127.0.0.1", "-keyout", path("tls.key"), "-out", path("tls.pem")],
            check=True, capture_output=True)
        for name in ("key.p8", "tls.key"):
            os.chmod(path(name), 0o600)
        self.ca = path("tls.pem")
        self.context = ssl.create_default_context(cafile=self.ca)
        self.simulator = subprocess.Popen(
            [PROGRAM, "sim", "--listen", "127.0.0.1:0", "--control", f"127.0.0.1:{self.control}",
             "--phones", "0", "--accept-any-token", "--key-file", path("key.p8"), "--key-id",
             "ABC123DEFG", "--team-id", "TEAM123456", "--topic", BUNDLE, "--ca-out", path("ca.pem")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        url = json.loads(self.simulator.stdout.readline())["simulator"]
        self.reader = subprocess.Popen(
            ["cat"], stdin=self.simulator.stdout, stdout=subprocess.DEVNULL)
        app = {"id": BUNDLE, "team_id": "TEAM123456", "key_id": "ABC123DEFG",
               "key_file": path("key.p8"), "environment": "sandbox", "endpoint": url,
               "ca_file": path("ca.pem")}
        with open(path("tombolo.json"), "w") as file:
            json.dump({"listen": f"127.0.0.1:{self.port}", "data": path("data"), "apps": [app],
                       "tls": {"certificate": path("tls.pem"), "key": path("tls.key")},
                       "limits": {"probe_max": "1s"}}, file)
        minted = subprocess.run(
            [PROGRAM, "key", "mint", "--scope", "produce,observe,operate", "--data", path("data"),
             "-o", "json"], check=True, capture_output=True)
        self.key = json.loads(minted.stdout)["key"]
        self.log = open(path("stderr"), "w+")
        self.relay = subprocess.Popen(
            [PROGRAM, "serve", "--config", path("tombolo.json"), "--log", "json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        assert '"ready":true' in self.relay.stdout.readline()

    def call(self, method, path, body=None, key=None):
        request = urllib.request.Request(
            f"https://127.0.0.1:{self.port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {key or self.key}",
                     "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def fault(self, *rules):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control}/v1/faults", method="PUT",
            data=json.dumps({"rules": rules}).encode())
        urllib.request.urlopen(request, timeout=30).read()

    def notes(self):
        self.log.flush()
        with open(self.log.name) as file:
            return [json.loads(line) for line in file]

    def stop(self):
        for process in (self.relay, self.simulator):
            process.terminate()
            process.wait()
        self.reader.wait()


class Prometheus:
    def __init__(self, work, world):
        self.port = free_port()
        configuration = os.path.join(work, "prometheus.yml")
        with open(configuration, "w") as file:
            json.dump({
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [RULES],
                "scrape_configs": [{
                    "job_name": "tombolo", "scheme": "https", "tls_config": {"ca_file": world.ca},
                    "authorization": {"credentials": world.key},
                    "static_configs": [{"targets": [f"127.0.0.1:{world.port}"]}]}]}, file)
        checked = subprocess.run(
            ["promtool", "check", "config", configuration], capture_output=True, text=True)
        check(checked.returncode == 0, checked.stdout, checked.stderr)
        self.log = open(os.path.join(work, "prometheus.log"), "w")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={configuration}",
             f"--storage.tsdb.path={os.path.join(work, 'tsdb')}",
             f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log, stderr=subprocess.STDOUT)

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            return {"result": [], "error": error.read().decode()}

    def wait(self):
        for _ in range(300):
            try:
                if self.get("/api/v1/query", query="tombolo_ready")["result"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.1)
        check(False, "Prometheus has nothing of the relay")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def day(world):
    """What happens on it, in a minute."""
    for n in range(4):
        world.call("PUT", f"/v1/devices/phone-{n}", {"app": BUNDLE, "budget_class": "lab"})
        world.call("PUT", f"/v1/devices/phone-{n}/tokens/activity:order-{n}", {"token": f"aa{n}0"})
        status, text = world.call(
            "PUT", f"/v1/activities/order-{n}",
            {"type": "Order", "audience": {"device": f"phone-{n}"}, "state": {"step": 0, "frame": 0}})
        check(status == 201, "start", status, text)
    status, text = world.call(
        "POST", "/v1/activities/order-3/clips",
        {"tween": {"path": "/frame", "from": 0, "to": 500, "duration": "50s"}, "fit": "step"})
    check(status == 201, "clip", status, text)

    def morning(seconds, first):
        for step in range(first, first + seconds):
            for n in range(3):
                world.call("PATCH", f"/v1/activities/order-{n}", {"state": {"step": step}})
            world.call("GET", "/v1/activities")
            world.call("GET", "/v1/activities/nobody")
            world.call("GET", "/v1/activities", key="wrong")
            world.call("PUT", "/v1/activities/bad", {"nonsense": 1})
            time.sleep(1)

    morning(10, 1)
    world.fault({"token": "aa00", "status": 400, "reason": "BadTopic"})
    morning(6, 20)
    world.call("POST", "/v1/pauses", {"activity": "order-1"})
    world.fault({"status": 403, "reason": "InvalidProviderToken"})
    morning(8, 40)


def queries():
    with open(DASHBOARD) as file:
        board = json.load(file)
    found = []
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            found.append((panel["title"], target["expr"]))
        check(panel["type"] == "row" or panel.get("description"), panel["title"], "says nothing")
    places = [tuple(p["gridPos"].values()) for p in board["panels"]]
    check(len(set(places)) == len(places), "two panels have one place")
    return found


def main():
    alerts = rules()
    with tempfile.TemporaryDirectory() as work:
        world = World(work)
        prometheus = Prometheus(work, world)
        try:
            prometheus.wait()
            day(world)
            board = queries()
            for title, query in board:
                asked = query.replace("$__rate_interval", "60s").replace("$job", "tombolo")
                data = prometheus.get("/api/v1/query", query=asked)
                values = [s["value"][1] for s in data["result"]]
                check(values and any(v != "NaN" for v in values), title, asked, data)
            loaded = prometheus.get("/api/v1/rules")["groups"][0]["rules"]
            check({rule["name"] for rule in loaded} == alerts, "Prometheus has other alerts")
            check(all(rule["health"] == "ok" for rule in loaded), loaded)
            states = {rule["name"]: rule["state"] for rule in loaded}
            check(states["TomboloUpstreamClosed"] != "inactive", states)
            check(states["TomboloPushKeyRefused"] == "firing", states)
            check(states["TomboloDown"] == "inactive", states)
            names = set(prometheus.get("/api/v1/label/__name__/values"))
            with open(RULES) as file:
                used = set(re.findall(r"\b(?:tombolo|process)_\w+", file.read()))
            check(not used - names, "alerts name what is no metric:", used - names)
            closed = [n for n in world.notes() if n["event"] == "upstream-closed"]
            check(len(closed) == 1, "one line of a closed upstream:", closed)
        finally:
            prometheus.stop()
            world.stop()
    print(json.dumps({"alerts": len(alerts), "queries": len(board), "faults": len(FAULTS)}))
    return 1 if FAULTS else 0


sys.exit(main())
