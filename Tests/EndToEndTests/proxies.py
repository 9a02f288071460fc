#!/usr/bin/env python3
"""nginx, HAProxy and Caddy before a relay, configured as deploy/README.md says.

Usage: proxies.py PROGRAM

The configurations are the page's own. Ports, files and the network inside are replaced; a text to
replace that is not there is a fault. curl speaks TLS and HTTP/2 to each. From 127.0.0.1, which is
inside, it starts and changes a card, follows two tails past the proxy's time limit, and sends a batch
of 6 MB and a head of nearly 16 KiB; the program's own commands do the like. From 127.0.0.2 each path
of RouteTable.swift goes through or is refused, by whether a phone's key may open it. Then the relay
is killed, and each proxy says so soon.
A proxy that is not installed is skipped. The last line on stdout is the summary, as JSON; the exit
status is 0 where all went as expected.
"""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import threading
import time

from batch_through_nginx import LINES, batch, read
from world import PROGRAM, ROOT, Dev, certificate, check, equal, finish, folder, free_port, start, tombolo, within

NAME, INSIDE, OUTSIDE = "localhost", "127.0.0.1", "127.0.0.2"
# In the place of the page's 60 s. A tail is idle for longer: only the relay's heartbeat, every 15 s,
# keeps it.
LIMIT, IDLE = "17s", 19
PHONE = ("ownDevice", "ownDeviceOrObserve", "anyDeviceOrObserve")
PATH = os.environ["PATH"] + ":/usr/sbin"
COMMANDS = {
    "nginx": ["nginx", "-q", "-c"],
    "haproxy": ["haproxy", "-db", "-q", "-f"],
    "caddy": ["caddy", "run", "--adapter", "caddyfile", "--config"],
}


def text_of(path):
    return (ROOT / path).read_text()


def routes():
    """Method, path, and whether a phone's key may open it."""
    rows = re.findall(r'Route\(\s*"(\w+)", "([^"]+)", \.\w+, \.(\w+)',
                      text_of("Sources/TomboloServer/Routing/RouteTable.swift"))
    assert len(rows) > 70 and any(access in PHONE for _, _, access in rows), "no routes"
    return [(method, re.sub(r"\{\w+\}", "a1", path), access in PHONE) for method, path, access in rows]


class Relay(Dev):
    """`tombolo dev`, whose phones show what came through."""

    def __init__(self):
        self.work = folder()
        super().__init__("--data", self.path("data"))
        self.port = int(self.api.rsplit(":")[-1])

    def path(self, name):
        return os.path.join(self.work, name)


class Proxy:
    """One of them, with the page's configuration."""

    def __init__(self, name, world):
        self.name, self.port, self.world = name, free_port(), world
        folder = world.path(name)
        os.mkdir(folder, 0o755)
        with open(folder + "/configuration", "w") as file:
            file.write(self.configuration(folder))
        self.output = open(folder + "/output", "w")
        self.process = start(
            *COMMANDS[name], folder + "/configuration", stdout=self.output, stderr=self.output,
            env=os.environ | {"HOME": folder, "PATH": PATH})

    def configuration(self, folder):
        found = re.search(rf"^```{self.name}\n(.*?)^```$", text_of("deploy/README.md"), re.M | re.S)
        text, path = found.group(1), self.world.path
        changes = {"127.0.0.1:8780": f"127.0.0.1:{self.world.port}", "10.0.0.0/8": INSIDE + "/32"}
        if self.name != "haproxy":
            changes["relay.example.com"] = NAME
        if self.name == "haproxy":
            changes |= {"/etc/ssl/private/relay.pem": path("both.pem")}
        else:
            changes |= {"/etc/ssl/relay.pem": path("tls.pem"), "/etc/ssl/private/relay.key": path("tls.key")}
        changes |= {
            "nginx": {"listen 443 ": f"listen 127.0.0.1:{self.port} ", "60s": LIMIT},
            "haproxy": {"bind :443 ": f"bind 127.0.0.1:{self.port} ", "60s": LIMIT},
            "caddy": {NAME + " {": f"https://{NAME}:{self.port} {{\n    bind 127.0.0.1"},
        }[self.name]
        for old, new in changes.items():
            assert old in text, f"{self.name}: the page's configuration has no {old}"
            text = text.replace(old, new)
        if self.name == "caddy":
            return "{\n    admin off\n    auto_https off\n}\n" + text
        if self.name == "haproxy":
            return text
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        folders = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        return (f"daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}\n"
                f"http {{ access_log off; {folders}\n{text} }}")

    def serves(self):
        with open(self.output.name) as said:
            check(within(10, lambda: self.ask("/livez")[0] == 200), self.name, said.read())
        return self

    @property
    def environment(self):
        """For a command of the program that asks through this proxy."""
        return {"TOMBOLO_RELAY": f"https://{NAME}:{self.port}", "TOMBOLO_KEY": self.world.key,
                "TOMBOLO_CA": self.world.path("tls.pem")}

    def curl(self, paths, *words, source=INSIDE, form=""):
        return ["curl", "-sS", "--max-time", "35", "--cacert", self.world.path("tls.pem"),
                "--resolve", f"{NAME}:{self.port}:127.0.0.1", "--interface", source, "-w", form, *words,
                *(f"https://{NAME}:{self.port}{path}" for path in paths)]

    def ask(self, path, *words, body="application/json"):
        """Status and answer."""
        asked = subprocess.run(
            self.curl([path], "-H", f"Authorization: Bearer {self.world.key}", "-H",
                      f"Content-Type: {body}", *words, form="%{stderr}%{http_version} %{http_code}"),
            capture_output=True)
        version, _, status = asked.stderr.decode().rpartition(" ")
        equal(f"{self.name}: version of HTTP", True, status == "000" or version == "2")
        return int(status), asked.stdout.decode()


