"""A run: traffic, kills, starts, and everything read back."""
import json
import random
import time

import judge
from acknowledged import Acknowledged, is_kept
from configuration import hostile_configuration, try_configuration
from judge import Find, Sender
from readback import ReadBack
from template import instruction
from traffic import KEYS, Traffic
from watched import Watched
from wire import NoAnswer
from world import NotReady

# Configurations that are tried in each life.
CONFIGURATIONS = 20
# Of the loop's CPU for one request, repeated alone: the least of so many counts.
REPEATS, FIRST_WAIT = 8, 0.05
RESIDENT_MAX = 400 << 20


class Life:
    """One world, from its first request to the last reading."""

    def __init__(self, contract, chance, with_keys=True):
        self.contract = contract
        self.loop_nanoseconds = judge.LOOP_NANOSECONDS
        self.acknowledged = Acknowledged()
        self.began = time.monotonic()
        self.world = Watched()
        try:
            if with_keys:
                self._mint()
        except BaseException:
            self.world.stop()
            raise
        self.sender = Sender(self.world, contract, self.acknowledged)
        self.traffic = Traffic(contract, self.acknowledged, chance)
        # Every request in its order, for shrinking.
        self.sent = []

    def _mint(self):
        """Keys of fewer scopes, by the API."""
        for name, scopes in KEYS.items():
            if name != "all":
                done = self.world.cli("key", "mint", "--scope", scopes, "-o", "json")
                self.world.keys[name] = json.loads(done.stdout)["key"]

    def give(self, request):
        """Sends a request, reads back what was accepted, and answers the finds. `{"kill": true}` in a request's place
        kills the relay and starts it again."""
        if request.get("kill"):
            self.sent.append(request)
            return self.restart()
        last = self.sent[-1] if self.sent and "op" in self.sent[-1] else None
        self.sent.append(request)
        finds, took, answer = self.sender.send(request)
        after_last = self.sender.after_last
        if not any(find.kind == "exit" for find in finds):
            finds += self._judged_further(request, took, answer)
            if last and after_last > judge.LOOP_NANOSECONDS and self.world.is_running():
                finds += self._judged_alone(last)
        for find in finds:
            find.at = time.monotonic()
        return finds

    def _judged_further(self, request, took, answer):
        finds = []
        if took > judge.LOOP_NANOSECONDS:
            finds += self._judged_alone(request)
        else:
            self.sender.spent(request, took)
        if self.world.is_running() and answer is not None and answer.status < 300:
            finds += self._read_at_once(request, answer)
        if not self.world.is_running():
            finds.append(Find("exit", f"after the answer: {self.world.exit()}", request))
        return finds

    def _judged_alone(self, request):
        took = self.alone(request)
        self.sender.spent(request, int(took))
        if took > self.loop_nanoseconds:
            return [Find("loop", f"{took / 1e6:.1f} ms of the loop's CPU", request)]
        return []

    def alone(self, request):
        """The least of what the loop spends on the request when it is repeated with nothing else to do, each time by the
        speed that the machine has at that moment. The waits grow: what slows a shared machine lasts seconds."""
        least = None
        for repeat in range(REPEATS):
            time.sleep(FIRST_WAIT * 2 ** repeat if repeat else 0)
            self.world.quiet()
            if not self.world.is_running():
                return 0
            try:
                _, took, _ = self.sender.send(self._anew(request), settle=True)
            except OSError:
                return 0
            took /= judge.slowness()
            least = took if least is None else min(least, took)
            if least <= judge.LOOP_NANOSECONDS:
                break
        return least

    def _anew(self, request):
        """The request, on activities of new names where it makes some, and with no key that has its answer."""
        fields = [field for field in request["fields"] if field[0] != "Idempotency-Key"]
        request = {**request, "fields": fields}
        if request["op"] == "startActivity" and request["target"].startswith("/v1/activities/"):
            query = request["target"].partition("?")[2]
            target = f"/v1/activities/{self.traffic.fresh()}again" + (f"?{query}" if query else "")
            return {**request, "target": target}
        if instruction(request["body"]) == "$lines":
            return {**request, "body": {"$lines": [self._line_anew(line) for line in request["body"]["$lines"]]}}
        return request

    def _line_anew(self, line):
        if not isinstance(line, dict) or instruction(line):
            return line
        line = {name: value for name, value in line.items() if name != "id"}
        if line.get("do") == "start":
            line["activity"] = self.traffic.fresh() + "again"
        return line

    def _read_at_once(self, request, answer):
        """What was accepted must be readable."""
        finds, known = [], self.acknowledged
        if request["op"] not in ("startActivity", "updateActivity", "endActivity", "playClip", "stopClip", "appendEvents"):
            return finds
        seq = max(known.events, default=None)
        event = known.events.get(seq)
        if event is None:
            return finds
        try:
            for target in (f"/v1/activities/{event.activity}", f"/v1/log/{seq}"):
                view = self.world.get(target)
                if view.status != 200 and event.activity not in known.erased:
                    finds.append(Find("read", f"GET {target}: {view!r}", request))
                elif "/log/" in target and event.activity not in known.erased and not is_kept(event.body, view.body):
                    finds.append(Find("read", f"GET {target} shows {view.body[:300]!r}", request))
        except NoAnswer as none:
            if self.world.is_running() and not self.sender._is_gone():
                finds.append(Find("read", f"GET {target}: {none}", request))
            else:
                finds.append(Find("exit", f"GET {target} after it: {self.world.exit()}", request))
        return finds

    def restart(self):
        """kill -9 and a new start. Answers the finds."""
        self.world.kill()
        self.sender.idle_since = 0
        try:
            self.world.start()
        except NotReady as not_ready:
            return [Find("start", str(not_ready), None)]
        return []

    def read_back(self, cli=True):
        """Everything through every read, as finds."""
        faults = ReadBack(self.world, self.contract, self.acknowledged).run(cli)
        if not self.world.is_running():
            return [Find("exit", f"while everything is read: {faults[-1:]} {self.world.exit()}", None)]
        return [Find("read back", fault, None) for fault in faults]


