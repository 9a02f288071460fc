"""A relay under many readers, one loud tenant or many cards: load_bench.py TOMBOLO tails|overload|looks

One line of JSON. `overload` sends PATCH as fast as wrk can, of one tenant over 230 connections, and tells how
long another tenant waits that sends 30 a second, beside how long it waits alone. `looks` tells what a search and a
page of devices cost of a relay with 100,000 cards, and what a console costs that looks at its first screen.
"""
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import time

from world import Running, World, folder, mint

FLOOD_CONNECTIONS, FLOOD_SECONDS, RATE = 230, 10, 30
TAILS, PATCHES = 1000, 300
# A key may have so many tails, and an address so many connections.
TAILS_PER_KEY, PER_ADDRESS = 64, 200


class Process:
    def __init__(self, number):
        self.number = number

    def rss(self):
        with open(f"/proc/{self.number}/status") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1])

    def cpu(self):
        """Milliseconds of the whole process."""
        return sum(int(open(f"/proc/{self.number}/task/{task}/schedstat").read().split()[0])
                   for task in os.listdir(f"/proc/{self.number}/task")) / 1e6

    def over(self, seconds):
        """Milliseconds of CPU a second, from now on for so long."""
        before, began = self.cpu(), time.monotonic()
        time.sleep(seconds)
        return round((self.cpu() - before) / (time.monotonic() - began), 2)


class Relay(Process, Running):
    """A relay of two tenants on a disk, without a way to Apple: what is measured is what producers wait for."""

    def __init__(self):
        self.work = folder()
        self.readers = [self.mint("loud") for _ in range(-(-TAILS // TAILS_PER_KEY))]
        self.keys = {"loud": self.mint("loud"), "quiet": self.mint("quiet")}
        Running.__init__(self, "serve", "--data", self.work, "--listen", "127.0.0.1:0")
        Process.__init__(self, self.process.pid)
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


def overload():
    relay = Relay()
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


def tails():
    relay = Relay()
    alone = patches(relay)
    ways = follow(relay, b"?activity=other")
    beside = patches(relay)
    time.sleep(2)
    idle = relay.over(10)
    for way in ways:
        way.close()
    time.sleep(2)
    ways = follow(relay, b"")
    return {"patch": alone, f"patch_beside_{TAILS}_tails_of_another_activity": beside,
            f"patch_that_{TAILS}_tails_read": patches(relay),
            f"cpu_ms_a_second_of_{TAILS}_idle_tails": idle}


LOOKS = 100_000
SEARCHES = ("c", "card-9", "card-99999", "phone-5", "user-1", "x", "00000000-0000-0000-0000-000000000000")
POLL_SECONDS = 60


def fill(relay):
    """So many phones, each of a user of its own and with a card that runs there."""
    for first in range(0, LOOKS, 1000):
        answers = relay.lines({
            "activity": f"card-{n}", "do": "start", "type": "Bench", "state": {"n": 0},
            "audience": {"device": f"phone-{n}", "start": "adopt"}} for n in range(first, first + 1000))
        assert all(one["ok"] for one in answers), answers[0]
    connection = http.client.HTTPConnection("127.0.0.1", relay.port)
    for n in range(LOOKS):
        for path, body in (("", {"user": f"user-{n}", "app": "com.example.app", "environment": "sandbox"}),
                           (f"/tokens/activity:card-{n}", {"token": f"{n:064x}"})):
            connection.request("PUT", f"/v1/devices/phone-{n}{path}", json.dumps(body), {
                "Authorization": f"Bearer {relay.key}", "Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status < 300, text


def cost(relay, process, path, times=50):
    """Milliseconds that an answer waits, at most and in the middle, and milliseconds of CPU."""
    waits, before = [], process.cpu()
    for _ in range(times):
        began = time.monotonic()
        relay.ask("GET", path)
        waits.append(1000 * (time.monotonic() - began))
    return {"cpu_ms": round((process.cpu() - before) / times, 2), "wait_ms": round(statistics.median(waits), 1),
            "most_ms": round(max(waits), 1)}


def looks():
    from console_bench import first_screen
    world = World(phones=0, apple={"endpoint": "https://127.0.0.1:1"}).start()
    fill(world)
    # Nothing is pushed: what is measured is who looks.
    world.ask("POST", "/v1/pauses", {"app": "com.example.app"})
    process = Process(world.relay.process.pid)
    found = {"cards": world.ask("GET", "/v1/overview")["counters"]["destinations"]}
    found["searches"] = {word: cost(world, process, f"/v1/search?q={word}") for word in SEARCHES}
    for path in ("/v1/devices?limit=200", "/v1/devices?limit=1000", "/v1/devices?silent_for=1h&limit=1000",
                 "/v1/devices?user=user-7", "/v1/overview", "/v1/requests"):
        found[path] = cost(world, process, path, 10)
    time.sleep(3)
    alone = process.over(POLL_SECONDS)
    found["cpu_ms_a_second"] = {"alone": alone}
    with first_screen(world):
        time.sleep(5)
        found["cpu_ms_a_second"]["first_screen"] = process.over(POLL_SECONDS)
    return found


if __name__ == "__main__":
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(json.dumps({"overload": overload, "tails": tails, "looks": looks}[sys.argv[2]]()))
