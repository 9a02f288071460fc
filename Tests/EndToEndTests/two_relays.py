#!/usr/bin/env python3
"""Two relays on one log behind HAProxy, under load, while one after the other is struck.

Usage: deploy/postgres/server two_relays.py PROGRAM [--rounds N] [--deed NAME]

Each relay is started again a second after it ends. HAProxy is configured as deploy/README.md says. Commits wait for a
real standby. Producers send through HAProxy, and repeat with the same Idempotency-Key what was not answered. Between a
relay and the simulator's Apple a recorder reads each push; between a relay and the server is a cable. The deeds:

  kill      kill -9 of the owner                        stop     SIGSTOP of the owner for 12 s, then SIGCONT
  term      SIGTERM to the owner                        lock     a session locks `retired` or `event` for 8 s
  standby   the synchronous standby hangs for 12 s      restart  the server's processes are ended, and start again
  cut       in turns: the owner's sessions are ended, its connections are reset, its way to the server is silent for
            12 s

The last line on stdout is the summary, as JSON; the exit status is 0 where all held.
"""
import argparse
import asyncio
import collections
import contextlib
import http.client
import itertools
import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.parse

from world import (
    BUNDLE, KEY_ID, PROGRAM, ROOT, TEAM_ID, Running, certificate, check, end, expect, finish, folder, free_port, freeze,
    metrics, mint, psql, push_key, start, start_standby, thaw, tombolo, within, write)

try:
    import hpack
except ImportError:
    hpack = None  # Then nobody reads the priorities of pushes, and windows are not judged.

SERVER = urllib.parse.urlsplit(os.environ["TOMBOLO_POSTGRES"])
# Phones with a card all the time, and phones whose cards live for seconds.
SCHEMA, LONG, SHORT = "cluster", 20, 20
# What a card of class `standard` may be sent at priority 10.
BURST, PER_HOUR = 4, 10
# The longest time without an acknowledged event, in seconds. An owner that ends as asked hands its log on.
GAP, GAP_AFTER_TERM = 10, 4
# A push that was on its way when another relay took the log.
ON_ITS_WAY = 0.1
WORK = folder()


# MARK: what goes by

PLUMBING = asyncio.new_event_loop()
threading.Thread(target=PLUMBING.run_forever, daemon=True).start()


def listen(handle, **more):
    port = free_port()
    opening = asyncio.start_server(handle, "127.0.0.1", port, **more)
    asyncio.run_coroutine_threadsafe(opening, PLUMBING).result(10)
    return port


async def pump(reader, writer, passed=lambda data: None, gate=None):
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            if gate:
                await gate.wait()
            passed(data)
            writer.write(data)
            await writer.drain()
    writer.transport.abort()


class Cable:
    """A relay's way to the server."""

    def __init__(self):
        self.gate, self.ends = asyncio.Event(), set()
        self.gate.set()
        self.port = listen(self.join)

    async def join(self, reader, writer):
        try:
            far_reader, far = await asyncio.open_connection(SERVER.hostname, SERVER.port)
        except OSError:
            return writer.transport.abort()
        self.ends |= {writer, far}
        await asyncio.gather(pump(reader, far, gate=self.gate), pump(far_reader, writer, gate=self.gate))
        self.ends -= {writer, far}

    def reset(self):
        PLUMBING.call_soon_threadsafe(lambda: [one.transport.abort() for one in list(self.ends)])

    def silent(self, isSilent):
        PLUMBING.call_soon_threadsafe(self.gate.clear if isSilent else self.gate.set)


class Push:
    def __init__(self, relay, headers, body):
        aps = json.loads(body)["aps"]
        self.at, self.relay, self.status = time.time(), relay, None
        self.token, self.priority = headers.get(":path"), headers.get("apns-priority", "10")
        self.event, self.card = aps.get("event"), aps.get("content-state", {}).get("card")
        self.alert = aps.get("alert", {}).get("title")

    def may_be_there(self):
        return self.status in (None, "200")


