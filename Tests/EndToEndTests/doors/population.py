"""The largest population that a relay may have, and of each operation the largest objects that its door takes.

`Population.objects` has the objects of each operation of Protocol/openapi.json, `Population.values` a value of each
query parameter. held.py walks the document; what is missing here fails it.
"""
import collections
import concurrent.futures
import datetime
import json
import threading
import time
import urllib.parse

import judge
from wire import HTTP1, NoAnswer
from watched import Watched
from world import BUNDLE

# An answer is not expected any more after so many seconds.
ANSWER_SECONDS, CONNECTIONS = 30, 8
CROWD, TIMELINES, API_KEYS, CHANNELS, EVENTS = 1000, 1000, 1000, 50, 3000
FAMILIES = ["systemSmall", "systemMedium", "systemLarge", "systemExtraLarge", "accessoryInline", "accessoryCircular",
            "accessoryRectangular", "accessoryCorner"]
TEXT = "a" * 1_040_000
# 1 MiB of JSON.
MEMBERS = [1] * 520_000
WEEKLY = {"weekly": {"on": "monday", "at": "06:00", "zone": "UTC"}, "count": 400}
CLIP = {"path": "/image", "frames": [f"{index:09d}" for index in range(256)], "every": "1h"}
# `path` and `body` may be functions: of nothing, and of a number that no other request has; {n} in `path` is that one.
# `after` leaves the population as it was.
Object = collections.namedtuple("Object", "about path body query key after", defaults=(None, {}, "all", None))


class Gone(Exception):
    """The relay has ended."""


def moment(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def token(number):
    return f"{number:064x}"


def lines(values):
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in values)


