"""What is long or large: arrays, the largest objects of each door, and clients that read their answers slowly."""
import copy
import socket
import struct
import time

from judge import Find, slowness
from wire import HTTP2, NoAnswer, literal

LONG = 10_000
# So many devices of one user, whom long lists name again and again.
CROWD = 1000
# Clients that ask and do not read, as one key can have them.
SLOW_CONNECTIONS, SLOW_STREAMS = 8, 128
OTHERS_WAIT_MAX = 1.0
GROWTH_MAX = 256 << 20
SLOW_FINDS_MAX = 3
SLOW_SECONDS = 2
# An answer of so many bytes is worth a slow reader.
LARGE = 64 << 10
_NAMES = {"device": "d0", "type": "Any", "kind": "profile", "clip": "clip_1", "ref": "base-0", "phone": "phone-1", "scenario": "door",
          "file": "main.js", "seq": "1", "slug": "not-found", "app": "com.example.app"}
# The smallest values of each kind and spelling, of which a body has the most. A megabyte of values that the relay has to
# spell again, such as `"\\/"`, is read twice and takes up to 12 ms: it is not here.
_SMALL = [
    "1", "-1", "10", "0.5", "1.5", "1e1", "1e-100", "1e308", "4.9e-324", "123456789012345678", "true", "null", "[]", "{}",
    "[[1]]", '{"a":1}', '{"a":1,"b":2}', '""', '"a"', '"\\n"', '"\\u001f"', '"é"']
_KNOWN = {"users": "crowd", "devices": "d0", "links": "https://example.com"}