class Frames:
    """One direction of HTTP/2 (RFC 9113, 4.1): calls `ended` with each stream's header block and body."""

    def __init__(self, skip, ended):
        self.bytes, self.skip, self.ended = bytearray(), skip, ended
        self.blocks, self.heads, self.bodies = {}, {}, collections.defaultdict(bytes)
        self.decoder = hpack and hpack.Decoder()

    def __call__(self, data):
        self.bytes += data
        if len(self.bytes) < self.skip:
            return
        del self.bytes[:self.skip]
        self.skip = 0
        while len(self.bytes) >= 9 and len(self.bytes) >= (size := 9 + int.from_bytes(self.bytes[:3], "big")):
            kind, flags, stream = self.bytes[3], self.bytes[4], int.from_bytes(self.bytes[5:9], "big") & 0x7fffffff
            content = bytes(self.bytes[9:size])
            del self.bytes[:size]
            self.frame(kind, flags, stream, content)

    def frame(self, kind, flags, stream, content):
        isData, isHead = kind == 0, kind == 1
        if (isData or isHead) and flags & 8:
            content = content[1:len(content) - content[0]]
        if isHead and flags & 32:
            content = content[5:]
        if isData:
            self.bodies[stream] += content
        elif isHead or kind == 9:
            self.blocks[stream] = self.blocks.get(stream, b"") + content
            if flags & 4:
                block = self.blocks.pop(stream)
                self.heads[stream] = dict(self.decoder.decode(block)) if hpack else {}
        if (isData or isHead) and flags & 1:
            self.ended(stream, self.heads.pop(stream, {}), self.bodies.pop(stream, b""))


class Recorder:
    """Apple's address for one relay: hands all on to the simulator, and keeps each push."""
    pushes = []

    def __init__(self, relay, apple, trusts):
        self.relay, self.apple = relay, apple
        near, self.far = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl._create_unverified_context()
        near.load_cert_chain(trusts["certificate"], trusts["key"])
        near.set_alpn_protocols(["h2"])
        self.far.set_alpn_protocols(["h2"])
        self.port = listen(self.join, ssl=near)

    async def join(self, reader, writer):
        try:
            far_reader, far = await asyncio.open_connection("127.0.0.1", self.apple, ssl=self.far)
        except OSError:
            return writer.transport.abort()
        open_streams = {}

        def asked(stream, headers, body):
            open_streams[stream] = push = Push(self.relay, headers, body)
            self.pushes.append(push)

        def answered(stream, headers, _):
            open_streams.pop(stream).status = headers.get(":status", "200")
        # A client's first 24 bytes are no frame.
        await asyncio.gather(pump(reader, far, Frames(24, asked)), pump(far_reader, writer, Frames(0, answered)))


# MARK: the relays


class Relay(threading.Thread):
    """A relay that is started again."""

    def __init__(self, name, apple, trusts):
        super().__init__(daemon=True, name=name)
        self.port, self.cable = free_port(), Cable()
        self.pids, self.process, self.isOver, self.ends = set(), None, False, collections.Counter()
        database = {
            "postgres": {"host": "127.0.0.1", "port": self.cable.port, "dbname": SERVER.path[1:], "user": "tests"},
            "pepper_file": f"{WORK}/pepper", "schema": SCHEMA, "durability": "standby"}
        app = {"id": BUNDLE, "team_id": TEAM_ID, "key_id": KEY_ID, "key_file": f"{WORK}/key.p8",
               "environment": "sandbox", "ca_file": trusts["certificate"],
               "endpoint": f"https://127.0.0.1:{Recorder(name, apple, trusts).port}"}
        self.configuration = write(f"{WORK}/{name}.json", {
            "listen": f"127.0.0.1:{self.port}", "database": database, "apps": [app],
            "budgets": {"start": {"burst": 1000, "per_hour": None},
                        "standard": {"burst": BURST, "per_hour": PER_HOUR}}})

    def run(self):
        while not self.isOver:
            with open(f"{WORK}/{self.name}.log", "a") as errors:
                self.process = start(PROGRAM, "serve", "--config", self.configuration, stdout=subprocess.DEVNULL,
                                     stderr=errors)
            self.pids.add(str(self.process.pid))
            self.ends[self.process.wait()] += 1
            time.sleep(1)

    def ask(self, path, **fields):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1)
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        return 0, ""

    def status(self):
        """What /readyz says."""
        return (self.ask("/readyz", Accept="application/json")[1].split('"status":"') + [""])[1].split('"')[0]