def run(contract, seed, seconds, report, lifetime=20):
    """Lives, one after the other, until the time is over. Answers the finds, what was done, how often each
    operation answered each status, and of each the request that took most of the loop."""
    chance = random.Random(seed)
    began = time.monotonic()
    finds, counts = [], {"requests": 0, "accepted": 0, "lives": 0, "kills": 0, "slowest_ms": 0.0}
    statuses, slowest = {}, {}
    while time.monotonic() - began < seconds:
        life = Life(contract, random.Random(chance.random()))
        counts["lives"] += 1
        try:
            new = _live(life, min(lifetime, seconds - (time.monotonic() - began)), counts, chance)
        finally:
            life.world.stop()
        counts["requests"] += len(life.sent)
        counts["accepted"] += life.acknowledged.count
        for name, spent in life.sender.slowest.items():
            slowest[name] = max(slowest.get(name, spent), spent, key=lambda pair: pair[0])
        for name, row in life.sender.statuses.items():
            for status, count in row.items():
                statuses.setdefault(name, {}).setdefault(status, 0)
                statuses[name][status] += count
        for find in new:
            find.life = life
            find.after = getattr(find, "at", time.monotonic()) - began
            report(find)
        finds += new
    counts["seconds"] = round(time.monotonic() - began)
    counts["slowest_ms"] = round(max((took for took, _ in slowest.values()), default=0) / 1e6, 1)
    return finds, counts, statuses, slowest


def _live(life, seconds, counts, chance):
    """Requests, a kill in the middle, requests, a kill at the end, and everything read back."""
    began, finds = time.monotonic(), []
    for _ in range(CONFIGURATIONS):
        finds += try_configuration(life.world, hostile_configuration(chance))
    for request in life.traffic.prelude():
        finds += life.give(request)
        if _is_over(finds):
            return finds
    kills = 0
    while time.monotonic() - began < seconds:
        finds += life.give(life.traffic.next())
        if _is_over(finds):
            return finds + _after_exit(life)
        if time.monotonic() - began > seconds * (kills + 1) / 3 and kills < 2:
            kills += 1
            counts["kills"] += 1
            finds += life.give({"kill": True})
            if _is_over(finds):
                return finds
        if life.world.resident() > RESIDENT_MAX:
            finds.append(Find("memory", f"{life.world.resident() >> 20} MB", None))
            return finds
    finds += life.read_back(cli=False)
    counts["kills"] += 1
    finds += life.give({"kill": True})
    if not _is_over(finds):
        finds += life.read_back()
    return finds


def _after_exit(life):
    """After a crash: whether it starts again."""
    return [Find("start", f"after the crash: {find.text}", None) for find in life.restart()]


def _is_over(finds):
    return any(find.kind in ("exit", "start", "memory") for find in finds)