class Largest:
    """One life without chance. `run` answers the finds."""

    def __init__(self, life):
        self.life, self.contract, self.traffic = life, life.contract, life.traffic
        self.number, self.large, self.slow = 0, {}, 0

    def run(self):
        finds = []
        for request in self._requests():
            finds += self.life.give(request)
            if any(find.kind in ("exit", "start") for find in finds):
                return finds
        for request in self._reads():
            finds += self._read(request)
        for target in self.large:
            # What holds others up does so again; a machine that stands still for a second does not.
            found = self._read_slowly(target) and self._read_slowly(target)
            finds += found
            self.slow += bool(found)
            if not self.life.world.is_running():
                return finds + [Find("exit", f"while {target} is read slowly", None)]
            # Each costs a minute where the bound does not hold.
            if self.slow == SLOW_FINDS_MAX:
                break
        return finds

    def _requests(self):
        yield from self.traffic.prelude()
        for index in range(CROWD):
            yield {**self.traffic.request("registerDevice", f"/v1/devices/crowd-{index}", {
                "app": "com.example.app", "environment": "sandbox", "user": "crowd"}), "prelude": True}
            yield {**self.traffic.request("registerToken", f"/v1/devices/crowd-{index}/tokens/widget", {
                "token": f"{index:064x}"}), "prelude": True}
        for op in self.contract.operations.values():
            if op.body is not None:
                yield from self._of_arrays(op)
        yield from self._objects()

    # MARK: arrays

    def _of_arrays(self, op):
        """Each array of the operation's body, long and of equal items: good ones, and ones that are no item."""
        name = self.contract.schema_name(op.body)
        for path, schema in self._arrays(op.body):
            most = schema.get("maxItems", LONG)
            good = _KNOWN.get(path[-1]) or self._item(schema)
            # The first one that has the place, so that the rest of the body is as it must be.
            bodies = self.contract.examples.get(name, []) + [{}]
            long = ((LONG, good), (LONG, {}), (LONG, ""), (min(most, LONG), good))
            # What has no elements is no array because of that.
            for value in [{"$items": [count, item]} for count, item in long] + ["", 0, {}]:
                body = copy.deepcopy(next((one for one in bodies if self._has(one, path[:-1])), {}))
                self._put(body, path, value)
                yield self._with(op, body)

    def _with(self, op, body):
        body = {"$lines": [body]} if op.media_type == "application/x-ndjson" else body
        return self.traffic.request(op.id, self._target(op), body)

    def _arrays(self, schema, path=(), depth=5):
        """The members that are arrays: (their names from the body on, their schema)."""
        schema = self.contract.resolved(schema)
        if depth == 0:
            return
        for option in schema.get("oneOf", []) + schema.get("anyOf", []):
            yield from self._arrays(option, path, depth - 1)
        for name, member in schema.get("properties", {}).items():
            yield from self._arrays(member, path + (name,), depth - 1)
        if path and "items" in schema:
            yield path, schema

    def _item(self, schema):
        item = self.contract.resolved(schema.get("items", {}))
        if "enum" in item:
            return item["enum"][0]
        text = "https://a" if ":" in item.get("pattern", "") and "{" not in item.get("pattern", "") else "a"
        return {"string": text, "object": {"a": 1}, "array": ["a"], "boolean": True}.get(item.get("type"), 1)

    @staticmethod
    def _has(body, path):
        for name in path:
            if not isinstance(body, dict) or name not in body:
                return False
            body = body[name]
        return isinstance(body, dict)

    @staticmethod
    def _put(body, path, value):
        for name in path[:-1]:
            if not isinstance(body.get(name), dict):
                body[name] = {}
            body = body[name]
        body[path[-1]] = value

    def _target(self, op):
        path = op.path
        for parameter in op.named("path"):
            name = parameter["name"]
            if name == "id" and op.id == "startActivity":
                self.number += 1
                value = f"long-{self.number}"
            elif name == "name":
                value = "widget" if "/tokens/" in path else "final"
            else:
                value = _NAMES.get(name, "base-0")
            path = path.replace("{" + name + "}", value)
        return path

    # MARK: objects

    def _objects(self):
        """As large as a door takes them."""
        ask, crowd = self.traffic.request, {"user": "crowd"}
        weekly = {"weekly": {"on": "monday", "at": "06:00", "zone": "UTC"}, "count": 400}
        yield ask("putTimeline", "/v1/timelines/text", {
            "subject": {"user": "u1"}, "content": {"a": {"$repeat": ["a", 1_040_000]}}})
        # Many small values: more to read than one text of the same length.
        for value in _SMALL:
            yield ask("putTimeline", "/v1/timelines/members", {"subject": {"user": "u1"}, "content": {
                "a": {"$items": [1_000_000 // (len(value.encode()) + 1), {"$raw": value}]}}})
        yield ask("putTimeline", "/v1/timelines/entries", {
            "subject": {"user": "u1"}, "content": {"a": 1}, "entries": {"$items": [
                400, {"date": {"$now": 3600}, "content": {"a": {"$repeat": ["a", 2400]}}}]}})
        yield ask("putTimeline", "/v1/timelines/copies", {
            "subject": {"user": "u1"}, "content": {"a": {"$repeat": ["a", 5000]}}, "schedule": weekly})
        yield ask("putTimeline", "/v1/timelines/crowd", {
            "subject": {"key": "k", "readers": {"users": ["crowd"]}}, "content": {"a": 1}})
        # One user again and again: each of the user's widgets reloads once. Each time it is sent it is another one.
        yield ask("putTimeline", "/v1/timelines/crowd", {
            "subject": {"key": "k", "readers": {"users": {"$items": [500, "crowd"]}}}, "content": {"a": {"$now": 0}}})
        yield ask("putTimeline", "/v1/timelines/crowd", {"subject": crowd, "content": {"a": 1}})
        yield ask("putType", "/v1/types/Large", {"state": {"type": "object", "properties": {
            "$members": [1000, "name", {"type": "string"}]}}})
        for index in range(40):
            yield ask("startActivity", f"/v1/activities/large-{index}", {
                "type": "Any", "state": {"a": {"$repeat": ["a", 3900]}}})
        yield ask("startActivity", "/v1/activities/crowd", {"type": "Any", "audience": crowd, "state": {"a": 1}})
        for _ in range(12):
            yield ask("appendEvents", "/v1/events", {"$lines": [
                {"activity": f"large-{index}", "do": "update", "state": {"a": {"$repeat": ["b", 3900]}}}
                for index in range(40)]})

    def _reads(self):
        """Each door of one object, and each list at its longest page."""
        ask = self.traffic.request
        for kind in ("text", "members", "entries", "copies", "crowd"):
            user = "?user=" + ("crowd" if kind == "crowd" else "u1")
            yield ask("showTimeline", f"/v1/timelines/{kind}{user}")
            for door in ("entries", "snapshot", "placeholder"):
                family = "&family=systemLarge"
                yield ask(f"timeline{door.capitalize()}", f"/v1/timelines/{kind}/{door}{user}{family}")
        yield ask("timelineChoices", "/v1/timelines/crowd/choices?device=crowd-0")
        yield ask("showType", "/v1/types/Large")
        yield ask("showDevice", "/v1/devices/d0")
        yield ask("checkDevice", "/v1/devices/d0/check")
        for name in ("large-0", "crowd"):
            yield ask("showActivity", f"/v1/activities/{name}")
            yield ask("listActivityDeliveries", f"/v1/activities/{name}/deliveries?limit=1000")
        for op in self.contract.operations.values():
            if op.method == "GET" and "{" not in op.path and op.id not in ("tail", "listPhones"):
                is_list = any(parameter["name"] == "limit" for parameter in op.named("query"))
                yield ask(op.id, op.path + ("?limit=1000" if is_list else ""))
        yield ask("listLog", "/v1/log?limit=1000&kind=all")

    def _read(self, request):
        """The answer, and the same once more to a client that has it: both within the bound of every request."""
        finds = self.life.give(request)
        answer = self.life.world.get(request["target"])
        if len(answer.body) >= LARGE:
            self.large[request["target"]] = len(answer.body)
        tag = answer.fields.get("etag")
        if tag and answer.status == 200:
            finds += self.life.give({**request, "fields": [["If-None-Match", tag]]})
        return finds

    # MARK: slow readers

    def _read_slowly(self, target):
        """Many ask for it at once and read nothing: others are served all the same, in bounded memory."""
        world, sockets, finds = self.life.world, [], []
        before = world.resident()
        fields = [(b":method", b"GET"), (b":scheme", b"http"), (b":path", target.encode()), (b":authority", b"127.0.0.1"),
                  (b"authorization", b"Bearer " + world.keys["all"].encode())]
        block = b"".join(literal(name, value) for name, value in fields)
        # A window of one byte for each stream.
        hello = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + HTTP2._frame(4, 0, 0, struct.pack(">HI", 4, 1))
        asked = b"".join(HTTP2._frame(1, 5, 1 + 2 * index, block) for index in range(SLOW_STREAMS))
        longest, began = 0, time.monotonic()
        try:
            for _ in range(SLOW_CONNECTIONS):
                one = socket.create_connection(("127.0.0.1", world.port), 5)
                sockets.append(one)
                one.sendall(hello + asked)
            most = before
            while time.monotonic() - began < SLOW_SECONDS:
                start = time.monotonic()
                world.get("/livez", 30)
                longest = max(longest, time.monotonic() - start)
                most = max(most, world.resident())
                time.sleep(0.02)
        except (NoAnswer, OSError) as error:
            if world.is_running():
                finds.append(Find("slow readers", f"of {target}: another request fails: {error}", None))
            return finds
        finally:
            for one in sockets:
                one.close()
            world.one.close()
        about = f"{SLOW_CONNECTIONS} x {SLOW_STREAMS} of {target} ({self.large[target] >> 10} KiB)"
        if longest > OTHERS_WAIT_MAX * slowness():
            finds.append(Find("slow readers", f"{about}: another request waits {longest:.1f} s", None))
        if most - before > GROWTH_MAX:
            finds.append(Find("memory", f"{about}: {most - before >> 20} MB more", None))
        for find in finds:
            find.at = time.monotonic()
        return finds