class Owners(threading.Thread):
    """Who owns the log since when, by the server's commits."""

    def __init__(self, relays):
        super().__init__(daemon=True)
        self.relays, self.seen, self.epoch = relays, [], 0
        self.look()
        self.start()

    def look(self):
        with contextlib.suppress(subprocess.SubprocessError):
            epoch, holder, at = psql(
                f"SELECT epoch, holder, extract(epoch FROM pg_xact_commit_timestamp(xmin)) FROM {SCHEMA}.owner",
                url=f"{SERVER.geturl()}?connect_timeout=2", timeout=5).split("|")
            if int(epoch) != self.epoch and holder:
                self.epoch = int(epoch)
                # A holder is a machine, a process and something random.
                self.seen.append((float(at), next(one for one in self.relays if holder.split("-")[-2] in one.pids)))

    def run(self):
        while True:
            time.sleep(0.3)
            self.look()

    @property
    def now(self):
        return self.seen[-1][1]

    @property
    def other(self):
        return next(one for one in self.relays if one is not self.now)

    def at(self, moment):
        return next((relay.name for since, relay in reversed(self.seen) if since <= moment), None)


def start_haproxy(relays):
    """As the page says, but for addresses and TLS. Answers its port."""
    blocks = re.findall(r"^```haproxy\n(.*?)^```$", (ROOT / "deploy/README.md").read_text(), re.M | re.S)
    head, backend = blocks[0].split("frontend ")[0], next(block for block in blocks if "httpchk" in block)
    for relay, address in zip(relays, ("10.0.0.11:8780", "10.0.0.12:8780"), strict=True):
        check(address in backend, "the page's configuration has no", address)
        backend = backend.replace(address, f"127.0.0.1:{relay.port}")
    port = free_port()
    front = f"frontend relay\n    bind 127.0.0.1:{port}\n    default_backend tombolo\n"
    start("haproxy", "-db", "-q", "-f", write(f"{WORK}/haproxy.cfg", head + front + backend),
          env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}, stderr=subprocess.DEVNULL)
    return port


# MARK: the load


class Client(threading.Thread):
    """Repeats each request until it is answered, and keeps when that was."""
    acknowledged, refused, isOver, port, key = [], [], False, None, None

    def __init__(self, name, pause, body):
        super().__init__(daemon=True, name=name)
        self.connection, self.pause, self.body = None, pause, body
        self.start()

    def once(self, method, path, data, **fields):
        try:
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=4)
            self.connection.request(method, path, data, {"Authorization": f"Bearer {self.key}", **fields})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            self.connection = None
            return 0, b""

    def send(self, method, path, key, body):
        data = json.dumps(body).encode()
        while True:
            status, text = self.once(method, path, data, **{"Content-Type": "application/json", "Idempotency-Key": key})
            if status in (200, 201):
                return self.acknowledged.append((time.time(), key, json.loads(text)["seq"]))
            # The first 409 is of a relay that has not stored the same request yet.
            if status in range(400, 500) and b"idempotency-key-running" not in text:
                return self.refused.append((key, status, text))
            time.sleep(0.1)

    def send_lines(self, lines):
        while lines:
            data = "".join(json.dumps(line) + "\n" for line in lines).encode()
            status, text = self.once("POST", "/v1/events", data, **{"Content-Type": "application/x-ndjson"})
            rows = [json.loads(row) for row in text.splitlines()] if status == 200 else []
            done = {row["id"]: row["seq"] for row in rows if row.get("ok")}
            self.acknowledged.extend((time.time(), key, seq) for key, seq in done.items())
            lines = [line for line in lines if line["id"] not in done]
            time.sleep(0.1 if lines else 0)

    def start_card(self, card, phone=None):
        body = {"type": "OrderAttributes", "state": {"card": card, "key": card}}
        if phone:
            body |= {"audience": {"device": f"phone-{phone}"}, "alert": {"title": card}}
        self.send("PUT", f"/v1/activities/{card}", card, body)

    def update(self, card, key, alert=False, **more):
        self.send("PATCH", f"/v1/activities/{card}", key,
                  {"state": {"key": key}, **({"alert": {"title": key}} if alert else {}), **more})

    def run(self):
        for number in itertools.count():
            if self.isOver:
                return
            self.body(self, number)
            time.sleep(self.pause)


