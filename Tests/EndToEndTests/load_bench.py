"""A relay under many readers or one loud tenant: load_bench.py TOMBOLO tails|overload

One line of JSON. `overload` sends PATCH as fast as wrk can, of one tenant over 230 connections, and tells how
long another tenant waits that sends 30 a second, beside how long it waits alone.
"""
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time

from world import Running, folder, mint

FLOOD_CONNECTIONS, FLOOD_SECONDS, RATE = 230, 10, 30
TAILS, PATCHES = 1000, 300
# A key may have so many tails, and an address so many connections.
TAILS_PER_KEY, PER_ADDRESS = 64, 200


class Relay(Running):
    """A relay of two tenants on a disk, without a way to Apple: what is measured is what producers wait for."""

    def __init__(self):
        self.work = folder()
        self.readers = [self.mint("loud") for _ in range(-(-TAILS // TAILS_PER_KEY))]
        self.keys = {"loud": self.mint("loud"), "quiet": self.mint("quiet")}
        super().__init__("serve", "--data", self.work, "--listen", "127.0.0.1:0")
        self.port = int(self.ready["api"].rsplit(":", 1)[1])

    def mint(self, tenant):
        return mint("all", "--tenant", tenant, "--data", self.work)

    def ask(self, connection, tenant, method, path, body=None):
        connection.request(method, path, body=json.dumps(body) if body else None, headers={
            "Authorization": "Bearer " + self.keys[tenant], "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status < 300, (path, answer.status, text)

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port)

    def rss(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])

    def cpu(self):
        """Milliseconds of the whole process."""
        return sum(int(open(f"/proc/{self.process.pid}/task/{task}/schedstat").read().split()[0])
                   for task in os.listdir(f"/proc/{self.process.pid}/task")) / 1e6


def neighbour(relay, seconds):
    """Milliseconds that each PATCH of the quiet tenant waits, at 30 a second."""
    connection, waits, until = relay.connect(), [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        relay.ask(connection, "quiet", "PATCH", "/v1/activities/mine", {"state": {"n": len(waits)}})
        waits.append(1000 * (time.monotonic() - began))
        time.sleep(max(0, 1 / RATE - (time.monotonic() - began)))
    return {"median_ms": round(statistics.median(waits), 2),
            "p99_ms": round(statistics.quantiles(waits, n=100)[98], 2)}


def overload(relay):
    connection = relay.connect()
    for tenant, name in (("quiet", "mine"), ("loud", "loud")):
        relay.ask(connection, tenant, "PUT", f"/v1/activities/{name}", {"type": "Bench", "state": {"n": 0}})
    with open(os.path.join(relay.work, "flood.lua"), "w") as file:
        file.write('wrk.method = "PATCH"\nwrk.body = \'{"state":{"n":1}}\'\n'
                   f'wrk.headers["Authorization"] = "Bearer {relay.keys["loud"]}"\n'
                   'wrk.headers["Content-Type"] = "application/json"\n')
    wrk = ["wrk", "-t1", f"-c{FLOOD_CONNECTIONS}", "-s", file.name,
           f"http://127.0.0.1:{relay.port}/v1/activities/loud"]
    alone, rss = neighbour(relay, FLOOD_SECONDS), relay.rss()
    flood = subprocess.Popen(wrk[:1] + [f"-d{FLOOD_SECONDS + 1}s"] + wrk[1:], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    beside = neighbour(relay, FLOOD_SECONDS)
    rate = next(line for line in flood.communicate()[0].splitlines() if line.startswith("Requests/sec"))
    return {"alone": alone, "beside": beside, "ratio": round(beside["median_ms"] / alone["median_ms"], 2),
            "flood_per_s": round(float(rate.split()[1])), "rss_kb": rss, "rss_after_kb": relay.rss()}


def follow(relay, query):
    """Opens tails, each on a connection of its own."""
    ways = []
    for number in range(TAILS):
        source = f"127.0.1.{1 + number // PER_ADDRESS}"
        way = socket.create_connection(("127.0.0.1", relay.port), source_address=(source, 0))
        way.sendall(b"GET /v1/tail%s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n"
                    % (query, relay.readers[number // TAILS_PER_KEY].encode()))
        answer = way.recv(4096)
        assert b" 200 " in answer[:16], answer
        ways.append(way)
    return ways


def patches(relay):
    """Milliseconds of CPU of a PATCH, and those that it waits."""
    connection, waits = relay.connect(), []
    for name in ("mine", "other"):
        relay.ask(connection, "loud", "PUT", f"/v1/activities/{name}?restart=true", {"type": "Bench", "state": {"n": 0}})
    time.sleep(1)
    before = relay.cpu()
    for n in range(PATCHES):
        began = time.monotonic()
        relay.ask(connection, "loud", "PATCH", "/v1/activities/mine", {"state": {"n": n + 1}})
        waits.append(1000 * (time.monotonic() - began))
    time.sleep(0.5)
    return {"cpu_ms": round((relay.cpu() - before) / PATCHES, 3), "wait_ms": round(statistics.median(waits), 3)}


def tails(relay):
    alone = patches(relay)
    ways = follow(relay, b"?activity=other")
    beside = patches(relay)
    time.sleep(2)
    before, began = relay.cpu(), time.monotonic()
    time.sleep(10)
    idle = (relay.cpu() - before) / (time.monotonic() - began)
    for way in ways:
        way.close()
    time.sleep(2)
    ways = follow(relay, b"")
    return {"patch": alone, f"patch_beside_{TAILS}_tails_of_another_activity": beside,
            f"patch_that_{TAILS}_tails_read": patches(relay),
            f"cpu_ms_a_second_of_{TAILS}_idle_tails": round(idle, 2)}


if __name__ == "__main__":
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(json.dumps({"overload": overload, "tails": tails}[sys.argv[2]](Relay())))