class Population:
    """A relay with everything in it that there may be."""

    def __init__(self, accepts=True, **more):
        self.number, self.answer_seconds = 0, ANSWER_SECONDS
        self.world = Watched(phones=1 if accepts else 0, accepts=accepts, **more)

    # MARK: requests

    def request(self, method, path, body=None, query=None, key="all", fields=()):
        """(method, target, fields, body), as bytes."""
        self.number += 1
        path = path() if callable(path) else path
        body = body(self.number) if callable(body) else body
        data = b"" if body is None else body if isinstance(body, bytes) else lines([body])
        target = path.replace("{n}", str(self.number))
        if query:
            target += "?" + "&".join(f"{name}={urllib.parse.quote(value, safe=',')}" for name, value in query.items())
        media = None if body is None else "application/x-ndjson" if isinstance(body, bytes) and target.startswith(
            "/v1/events") else "application/json"
        head = judge.fields_of(self.world, {
            "http": 1, "method": method, "key": key, "type": media, "fields": fields}, data)
        return method.encode(), target.encode(), head, data

    def ask(self, request, streams=0, client=None):
        client = client or self.world.one
        for attempt in (1, 2):
            fresh = client.socket is None
            try:
                return client.ask(*request, self.answer_seconds, streams)
            except NoAnswer as none:
                if none.timed_out and self.world.is_running():
                    raise
                time.sleep(0.05)
                if not self.world.is_running():
                    raise Gone from None
                # A kept connection may have been closed meanwhile.
                if fresh or attempt == 2:
                    raise
        raise AssertionError

    def do(self, method, path, body=None, key="all"):
        """What is no measurement: it has to be accepted."""
        answer = self.ask(self.request(method, path, body, key=key))
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer!r}")
        return json.loads(answer.body) if answer.fields.get("content-type") == "application/json" else answer.body

    def do_all(self, requests):
        """Many of these at once, each (method, path, body)."""
        local = threading.local()

        def give(request):
            if not hasattr(local, "client"):
                local.client = HTTP1(self.world.port)
            answer = local.client.ask(*request, self.answer_seconds)
            if answer.status >= 300:
                raise RuntimeError(f"{request[1]}: {answer!r}")

        with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(give, [self.request(*request) for request in requests]))

    def quiet(self, seconds=10):
        """Waits until the loop has had nothing to do for a moment."""
        last, deadline = self.world.loop_time(), time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(0.004)
            now = self.world.loop_time()
            if now - last < 100_000:
                return
            last = now

    # MARK: the population

    def populate(self):
        """The largest of everything. Timelines come before the devices: each would be told of each of them."""
        cut = {f"m{index}": "a" * 10 for index in range(63)}
        object_of = lambda names: {"type": "object", "properties": dict.fromkeys(names, {})}
        list_of = lambda items: {"type": "object", "properties": {"list": {"items": items}}}
        wide = [f"p{index}" for index in range(900)]
        families = {family: ["/m0"] for family in FAMILIES}
        families["systemLarge"] = [f"/m{index}" for index in range(63)] + [{"path": "/list", "length": 256}]
        types = {
            "Cut": {"state": object_of([*cut, "list"]), "families": families}, "Ends": {"state": {}},
            "Crowd": {"state": {}, "reloads": {"widgets": True, "controls": ["lock"]}},
            "History": {"state": object_of(["n", "history"]), "history": {
                "path": "/history", "length": 256, "of": "/n"}},
            "Enum": {"state": list_of({"enum": list(range(1000, 1255)) + [1]})},
            "Large": {"state": {**object_of(wide), "required": wide}}}
        self.do_all(("PUT", f"/v1/types/{name}", body) for name, body in types.items())
        self.do_all(("PUT", f"/v1/types/Paused{index}", {"state": {}}) for index in range(90))
        # Names of `required` that repeat are the most for a state; a relay that refuses them has one.
        for names in (["p0"] * 1000, ["p0"]):
            strict = {"state": list_of({**object_of(wide), "required": names, "additionalProperties": False})}
            if self.ask(self.request("PUT", "/v1/types/Strict", strict)).status < 300:
                break
        self.do("PUT", "/v1/types/New", strict)
        self.types = {**types, "Strict": strict}
        self.devices = [f"crowd-{index}" for index in range(CROWD)]
        self.readers = {"users": ["crowd"] + [f"reader-{index}" for index in range(499)]}
        self.strict = {"list": [{"p0": 1}] * 400}
        starts = {
            "crowd": {"type": "Crowd", "audience": {"user": "crowd", "start": "adopt"}, "state": {"image": "a"}},
            "named": {"type": "Crowd", "audience": {"devices": self.devices, "start": "adopt"}, "state": {"n": 0}},
            "source": {"type": "Cut", "state": {**cut, "list": [{"n": 1}] * 250}},
            "history": {"type": "History", "audience": {"device": "crowd-0", "start": "adopt"}, "state": {"n": 0}},
            "strict": {"type": "Strict", "state": self.strict}, "enum": {"type": "Enum", "state": {"list": [1] * 1800}}}
        self.do_all(("PUT", f"/v1/activities/{name}", body) for name, body in starts.items())
        self.contents = {
            "large": {"content": {"a": TEXT}}, "members": {"content": {"a": MEMBERS}},
            "copies": {"content": {"a": "a" * 5000}, "schedule": WEEKLY},
            "cut": {"type": "Cut", "content": {**cut, "list": [{"n": 1}] * 15_000}},
            "cuts": {"type": "Cut", "entries": [
                {"date": moment(60 * index + 60), "content": {**cut, "list": []}} for index in range(100)]},
            "strict": {"type": "Strict", "content": {"list": [{"p0": 1}] * 13_000}},
            "enum": {"type": "Enum", "content": {"list": [1] * 60_000}},
            "links": {"entries": [{"date": moment(60 * index + 60), "content": {}, "links": [
                f"https://example.com/{index}/{link}" for link in range(16)]} for index in range(400)]}}
        self.kinds = ["large", "members", "copies", "cut", "cuts"]
        key = lambda name: {"key": name, "readers": {"users": ["crowd"]}}
        subjects = [{"user": "crowd"}] + [key(name) for name in "abcd"]
        puts = [(kind, subject, self.contents[kind]) for kind in self.kinds for subject in subjects]
        puts.append(("links", subjects[0], self.contents["links"]))
        small = {**cut, "list": [1] * 10}
        self.contents |= {"followed": {"from": {"activity": "source"}}, "keys": {"type": "Cut", "content": small}}
        puts += [(kind, subject, self.contents[kind]) for kind in ("followed", "keys")
                 for subject in subjects[:2] + [key(f"k{index}") for index in range(TIMELINES - 3)]]
        self.do_all(("PUT", f"/v1/timelines/{kind}", {"subject": subject, **body}) for kind, subject, body in puts)
        self.do_all(("PUT", f"/v1/devices/{name}", {
            "app": BUNDLE, "environment": "sandbox", "user": "crowd", "os": "26.1"}) for name in self.devices)
        kinds = list(enumerate(["widget", "control:lock", "activity:crowd", "activity:named"], 1))
        self.do_all(("PUT", f"/v1/devices/{name}/tokens", {
            "tokens": {kind: {"token": token(at + 100_000 * index)} for index, kind in kinds}})
            for at, name in enumerate(self.devices))
        self.do_all(("PUT", f"/v1/timelines/{kind}", {"subject": {"device": "crowd-0"}, **self.contents[kind]})
                     for kind in self.kinds + ["followed", "keys"])
        self.world.keys["phone"] = self.do("POST", "/v1/keys", {
            "scopes": ["device:crowd-0"], "user": "crowd", "app": BUNDLE})["key"]
        scopes = [f"device:crowd-{index}" for index in range(64)]
        self.do_all([("POST", "/v1/keys", {"scopes": scopes, "name": "a" * 128})] * API_KEYS)
        self.do_all(("PUT", f"/v1/channels/channel-{index}", {"app": BUNDLE}) for index in range(CHANNELS))
        self.do_all(("POST", "/v1/pauses", {"type": f"Paused{index}", "reason": "a" * 500}) for index in range(90))
        events = ({"activity": "history", "do": "update", "state": {"n": 10**9 + index}} for index in range(EVENTS))
        self.do("POST", "/v1/events", lines(events))
        for index in range(3):
            self.do("PATCH", "/v1/activities/crowd", {"state": {"n": index + 1}, "urgency": "high"})
            self.quiet()

    # MARK: made for one request, and taken away by it

    def _made(self, path, method, at, body, shown=None):
        """A path of something that is there now, and may have been taken away before."""
        def make():
            answer = self.ask(self.request(method, at, body))
            if answer.status >= 300 and answer.status != 409:
                raise RuntimeError(f"{method} {at}: {answer!r}")
            return path.format(id=json.loads(answer.body)[shown]) if shown else path
        return make

    def _doomed_timelines(self):
        self.do_all(("PUT", "/v1/timelines/doomed", {"subject": subject, **self.contents["large"]}) for subject in (
            {"user": "crowd"}, {"device": "crowd-0"}, {"key": "a", "readers": self.readers}))
        return "/v1/timelines/doomed"

    def _doomed_device(self, path):
        def make():
            self.do("PUT", "/v1/devices/doomed", {"app": BUNDLE, "environment": "sandbox", "user": "doomed"})
            self.do_all(("PUT", f"/v1/timelines/of-{index}", {
                "subject": {"device": "doomed"}, "content": {"a": "a" * 1000}}) for index in range(TIMELINES // 2))
            self.do("PUT", "/v1/devices/doomed/tokens", self._tokens(1))
            return path
        return make

    @staticmethod
    def _tokens(number):
        return {"tokens": {f"control:c{index}": {"token": f"{number:08x}{index:08x}" * 12} for index in range(250)}}

    def _playing(self):
        clips = "/v1/activities/crowd/clips"
        return f"{clips}/{self.do('POST', clips, {'flipbook': CLIP})['clip']}"

    def _resume(self):
        for pause in self.do("GET", "/v1/pauses")["pauses"]:
            if pause.get("reason") == "held":
                self.do("DELETE", f"/v1/pauses/{pause['id']}")

    def end_new(self):
        self.do("POST", "/v1/activities/end", {"where": {"type": "New"}, "dismiss": "now"})

    def _ended(self):
        self.do("PUT", "/v1/activities/erased?restart=true", {
            "type": "Ends", "audience": {"devices": self.devices}, "state": {}})
        self.do("POST", "/v1/activities/erased/end", {"dismiss": "now"})
        return "/v1/activities/erased/erase"

    def _running(self):
        self.do("POST", "/v1/events", lines(
            {"activity": f"ends-{index}", "do": "start", "type": "Ends", "state": {}} for index in range(TIMELINES)))
        return "/v1/activities/end"

    # MARK: the table

    def objects(self):
        """Of each operation the largest objects that it takes."""
        log = self.do("GET", "/v1/log?activity=named&limit=1")["events"][0]["seq"]
        delivery = self.do("GET", "/v1/deliveries?limit=1")["deliveries"][0]
        crowd, page, four = {"user": "crowd"}, {"limit": "1000"}, {"config": "a,b,c,d"}
        changed = lambda n: {"state": {"n": n}}
        lists = lambda path, about="all", **more: [Object(about, path, query={**page, **more})]
        plain = lambda path, about="all": [Object(about, path)]
        entries = lambda door, kinds: [
            Object(kind, f"/v1/timelines/{kind}/{door}", query=four, key="phone") for kind in kinds]
        report = {"phase": "active", "received_version": 1, "drawn_version": 1, "received_state": {"n": 0},
                  "drawn_state": {"n": 0}, "shown_count": 1}
        signals = [{"touch": {"x": 1, "y": 1, "width": 390, "height": 844}}] * 256
        put = lambda kind, subject=crowd: Object(kind, f"/v1/timelines/put-{kind}", {
            "subject": subject, **self.contents[kind]})
        start = lambda audience: {"type": "New", "audience": {**audience, "start": "adopt"}, "state": self.strict}
        minted = lambda path: self._made(path, "POST", "/v1/keys", {"scopes": ["observe"]}, "id")
        names = {"devices": self.devices}
        return {
            "listActivities": lists("/v1/activities"),
            "startActivity": [
                Object("of 1,000 devices", "/v1/activities/new-{n}", start(names), after=self.end_new),
                Object("of a user", "/v1/activities/new-{n}", start(crowd), after=self.end_new)],
            "updateActivity": [
                *(Object(name, f"/v1/activities/{name}", changed) for name in ("crowd", "named", "history")),
                Object("strict", "/v1/activities/strict", lambda n: {"replace": {**self.strict, "n": n}}),
                Object("enum", "/v1/activities/enum", lambda n: {"replace": {"list": [1] * 1790, "n": n}}),
                Object("source of 1,000 timelines", "/v1/activities/source", lambda n: {"state": {"m0": str(n)}})],
            "showActivity": [Object(name, f"/v1/activities/{name}") for name in ("history", "named")],
            "endActivity": [Object(name, self._made(f"/v1/activities/end-{at}/end", "PUT", f"/v1/activities/end-{at}", {
                "type": "Ends", "audience": audience, "state": {}}), {"dismiss": "now"})
                for at, (name, audience) in enumerate([("of 1,000 devices", names), ("of a user", crowd)])],
            "endActivities": [Object("1,000 activities", self._running, {"where": {"type": "Ends"}, "dismiss": "now"})],
            "playClip": [Object("256 frames", "/v1/activities/crowd/clips", {"flipbook": CLIP})],
            "stopClip": [Object("256 frames", self._playing)],
            "eraseActivity": [Object("1,000 devices", self._ended)],
            "appendEvents": [Object("3 lines", "/v1/events", lambda n: lines(
                {"activity": "history", "do": "update", "state": {"n": n}} for _ in range(3)))],
            "listTypes": lists("/v1/types"),
            "putType": [Object(name, f"/v1/types/{name}", lambda n, body=body: {
                **body, "end_after": f"{n % 9 + 1}h"}) for name, body in self.types.items()],
            "showType": [Object(name, f"/v1/types/{name}") for name in ("Large", "Cut")],
            "listTimelines": lists("/v1/timelines"),
            "putTimeline": [put(kind) for kind in self.contents if kind not in ("followed", "keys")] + [
                Object("to a user's 1,000 devices", "/v1/timelines/put", lambda n: {
                    "subject": crowd, "content": {"a": n}}),
                Object("of 500 readers", "/v1/timelines/put", lambda n: {
                    "subject": {"key": "a", "readers": self.readers}, "content": {"a": n}}),
                Object("from an activity", "/v1/timelines/followed", {
                    "subject": {"key": "k0", "readers": {"users": ["crowd"]}}, "from": {"activity": "source"}}),
                Object("url beside 6,400 links", "/v1/timelines/put-links", lambda n: {
                    "subject": crowd, "content": {"a": 1}, "url": f"https://example.com/{n}"})],
            "showTimeline": [Object(kind, f"/v1/timelines/{kind}", query=crowd) for kind in self.kinds],
            "deleteTimeline": [Object("1 MiB", self._doomed_timelines, query=crowd)],
            "timelineEntries": entries("entries", [*self.kinds, "followed"]),
            "timelineSnapshot": entries("snapshot", [*self.kinds, "followed"]) + [
                Object("not configured", "/v1/timelines/keys/snapshot", key="phone")],
            "timelinePlaceholder": entries("placeholder", self.kinds[:1]),
            "timelineChoices": [Object(kind, f"/v1/timelines/{kind}/choices", key="phone")
                                for kind in ("keys", "followed", "large")],
            "explainWidget": [Object(kind, f"/v1/timelines/{kind}/explain", query={"device": "crowd-0", **four})
                              for kind in ("large", "cut")],
            "reloadTimeline": [Object(name, "/v1/timelines/large/reload", who)
                               for name, who in (("a user", crowd), ("1,000 devices", names))],
            "reloadControl": [Object(name, "/v1/controls/lock/reload", who)
                              for name, who in (("a user", crowd), ("1,000 devices", names))],
            "listChannels": plain("/v1/channels"),
            "putChannel": [Object("known", "/v1/channels/channel-0", {"app": BUNDLE})],
            "showChannel": plain("/v1/channels/channel-0", "one"),
            "deleteChannel": [Object("one", self._made(
                "/v1/channels/doomed", "PUT", "/v1/channels/doomed", {"app": BUNDLE}))],
            "listDevices": lists("/v1/devices"),
            "registerDevice": [Object("of the crowd", "/v1/devices/crowd-0", lambda n: {
                "user": "crowd", "app_version": f"{n}", "time_zone": ["Asia/Tokyo", "Europe/Berlin"][n % 2]})],
            "showDevice": plain("/v1/devices/crowd-0", "of the crowd"),
            "checkDevice": plain("/v1/devices/crowd-0/check", "of the crowd"),
            "deleteDevice": [Object("500 timelines", self._doomed_device("/v1/devices/doomed"))],
            "reconcileTokens": [Object("250 tokens", "/v1/devices/crowd-1/tokens", self._tokens)],
            "registerToken": [Object("of the crowd", "/v1/devices/crowd-0/tokens/widget", lambda n: {
                "token": f"{n:0512x}"})],
            "deleteToken": [Object("of the crowd", self._made(
                "/v1/devices/crowd-2/tokens/widget", "PUT", "/v1/devices/crowd-2/tokens/widget", {"token": token(1)}),
                {"token": token(1)})],
            "reportPresence": [Object("256 signals", "/v1/devices/crowd-0/presence", {"signals": signals})],
            "reportActivity": [Object("of the crowd", "/v1/devices/crowd-0/activities/crowd", report)],
            "postAction": [Object("a link of 6,400", "/v1/devices/crowd-0/actions", lambda n: {
                "widget": "links", "link": "https://example.com/399/15", "at": moment(0)})],
            "eraseDevice": [Object("500 timelines", self._doomed_device("/v1/devices/doomed/erase"))],
            "listLog": lists("/v1/log") + lists("/v1/log", "facts too", kind="all"),
            "showEvent": plain(f"/v1/log/{log}", "1,000 devices"),
            "tail": [Object("from the beginning", "/v1/tail", query={"since": "0"})],
            "listRequests": lists("/v1/requests"),
            "search": [Object("of the crowd", "/v1/search", query={"q": "c"})],
            "listDeadLetters": lists("/v1/dead-letters"),
            "retryDeadLetters": [Object("all", "/v1/dead-letters/retry", {"where": {}})],
            "mintKey": [Object("64 scopes", "/v1/keys", {"scopes": [f"device:crowd-{index}" for index in range(64)]})],
            "listKeys": lists("/v1/keys"),
            "deleteKey": [Object("one", minted("/v1/keys/{id}"))],
            "rotateKey": [Object("one", minted("/v1/keys/{id}/rotate"), {"grace": "0s"})],
            "reloadConfiguration": plain("/v1/configuration/reload"),
            "retryUpstream": plain(f"/v1/upstreams/{BUNDLE}/retry"),
            "listActivityDeliveries": lists("/v1/activities/crowd/deliveries"),
            "explainActivity": plain("/v1/activities/crowd/explain", "of the crowd"),
            "listDeliveries": lists("/v1/deliveries"),
            "showDelivery": plain(f"/v1/deliveries/{delivery['id']}", "one"),
            "retryDelivery": plain(f"/v1/deliveries/{delivery['id']}/retry", "one"),
            "explain": [Object("a user of 1,000 devices", "/v1/explain", crowd),
                        Object("a token", "/v1/explain", {"token": token(200_005)})],
            "listBudgets": lists("/v1/budgets"),
            "overview": plain("/v1/overview"),
            "listPhones": plain("/v1/phones"), "showPhone": plain("/v1/phones/phone-1"),
            "actOnPhone": [Object("none", "/v1/phones/phone-1", {"do": "front"})],
            "setScenario": [Object("none", "/v1/scenarios/door", {"runs": True})],
            "createPause": [Object(name, "/v1/pauses", {**what, "reason": "held"}, after=self._resume)
                            for name, what in (("all", {"all": True}), ("the crowd's", {"activity": "crowd"}))],
            "listPauses": plain("/v1/pauses"),
            "showPause": [Object("one", f"/v1/pauses/{self.do('GET', '/v1/pauses')['pauses'][0]['id']}")],
            "deletePause": [Object("all", self._made("/v1/pauses/{id}", "POST", "/v1/pauses", {
                "all": True, "reason": "held"}, "id"), after=self._resume)],
            "metrics": plain("/metrics"),
            "home": plain("/"), "live": plain("/livez"), "ready": plain("/readyz"), "version": plain("/version"),
            "openAPI": plain("/openapi.json"), "listProblems": plain("/problems"),
            "showProblem": plain("/problems/unknown-type"), "showConsole": plain("/console/"),
            "showConsoleFile": plain("/console/main.js"),
        }

    def values(self):
        """Of each query parameter a value: for one operation, or for all that have it."""
        newest = json.loads(self.ask(self.request("GET", "/v1/activities/history")).body)

        def cursor(op, one):
            path = op.path.replace("{id}", "crowd")
            path = "/v1/log" if op.id == "tail" else path
            # There are no dead letters here: each place is behind the last of them.
            return str(self.do("GET", path + "?limit=1").get("next_cursor") or 1)

        return {
            "limit": "1000", "cursor": cursor, "user": "crowd", "device": "crowd-0", "key": "a", "config": "a,b,c,d",
            "app": BUNDLE, "environment": "sandbox", "family": "systemLarge", "dry_run": "true", "atomic": "true", "restart": "true", "history": "1h", "os": "26", "silent_for": "1h",
            "status": "active", "type": "Crowd", "listTimelines.kind": "keys", "kind": "all", "activity": "crowd",
            "timelineChoices.cursor": f"{BUNDLE}/a/key/a",
            "fact": ",".join(["card.dismissed"] * 32), "result": ",".join(["refused"] * 32), "do": "stop", "since": "1",
            "listDeliveries.result": "refused", "listActivityDeliveries.result": "refused",
            "from": moment(-3600), "until": moment(3600), "at": moment(0), "tail.kind": "fact", "listRequests.kind": "refused", "code": "unknown-route",
            "at_seq": str(newest["seq"] - 1), "at_version": "2", "version": "2",
            "channel": "channel-0", "reason": "none", "tenant": "main", "q": "c",
        }