def updates(client, number):
    card = f"plain-{client.name}"
    client.update(card, f"{client.name}-{number}") if number else client.start_card(card)


def batches(client, number):
    if number == 0:
        return client.start_card("plain-batch")
    client.send_lines([{"id": f"batch-{number}-{line}", "activity": "plain-batch", "do": "update",
                        "state": {"key": f"{number}-{line}"}} for line in range(40)])


def short_cards(client, number):
    """Each lives for some seconds, and has two alerts beside its start's."""
    client.start_card(f"short-{number}", LONG + 1 + number % SHORT)
    for age in (8, 16):
        if number >= age:
            client.update(f"short-{number - age}", f"short-alert-{age}-{number}", alert=True)
    if number >= 30:
        client.send("POST", f"/v1/activities/short-{number - 30}/end", f"short-end-{number}", {"dismiss": "now"})


def long_cards(client, number):
    """More changes than their budgets have."""
    phone = number % LONG + 1
    if number < LONG:
        return client.start_card(f"long-{phone}", phone)
    client.update(f"long-{phone}", f"long-change-{number}", alert=number % 3 == 0, urgency="high")


class Follower(threading.Thread):
    """A tail through HAProxy, which goes on from its cursor wherever it is cut."""

    def __init__(self):
        super().__init__(daemon=True)
        self.place, self.seqs, self.cuts = "since=0", [], 0
        self.start()

    def run(self):
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.follow()
            time.sleep(0.2)

    def follow(self):
        connection = http.client.HTTPConnection("127.0.0.1", Client.port, timeout=30)
        connection.request("GET", f"/v1/tail?kind=command&{self.place}", headers={
            "Authorization": f"Bearer {Client.key}", "Accept": "application/x-ndjson"})
        answer = connection.getresponse()
        expect(answer.status not in (400, 404, 410), "the follower is answered", answer.status)
        self.cuts += answer.status == 200
        for line in answer if answer.status == 200 else ():
            if line.startswith(b"{") and line.endswith(b"\n"):
                row = json.loads(line)
                self.seqs.append(row["seq"])
                self.place = f"cursor={row['cursor']}"


# MARK: the deeds


