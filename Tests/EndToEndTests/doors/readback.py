"""Everything that was acknowledged, through every read."""
import json
import urllib.parse

from acknowledged import is_kept, is_of_relay, without_added
from template import Refused, beyond_double, depth, parse
from wire import NoAnswer

# What may be sent in, and what a page may put around it.
DEPTH_MAX = 32 + 8


class ReadBack:
    """One reading of everything. `faults` are texts."""

    def __init__(self, world, contract, acknowledged):
        self.world, self.contract, self.acknowledged, self.faults = world, contract, acknowledged, []

    def fault(self, text):
        if len(self.faults) < 50:
            self.faults.append(text)

    def run(self, cli=True):
        """Reads all, and answers the faults."""
        try:
            self._log()
            self._tail()
            self._activities()
            self._rest()
            if cli:
                self._commands()
        except NoAnswer as none:
            self.fault(f"a read has no answer: {none}")
        return self.faults

    def get(self, target, statuses=(200,)):
        """The parsed answer, or None with a fault."""
        try:
            answer = self.world.get(target)
        except NoAnswer as none:
            raise NoAnswer(f"GET {target}: {none}") from None
        if answer.status not in statuses:
            self.fault(f"GET {target}: {answer!r}")
            return None
        if answer.status != 200:
            return None
        return self.value(target, answer.body)

    def value(self, what, data):
        try:
            value = parse(data)
        except Refused as refusal:
            self.fault(f"{what}: not JSON: {refusal}")
            return None
        number = beyond_double(value)
        if number:
            self.fault(f"{what}: {number[:40]} is beyond a Double")
        if depth(value) > DEPTH_MAX:
            self.fault(f"{what}: {depth(value)} levels deep")
        return value

    def pages(self, target, name):
        """The rows of all pages."""
        cursor, between = None, "&" if "?" in target else "?"
        while True:
            page = self.get(target + (f"{between}cursor={urllib.parse.quote(cursor)}" if cursor else ""))
            if page is None:
                return
            yield from page[name]
            following = page["next_cursor"]
            if following is None:
                return
            if following == cursor:
                self.fault(f"{target}: the cursor {cursor} leads to itself")
                return
            cursor = following

    def _entry(self, what, entry, seen):
        seq = int(entry["seq"])
        if is_of_relay(entry):
            contradiction = self.acknowledged.ended_by_relay(entry)
            if contradiction:
                self.fault(f"{what}: {contradiction}")
        event = self.acknowledged.events.get(seq)
        if event is None:
            return
        if seq in seen:
            self.fault(f"{what}: seq {seq} comes twice")
        seen.add(seq)
        self._compare(what, event, entry)

    def _compare(self, what, event, entry):
        if event.activity in self.acknowledged.erased:
            return
        got = (entry.get("activity"), int(entry.get("version", 0)), entry.get("do"))
        if got != (event.activity, event.version, event.do):
            self.fault(f"{what}: seq {event.seq} is {got}, and was ({event.activity}, {event.version}, {event.do})")
        elif event.body is not None and entry.get("body") != parse(event.body.strip() or b"{}"):
            expected = parse(event.body.strip() or b"{}")
            body = entry.get("body") or {}
            if "history" in body and "history" not in expected:
                self.acknowledged.history(event.activity, body["history"])
            body = without_added(body, expected)
            if body != expected:
                self.fault(f"{what}: seq {event.seq} is {str(body)[:300]}, and was {str(expected)[:300]}")

    def _log(self):
        seen = set()
        for entry in self.pages("/v1/log?limit=1000", "events"):
            self._entry("GET /v1/log", entry, seen)
        self._missing("GET /v1/log", seen)
        seen = set()
        for entry in self.pages("/v1/log?limit=1000&kind=all", "events"):
            if entry.get("kind") == "command":
                self._entry("GET /v1/log?kind=all", entry, seen)
        self._missing("GET /v1/log?kind=all", seen)
        for seq, event in list(self.acknowledged.events.items())[-400:]:
            answer = self.world.get(f"/v1/log/{seq}")
            if answer.status != 200:
                self.fault(f"GET /v1/log/{seq}: {answer!r}")
            elif event.activity not in self.acknowledged.erased and not is_kept(event.body, answer.body):
                self.fault(f"GET /v1/log/{seq}: {answer.body[:300]!r}, and was {(event.body or b'')[:300]!r}")

    def _missing(self, what, seen):
        missing = sorted(set(self.acknowledged.events) - seen)
        if missing:
            self.fault(f"{what}: {len(missing)} acknowledged are missing, the first is seq {missing[0]}")

    def _tail(self):
        fields = [(b"Host", b"127.0.0.1"), (b"Accept", b"application/x-ndjson"),
                  (b"Authorization", b"Bearer " + self.world.keys["all"].encode())]
        seen, since, silent = set(), 0, 0
        for _ in range(1000):
            answer = self.world.one.ask(b"GET", b"/v1/tail?since=%d" % since, fields, b"", 10, streams=0.05)
            if answer.status != 200:
                self.fault(f"GET /v1/tail: {answer!r}")
                return
            lines = [line for line in answer.body.split(b"\n")[:-1] if line.strip()]
            for line in lines:
                entry = self.value("GET /v1/tail", line)
                if entry is not None and "seq" in entry:
                    self._entry("GET /v1/tail", entry, seen)
                    since = max(since, int(entry["seq"]))
            # What is missing may be late.
            silent = 0 if lines else silent + 1
            if silent == 6 or silent and seen >= set(self.acknowledged.events):
                break
        self._missing("GET /v1/tail", seen)

    def _activities(self):
        listed = {}
        for view in self.pages("/v1/activities?limit=1000", "activities"):
            if view["activity"] in listed:
                self.fault(f"GET /v1/activities: {view['activity']} comes twice")
            listed[view["activity"]] = view
        for name, activity in self.acknowledged.activities.items():
            if name in self.acknowledged.erased or not activity.version:
                continue
            quoted = urllib.parse.quote(name, safe=":@")
            view = self.get(f"/v1/activities/{quoted}")
            if view is None:
                continue
            self._compare_view(f"GET /v1/activities/{name}", activity, view)
            if name not in listed:
                self.fault(f"GET /v1/activities: {name} is missing")
            else:
                self._compare_view("GET /v1/activities", activity, listed[name])
            self.get(f"/v1/activities/{quoted}?at_seq={activity.seq}")
            for _ in self.pages(f"/v1/activities/{quoted}/deliveries?limit=1000", "destinations"):
                pass

    def _compare_view(self, what, activity, view):
        if activity.unsure:
            return
        got = (int(view["version"]), int(view["seq"]), view["type"])
        # Of one whose start was sent to no operation of the contract, the type is not known.
        expected = (activity.version, activity.seq, activity.type or got[2])
        if got != expected and view["status"] == "ended":
            # The relay may have ended it after the log has been read.
            self._entry(what, self.get(f"/v1/log/{view['seq']}"), set())
            if activity.unsure:
                return
        if got != expected:
            self.fault(f"{what}: version, seq and type are {got}, and were {expected}")
            return
        if (view["status"] == "ended") != (activity.status == "ended"):
            self.fault(f"{what}: is {view['status']}, and was {activity.status}")
        state = {name: value for name, value in view["state"].items() if name not in activity.played}
        expected = {name: value for name, value in (activity.state or {}).items() if name not in activity.played}
        if state != expected and "" not in activity.played:
            self.fault(f"{what}: the state is {str(state)[:300]}, and was {str(expected)[:300]}")

    def _rest(self):
        known = self.acknowledged
        for name, body in known.types.items():
            view = self.get("/v1/types/" + urllib.parse.quote(name, safe=""))
            if view is not None and any(view.get(member) != value for member, value in body.items()
                                        if member != "app" and value is not None):
                self.fault(f"GET /v1/types/{name}: {str(view)[:300]}, and was {str(body)[:300]}")
        for name, body in known.devices.items():
            view = self.get("/v1/devices/" + urllib.parse.quote(name, safe=":@"))
            if view is not None:
                for member in ("user", "app", "environment", "os", "app_version", "time_zone", "locale",
                               "frequent_updates", "control_center"):
                    if body.get(member) is not None and view.get(member) != body[member]:
                        self.fault(f"GET /v1/devices/{name}: {member} is {view.get(member)!r}, and was {body[member]!r}")
        listed = {row["id"] for row in self.pages("/v1/keys?limit=3", "keys")}
        for missing in set(known.keys) - listed:
            self.fault(f"GET /v1/keys: {missing} is missing")
        for what, name, expected in (("pauses", "id", known.pauses), ("channels", "channel", known.channels)):
            page = self.get(f"/v1/{what}")
            there = {row[name] for row in page[what]} if page else set()
            for missing in set(expected) - there:
                self.fault(f"GET /v1/{what}: {missing} is missing")
        for target, name in (("/v1/deliveries?limit=1000", "deliveries"), ("/v1/budgets?limit=1000", "destinations"),
                             ("/v1/dead-letters?limit=1000", "dead_letters")):
            for row in self.pages(target, name):
                if name == "dead_letters":
                    self.fault(f"a push was refused permanently: {json.dumps(row)[:300]}")
        answer = self.world.get("/metrics")
        if answer.status != 200:
            self.fault(f"GET /metrics: {answer!r}")

    def _commands(self):
        world, known = self.world, self.acknowledged
        verified = world.cli("log", "verify", "--data", world.path("data"), "-o", "json")
        if verified.returncode:
            self.fault(f"log verify: {verified.returncode} {verified.stdout[-400:]!r} {verified.stderr[-400:]!r}")
        exported = world.cli("log", "export", "--data", world.path("data"))
        if exported.returncode:
            self.fault(f"log export: {exported.returncode} {exported.stderr[-400:]!r}")
        seen = set()
        for line in exported.stdout.splitlines():
            item = self.value("log export", line) or {}
            if "event" in item:
                seen.add(int(item["event"]["seq"]))
        self._missing("log export", seen)
        limit = str(len(known.events) + 1000)
        listed = world.cli("log", "ls", "--limit", limit, "-o", "jsonl")
        if listed.returncode:
            self.fault(f"log ls: {listed.returncode} {listed.stderr[-400:]!r}")
        seen = set()
        for line in listed.stdout.splitlines():
            entry = self.value("log ls", line)
            if entry:
                self._entry("log ls", entry, seen)
        self._missing("log ls", seen)
        listed = world.cli("activity", "ls", "--limit", limit, "-o", "jsonl")
        if listed.returncode:
            self.fault(f"activity ls: {listed.returncode} {listed.stderr[-400:]!r}")
        names = {(self.value("activity ls", line) or {}).get("activity") for line in listed.stdout.splitlines()}
        for name, activity in known.activities.items():
            if activity.version and name not in names and name not in known.erased:
                self.fault(f"activity ls: {name} is missing")
        for words in (("delivery", "ls", "--limit", "1000"), ("dead", "ls"), ("budget", "show"), ("channel", "ls"),
                      ("pause",), ("log", "ls", "--kind", "all", "--limit", limit)):
            done = world.cli(*words, "-o", "json")
            if done.returncode:
                self.fault(f"{' '.join(words)}: {done.returncode} {done.stderr[-400:]!r}")
