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
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from world import BUNDLE, ROOT, World, certificate, expect, finish, folder, free_port, start, within, write

RULES = str(ROOT / "deploy/prometheus/alerts.yml")
DASHBOARD = ROOT / "deploy/grafana/tombolo.json"
# Metrics of a log in a database: the relay of this day has a data directory.
OF_DATABASES = {
    "tombolo_standbys", "tombolo_database_dead_rows", "tombolo_database_oldest_snapshot_transactions"}


def rules():
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "alerts_test.yml")
    for words in (["check", "rules", RULES], ["test", "rules", tests]):
        result = subprocess.run(["promtool", *words], capture_output=True, text=True)
        expect(result.returncode == 0, "promtool", *words, result.stdout, result.stderr)
    with open(RULES) as file:
        alerts = set(re.findall(r"- alert: (\w+)", file.read()))
    with open(tests) as file:
        text = file.read()
    for alert in sorted(alerts):
        fires = re.search(r"alertname: " + alert + r"\n\s+exp_alerts:\n", text)
        expect(fires, alert, "has no test in which it fires")
        expect(re.search(r"alertname: " + alert + r"\n\s+exp_alerts: \[\]", text),
              alert, "has no test in which it does not fire")
    return alerts


class Watched(World):
    """A relay with TLS, and how to ask and to vex it."""

    def __init__(self):
        self.tls = certificate(folder())
        super().__init__(
            "--accept-any-token", "--control", "127.0.0.1:0", phones=0, tls=self.tls, limits={"probe_max": "1s"},
            context=ssl.create_default_context(cafile=self.tls["certificate"]))
        self.start("--log", "json")

    def fault(self, *rules):
        request = urllib.request.Request(
            f"{self.simulator.ready['control']}/v1/faults", method="PUT", data=json.dumps({"rules": rules}).encode())
        urllib.request.urlopen(request, timeout=30).read()

    def notes(self):
        return [json.loads(line) for line in self.relay.said().splitlines()]


class Prometheus:
    def __init__(self, world):
        self.port, work = free_port(), folder()
        configuration = write(f"{work}/prometheus.yml", {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [RULES],
            "scrape_configs": [{
                "job_name": "tombolo", "scheme": "https", "tls_config": {"ca_file": world.tls["certificate"]},
                "authorization": {"credentials": world.key},
                "static_configs": [{"targets": [f"127.0.0.1:{world.port}"]}]}]})
        checked = subprocess.run(
            ["promtool", "check", "config", configuration], capture_output=True, text=True)
        expect(checked.returncode == 0, checked.stdout, checked.stderr)
        start("prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={work}/tsdb",
              f"--web.listen-address=127.0.0.1:{self.port}", stdout=open(f"{work}/log", "w"), stderr=subprocess.STDOUT)
        expect(within(30, self.has_the_relay), "Prometheus has nothing of the relay")

    def get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            return {"result": [], "error": error.read().decode()}

    def has_the_relay(self):
        try:
            return self.get("/api/v1/query", query="tombolo_ready")["result"]
        except (urllib.error.URLError, ConnectionError):
            return False


def day(world):
    """What happens on it, in a minute."""
    for n in range(4):
        world.call("PUT", f"/v1/devices/phone-{n}", {"app": BUNDLE, "budget_class": "lab"})
        world.call("PUT", f"/v1/devices/phone-{n}/tokens/activity:order-{n}", {"token": f"aa{n}0"})
        status, text = world.call(
            "PUT", f"/v1/activities/order-{n}",
            {"type": "Order", "audience": {"device": f"phone-{n}"}, "state": {"step": 0, "frame": 0}})
        expect(status == 201, "start", status, text)
    status, text = world.call(
        "POST", "/v1/activities/order-3/clips",
        {"tween": {"path": "/frame", "from": 0, "to": 500, "duration": "50s"}, "fit": "step"})
    expect(status == 201, "clip", status, text)

    def morning(seconds, first):
        for step in range(first, first + seconds):
            for n in range(3):
                world.call("PATCH", f"/v1/activities/order-{n}", {"state": {"step": step}})
            world.call("GET", "/v1/activities")
            world.call("GET", "/v1/activities/nobody")
            world.call("GET", "/v1/activities", Authorization="Bearer wrong")
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
        expect(panel["type"] == "row" or panel.get("description"), panel["title"], "says nothing")
    places = [tuple(p["gridPos"].values()) for p in board["panels"]]
    expect(len(set(places)) == len(places), "two panels have one place")
    return found


def main():
    alerts = rules()
    world = Watched()
    prometheus = Prometheus(world)
    day(world)
    board = queries()
    for title, query in board:
        asked = query.replace("$__rate_interval", "60s").replace("$job", "tombolo")
        data = prometheus.get("/api/v1/query", query=asked)
        values = [s["value"][1] for s in data["result"]]
        expect(values and any(v != "NaN" for v in values), title, asked, data)
    loaded = prometheus.get("/api/v1/rules")["groups"][0]["rules"]
    expect({rule["name"] for rule in loaded} == alerts, "Prometheus has other alerts")
    expect(all(rule["health"] == "ok" for rule in loaded), loaded)
    states = {rule["name"]: rule["state"] for rule in loaded}
    expect(states["TomboloUpstreamClosed"] != "inactive", states)
    expect(states["TomboloPushKeyRefused"] == "firing", states)
    expect(states["TomboloDown"] == "inactive", states)
    names = set(prometheus.get("/api/v1/label/__name__/values"))
    with open(RULES) as file:
        used = set(re.findall(r"\b(?:tombolo|process)_\w+", file.read()))
    expect(not used - names - OF_DATABASES, "alerts name what is no metric:", used - names)
    closed = [n for n in world.notes() if n["event"] == "upstream-closed"]
    expect(len(closed) == 1, "one line of a closed upstream:", closed)
    finish(alerts=len(alerts), queries=len(board))


main()