class Cluster:
    frozen = []

    def __init__(self):
        psql("ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET track_commit_timestamp = on")
        subprocess.run([os.environ["TOMBOLO_POSTGRES_RESTART"]], check=True)
        # A standby whose primary restarts asks again soon.
        start_standby(f"{WORK}/standby", "wal_retrieve_retry_interval = '200ms'")
        psql("ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
        push_key(f"{WORK}/key.p8")
        trusts, apple = certificate(WORK), free_port()
        self.relays = [Relay(name, apple, trusts) for name in ("relay-a", "relay-b")]
        self.configuration = self.relays[0].configuration
        made = tombolo("log", "create", "--config", self.configuration)
        check(made.returncode == 0, "log create:", made.stderr)
        Client.key, Client.port = mint("all", "--config", self.configuration), start_haproxy(self.relays)
        for relay in self.relays:
            relay.start()
        # Long cards have a budget, short ones have none.
        settings = ["all.starts=1000000", "all.class=lab", *(f"phone-{one + 1}.class=standard" for one in range(LONG))]
        Running("sim", "--listen", f"127.0.0.1:{apple}", "--key-file", f"{WORK}/key.p8", "--key-id", KEY_ID,
                "--team-id", TEAM_ID, "--topic", BUNDLE, "--relay", f"http://127.0.0.1:{Client.port}", "--key",
                Client.key, "--phones", LONG + SHORT, *(word for one in settings for word in ("--phone", one)))
        check(within(30, lambda: "ready" in [relay.status() for relay in self.relays]), "no relay is ready")
        self.owners = Owners(self.relays)
        check(within(30, self.is_whole), "nobody waits:", [relay.status() for relay in self.relays])

    def is_whole(self):
        """One owns the log, the other one waits."""
        return (self.owners.now.status(), self.owners.other.status()) == ("ready", "waiting")

    def standbys(self):
        _, text = self.owners.now.ask("/metrics", Authorization=f"Bearer {Client.key}")
        return metrics(text).get("tombolo_standbys")

    def kill(self, _):
        self.owners.now.process.send_signal(signal.SIGKILL)

    def term(self, _):
        self.owners.now.process.send_signal(signal.SIGTERM)

    def stop(self, _):
        process = self.owners.now.process
        process.send_signal(signal.SIGSTOP)
        time.sleep(12)
        process.send_signal(signal.SIGCONT)

    def lock(self, number):
        table = ("retired", "event")[number % 2]
        psql("BEGIN", f"LOCK TABLE {SCHEMA}.{table} IN ACCESS EXCLUSIVE MODE", "SELECT pg_sleep(8)", "COMMIT")
        return time.time() if table == "event" else None

    def standby(self, _):
        self.frozen = freeze(f"{WORK}/standby")
        time.sleep(12)
        thaw(self.frozen)
        self.frozen = []
        return time.time()

    def restart(self, _):
        subprocess.run([os.environ["TOMBOLO_POSTGRES_RESTART"]], check=True)

    def cut(self, number):
        cable = self.owners.now.cable
        if number % 3 == 0:
            psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE "
                 f"'tombolo {self.owners.epoch} %'")
        elif number % 3 == 1:
            cable.reset()
        else:
            cable.silent(True)
            time.sleep(12)
            cable.silent(False)

    DEEDS = (kill, stop, term, lock, standby, restart, cut)
    KEEPS = (lock, standby)

    def strike(self, deed, number):
        """Answers the longest time without an acknowledged event, and whether the owner is another one. A deed that lets
        nothing be stored answers when that was over."""
        name, before, began = f"{deed.__name__} {number}", self.owners.epoch, time.time()
        since = deed(self, number) or began
        whole = within(40, lambda: self.is_whole() and time.time() - Client.acknowledged[-1][0] < 0.5)
        expect(whole, name, "not whole after 40 s:", [relay.status() for relay in self.relays])
        time.sleep(2)
        self.owners.look()
        times = [since, *sorted(at for at, *_ in Client.acknowledged if at >= since), time.time()]
        gap, hasChanged = max(b - a for a, b in zip(times, times[1:])), self.owners.epoch != before
        expect(not (deed in self.KEEPS and hasChanged), name, "another relay has taken the log")
        most = GAP_AFTER_TERM if deed is Cluster.term else GAP
        expect(gap <= most, name, f"{gap:.1f} s without an acknowledged event")
        print(f"{name}: {gap:.1f} s, {'taken over' if hasChanged else 'kept'}", flush=True)
        return gap, hasChanged


# MARK: what came of it


def twice(found, what):
    more = [key for key, count in collections.Counter(found).items() if count > 1]
    expect(not more, what, more[:5])
    return len(more)


