#!/usr/bin/env python3
"""Verdicts of a server that nobody here wrote, against the whole relay.

Usage: verdicts.py PROGRAM

nginx stands in Apple's part and answers by the token's first digits: 200, 410, 429, 503, 400 of two
kinds. Every push ends in its class, tokens are retired as they should be, and the relay's books say so.
Then nginx heals, and whoever was only held back holds the newest state. The last line on stdout is the
summary, as JSON; the exit status is 0 where all went as expected.
"""
import collections
import signal
import time

from world import BUNDLE, Nginx, World, certificate, end, equal, expect, finish, folder, within

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

TLS = certificate(folder())
SERVER = """
    listen 127.0.0.1:{port} ssl http2; keepalive_requests 1000000; default_type application/json;
    ssl_certificate %(certificate)s; ssl_certificate_key %(key)s;
    access_log pushes.log push;
""" % TLS
LOG = "log_format push '$request_uri $status';"
ELSE = "location /3/device/ { return 200; }"


def run(nginx, relay):
    devices = {}
    for digit in KINDS:
        for number in range(DEVICES):
            name = f"{digit}-{number}"
            devices[name] = digit
            relay.ask("PUT", f"/v1/devices/{name}", {"app": BUNDLE, "budget_class": "lab"})
            relay.ask("PUT", f"/v1/devices/{name}/tokens/activity:cat", {"token": digit + "0" * 14 + str(number)})
    relay.ask("PUT", "/v1/activities/cat", {
        "type": "Any", "audience": {"devices": list(devices), "start": "adopt"}, "state": {"lap": 0}})
    for lap in range(1, 11):
        relay.ask("PATCH", "/v1/activities/cat", {"state": {"lap": lap}, "urgency": "high"})
        time.sleep(0.3)

    def shown():
        return {one["device"]: one for one in relay.ask("GET", "/v1/activities/cat")["destinations"]}

    def hold(version, kinds, seconds):
        """All phones of some kinds come to hold a version."""
        expect(within(seconds, lambda: all(
            phone["acknowledged_version"] == version for name, phone in shown().items() if devices[name] in kinds)),
            f"the phones {kinds} do not hold version {version} within {seconds} s")

    hold(11, "a", 60)
    time.sleep(3)
    # Who is held back has not got it, and is told why; whose token is gone gets nothing more.
    for name, destination in shown().items():
        kind, stays = KINDS[devices[name]]
        tokens = relay.ask("GET", f"/v1/devices/{name}")["tokens"]
        equal(f"{name}: tokens", 1 if stays else 0, len(tokens))
        equal(f"{name}: gone", not stays, destination["phase"] in ("gone", "unreachable"))
        if kind == "held_back":
            expect("waiting" in destination, f"{name} does not wait")
    dead = relay.ask("GET", "/v1/dead-letters?limit=1000")["dead_letters"]
    reasons = collections.Counter((d["device"][0], d["reason"]) for d in dead)
    equal("dead letters", {"e", "f"}, {digit for digit, _ in reasons})
    nginx.configure(SERVER + ELSE, LOG)
    nginx.process.send_signal(signal.SIGHUP)
    hold(11, "acd", 120)
    relay.ask("PATCH", "/v1/activities/cat", {"state": {"lap": 11}, "urgency": "high"})
    hold(12, [digit for digit, (_, stays) in KINDS.items() if stays], 60)
    # The books: every event is in one class at each phone, and every push in one class too.
    for book in relay.ask("GET", "/v1/activities/cat/deliveries?limit=1000")["destinations"]:
        events = book["events"]
        classes = sum(events[k] for k in ("sent", "merged", "skipped", "expired", "refused"))
        equal(f"{book['device']}: asked, decided and waiting", (12, 12, 0),
              (events["asked"], classes, events["waiting"]))
    figures = relay.metrics()
    sent = figures["tombolo_pushes_sent_total"]
    results = {k: v for k, v in figures.items() if k.startswith("tombolo_push_results_total")}
    equal("pushes by class", sent, sum(results.values()))
    end(relay.relay.process)
    end(nginx.process)
    with open(f"{nginx.work}/pushes.log") as file:
        pushes = [line.split() for line in file]
    equal("pushes that nginx saw", sent, len(pushes))
    by_status = collections.Counter(status for _, status in pushes)
    equal("accepted", by_status["200"], results['tombolo_push_results_total{result="accepted"}'])
    # Nothing goes to a token after its retirement is on record.
    for uri, count in collections.Counter(uri for uri, _ in pushes).items():
        if uri.split("/")[-1][0] in "bf":
            equal(f"pushes to {uri}", 1, count)
    finish(pushes=sent, by_status=dict(sorted(by_status.items())), results=results,
           dead_letters={f"{d} {r}": n for (d, r), n in sorted(reasons.items())})


server = Nginx(SERVER + VERDICTS + ELSE, LOG)
run(server, World(apple={"endpoint": f"https://127.0.0.1:{server.port}", "ca_file": TLS["certificate"]},
                  limits={"probe_max": "1s"}).start())