class Tail:
    """A tail through a proxy: its heartbeats, and the activities that it tells of."""

    def __init__(self, proxy, kind):
        self.name, self.kind, self.seen, self.beats = f"{proxy.name}, tail as {kind}", kind, set(), 0
        self.process = start(
            *proxy.curl(["/v1/tail"], "-N", "-H", "Accept: " + kind, "-H", f"Authorization: Bearer {proxy.world.key}"),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        beat = ": heartbeat\n" if self.kind == "text/event-stream" else "\n"
        for line in self.process.stdout:
            self.beats += line == beat
            self.seen |= set(re.findall(r'"activity":"([^"]+)"', line))

    def expect(self, activity):
        equal(f"{self.name}: {activity} within 2 s", True, within(2, lambda: activity in self.seen))
        equal(f"{self.name}: heartbeats", True, self.beats > 0)


def outside(proxy):
    """Without a key: the relay says 401 where the proxy lets a request through."""
    for method in sorted({method for method, _, _ in routes()}):
        rows = [(path, phone) for one, path, phone in routes() if one == method]
        asked = subprocess.run(
            proxy.curl([path for path, _ in rows], "-X", method, source=OUTSIDE,
                       form="%{stderr}%{http_code} "), capture_output=True)
        for (path, phone), status in zip(rows, asked.stderr.decode().split(), strict=True):
            equal(f"{proxy.name}: {method} {path} from outside", "401" if phone else "403", status)


def roundabout(proxy):
    """Paths that go up, written in escapes: neither the proxy nor the relay carries one out."""
    inside = sorted({path.split("/")[2] for _, path, phone in routes() if path.startswith("/v1/") and not phone})
    for method in ("GET", "PUT", "DELETE"):
        paths = [f"/v1/{name}/{turn}" for name in inside for turn in ("..%2fdevices%2fa1", "%2e%2e%2fdevices%2fa1")]
        asked = subprocess.run(
            proxy.curl(paths, "--path-as-is", "-X", method, "-H", f"Authorization: Bearer {proxy.world.key}", "-H",
                       "Content-Type: application/json", "-d", "{}", source=OUTSIDE,
                       form="%{stderr}[%{http_code}]"), capture_output=True)
        # A proxy that refuses a request may end it before its body: 000.
        statuses = re.findall(r"\[(\d+)\]", asked.stderr.decode())
        for path, status in zip(paths, statuses, strict=True):
            refused = status in ("000", "400", "403", "404")
            equal(f"{proxy.name}: {method} {path} is refused, not {status}", True, refused)


def card(proxy, tails):
    path, start = f"/v1/activities/{proxy.name}", {"type": "Any", "audience": {"device": "phone-1"}}
    asked = proxy.ask(path, "-X", "PUT", "-d", json.dumps(start | {"state": {"step": 1}}))
    equal(f"{proxy.name}: start: {asked[1]}", 201, asked[0])
    asked = proxy.ask(path, "-X", "PATCH", "-d", '{"state":{"step":2}}')
    equal(f"{proxy.name}: change: {asked[1]}", 200, asked[0])
    for tail in tails:
        tail.expect(proxy.name)


def large(proxy):
    lines, expected = batch(proxy.name, LINES)
    path = proxy.world.path("in.ndjson")
    with open(path, "wb") as file:
        file.writelines(lines)
    status, answer = proxy.ask("/v1/events", "--data-binary", "@" + path, body="application/x-ndjson")
    equal(f"{proxy.name}: status of the batch", 200, status)
    equal(f"{proxy.name}: each line is answered, in order", True, expected == read(answer.splitlines()))
    status, _ = proxy.ask("/v1/activities", "-H", "Cookie: " + "c" * 15_600)
    equal(f"{proxy.name}: a head of nearly 16 KiB", 200, status)


def commands(proxy):
    """The program's own commands."""
    def run(*words):
        done = tombolo(*words, **proxy.environment)
        equal(f"{proxy.name}: tombolo {words[0]}: {done.stderr}", 0, done.returncode)
        return done.stdout

    name, path = f"{proxy.name}-command", proxy.world.path
    run("start", name, "--type", "OrderAttributes", "--device", "phone-2", "--alert-title", "In", "-s", "step=baking")
    run("expect", "phone-2", name, "-s", "step=baking", "--within", "20s")
    lines, expected = batch(name, LINES)
    with open(path("in.ndjson"), "wb") as file:
        file.writelines(lines)
    answers = read(run("append", path("in.ndjson"), "-o", "jsonl").splitlines())
    equal(f"{proxy.name}: append: each line is answered, in order", True, expected == answers)
    equal(f"{proxy.name}: tail", 1, run("tail", "--since", "0", "--activity", name, "--limit", "1").count(name))
    run("backup", "create", path(f"{proxy.name}-copy"), "--data", path("data"))
    trickle(proxy, name)


def trickle(proxy, name):
    """Lines that come one by one are answered one by one, each with its place in the whole input."""
    process = start(PROGRAM, "append", "-", "-o", "jsonl", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL, env=os.environ | proxy.environment)
    for number in (1, 2, 3):
        process.stdin.write(json.dumps({"activity": name, "do": "nothing"}) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline() if select.select([process.stdout], [], [], 10)[0] else "{}"
        equal(f"{proxy.name}: line {number} of a trickle", number, json.loads(answer).get("line"))
    process.stdin.close()
    equal(f"{proxy.name}: append of refused lines", 6, process.wait(20))


def without_relay(proxy):
    """Seconds until the proxy says that it has none."""
    began = time.monotonic()
    status, _ = proxy.ask("/v1/activities")
    seconds = time.monotonic() - began
    equal(f"{proxy.name}: 502 or 503 within 5 s", True, status in (502, 503) and seconds < 5)
    return round(seconds, 1)


world = Relay()
certificate(world.work, NAME, "DNS:" + NAME)
with open(world.path("both.pem"), "w") as both:
    both.write(text_of(world.path("tls.pem")) + text_of(world.path("tls.key")))
proxies = [Proxy(name, world).serves() for name in COMMANDS if shutil.which(name, path=PATH)]
tails = {proxy: [Tail(proxy, kind) for kind in ("text/event-stream", "application/x-ndjson")] for proxy in proxies}
began = time.monotonic()
for proxy in proxies:
    outside(proxy)
    roundabout(proxy)
time.sleep(max(0, began + IDLE - time.monotonic()))
for proxy in proxies:
    card(proxy, tails[proxy])
    large(proxy)
    commands(proxy)
world.end(signal.SIGKILL)
away = {proxy.name: without_relay(proxy) for proxy in proxies}
equal("there is a proxy", True, bool(away))
finish(without_relay_s=away, skipped=sorted(COMMANDS.keys() - away.keys()))