def judge_pushes(owners, until):
    pushes = [push for push in Recorder.pushes if push.event]
    there = [push for push in pushes if push.may_be_there()]
    stray = [push for push in pushes if push.at < until and push.relay != owners.at(push.at) and (
        owners.at(push.at - ON_ITS_WAY) not in (None, push.relay))]
    expect(not stray, "pushes of a relay that has lost the log:", len(stray))
    # No window holds more than the grant where no push finds the bucket of its token empty.
    levels, beyond = {}, set()
    for push in there if hpack else ():
        if push.priority == "10" and push.event == "update" and push.card.startswith("long-"):
            level, at = levels.get(push.token, (BURST, push.at))
            level = min(BURST, level + (push.at - at) * PER_HOUR / 3600) - 1
            levels[push.token] = level, push.at
            # On its way a push may lose some milliseconds: less than a hundredth of one.
            if level < -0.01:
                beyond.add(push.token)
    expect(not beyond, "windows beyond the grant:", len(beyond))
    starts = [push.card for push in there if push.event == "start"]
    alerts = [push.alert for push in there if push.alert]
    return {"pushes": len(pushes), "starts": len(starts), "second_starts": twice(starts, "started twice:"),
            "alerts": len(alerts), "alerts_twice": twice(alerts, "alerts twice:"), "stray_pushes": len(stray),
            "windows": len(levels) if hpack else "not judged", "windows_beyond_the_grant": len(beyond)}


def judge_log(configuration, follower):
    verdict = tombolo("log", "verify", "--config", configuration)
    expect(verdict.returncode == 0, "verify:", verdict.stdout[:400], verdict.stderr[:400])
    export = tombolo("log", "export", "--config", configuration).stdout
    events = [json.loads(line)["event"] for line in export.splitlines() if line.startswith('{"event"')]
    places = {event["key"]: event["seq"] for event in events}
    lost = {key for _, key, seq in Client.acknowledged if places.get(key) != seq}
    expect(not lost, "acknowledged, and not in the log at that place:", sorted(lost)[:5])
    expect(not Client.refused, "refused:", Client.refused[:3])
    expect(follower.seqs == [event["seq"] for event in events], "the follower has a gap or a double:",
           len(follower.seqs), "of", len(events))
    return {"acknowledged": len({key for _, key, _ in Client.acknowledged}), "lost": len(lost),
            "doubled": twice([event["key"] for event in events], "in the log twice:"), "events": len(events),
            "follower": len(follower.seqs), "follower_cuts": follower.cuts}


def run(rounds, deeds):
    cluster, follower = Cluster(), Follower()
    clients = [Client(f"u{number}", 0.02, updates) for number in range(3)]
    clients += [Client("batches", 0.2, batches), Client("short", 0.3, short_cards), Client("long", 0.1, long_cards)]
    time.sleep(5)
    gaps, changes = collections.defaultdict(list), collections.Counter()
    try:
        for number in range(rounds):
            for deed in deeds:
                gap, hasChanged = cluster.strike(deed, number)
                gaps[deed.__name__].append(round(gap, 1))
                changes[deed.__name__] += hasChanged
    finally:
        thaw(cluster.frozen)
    expect(within(15, lambda: cluster.standbys() == 1), "tombolo_standbys:", cluster.standbys())
    Client.isOver = True
    for client in clients:
        client.join(30)
        expect(not client.is_alive(), client.name, "waits for an answer")
    # The pushes and the tail come to an end.
    time.sleep(3)
    until = time.time()
    for relay in cluster.relays:
        relay.isOver = True
        expect(end(relay.process) == 0, relay.name, "does not end as asked")
        expect(not relay.ends.keys() - {0, 1, -9}, relay.name, "ends with", dict(relay.ends))
    return {"rounds": rounds, **judge_log(cluster.configuration, follower), **judge_pushes(cluster.owners, until),
            "changes_of_owner": dict(changes), "longest_gap_s": {name: max(some) for name, some in gaps.items()},
            "median_gap_s": {name: sorted(some)[len(some) // 2] for name, some in gaps.items()}}


words = argparse.ArgumentParser()
words.add_argument("program")
words.add_argument("--rounds", type=int, default=6)
words.add_argument("--deed", choices=[deed.__name__ for deed in Cluster.DEEDS], action="append")
given = words.parse_args()
finish(**run(given.rounds, [deed for deed in Cluster.DEEDS if not given.deed or deed.__name__ in given.deed]))
