"""Requests: valid ones on what lives in the relay, with hostile changes."""
import copy
import urllib.parse

import hostile
from template import Number
from world import BUNDLE

KEYS = {"all": "produce,observe,operate", "produce": "produce", "observe": "observe", "operate": "operate",
        "device": "device:d0"}
DEVICES = [f"d{index}" for index in range(10)]
USERS = ["u1", "u2", "u3"]
PHONES = ["phone-1", "phone-2", "phone-3"]
TYPES = {
    "Any": None,
    "RunnerWidgetAttributes": {
        "type": "object", "properties": {"image": {"type": "string"}, "lap": {"type": "string", "maxLength": 16},
                                         "finish": {"type": "string", "format": "date-time"}},
        "required": ["image"]},
    "Numbers": {
        "type": "object", "properties": {
            "whole": {"type": "integer"}, "share": {"type": "number", "minimum": 0, "maximum": 1},
            "any": {"type": "number"}, "few": {"type": "array", "items": {"type": "number"}, "maxItems": 8},
            "angle": {"type": "number"}}},
    "Dates": {
        "type": "object", "properties": {
            "at": {"type": "string", "format": "date-time"}, "name": {"type": "string", "minLength": 1},
            "each": {"type": "array", "items": {"type": "string", "format": "date-time"}}}},
    "Player": {"type": "object", "properties": {"image": {"type": "string"}}},
    "Mover": {"type": "object", "properties": {"angle": {"type": "number"}, "tint": {"type": "string"}}},
}
_WEIGHTS = {
    "startActivity": 14, "updateActivity": 14, "playClip": 14, "endActivity": 4, "appendEvents": 12,
    "endActivities": 1, "stopClip": 3, "showActivity": 6, "listActivities": 3, "registerDevice": 5,
    "reconcileTokens": 2, "registerToken": 5, "deleteToken": 1, "reportPresence": 4, "reportActivity": 4,
    "postAction": 3,
    "putType": 5, "showType": 1, "reloadTimeline": 2, "reloadControl": 2, "putChannel": 1, "eraseActivity": 0.4,
    "eraseDevice": 0.2, "deleteDevice": 0.5, "listLog": 4, "showEvent": 2, "tail": 0.8, "listRequests": 1, "search": 1, "listDeadLetters": 1,
    "retryDeadLetters": 1, "mintKey": 1, "deleteKey": 0.5, "listKeys": 0.5, "listActivityDeliveries": 3,
    "listDeliveries": 2, "listBudgets": 2, "createPause": 0.6, "deletePause": 1, "metrics": 0.3, "live": 0.1,
    "ready": 0.2, "version": 0.1, "openAPI": 0.1, "listProblems": 0.1,
}
LIVING_MAX = 60


class Traffic:
    """Makes one request after the other, by chance and by what was acknowledged so far."""

    def __init__(self, contract, acknowledged, chance):
        self.contract, self.acknowledged, self.chance = contract, acknowledged, chance
        self.number = 0
        self.operations = list(contract.operations)
        self.weights = [_WEIGHTS.get(name, 0.5) for name in self.operations]

    # MARK: what is there before the first hostile request

    def prelude(self):
        """Requests that make types, devices and tokens."""
        for request in self._prelude():
            yield {**request, "prelude": True}

    def _prelude(self):
        for name, schema in TYPES.items():
            if schema:
                body = {"state": schema}
                body.update({"Player": {"plays": True}, "Mover": {"animates": True}, "Dates": {"dates": "unix"}}.get(name, {}))
                if name == "Numbers":
                    body["reloads"] = {"widgets": True, "controls": ["lock"]}
                yield self.request("putType", f"/v1/types/{name}", body)
        for index, device in enumerate(DEVICES):
            body = {"app": BUNDLE, "environment": "sandbox", "os": "26.1", "user": USERS[index % 3],
                    "frequent_updates": index % 2 == 0, "budget_class": ["lab", "standard", "frequent"][index % 3]}
            yield self.request("registerDevice", f"/v1/devices/{device}", body)
            for kind in [f"start:{name}" for name in TYPES] + ["widget", "control:lock"]:
                yield self.request("registerToken", f"/v1/devices/{device}/tokens/{kind}",
                                   {"token": self._token()})
        yield self.request("putChannel", "/v1/channels/final", {"app": BUNDLE, "storage": "most_recent"})
        for index in range(4):
            yield self.request("startActivity", f"/v1/activities/base-{index}", {
                "type": ["Any", "RunnerWidgetAttributes", "Numbers", "Player"][index],
                "audience": [{"device": "d0"}, {"devices": PHONES}, {"user": "u1"}, {"devices": DEVICES[:3]}][index],
                "alert": {"title": "a", "body": "b"},
                "state": [{"n": 0}, {"image": "a"}, {"angle": 0}, {"image": "a"}][index]})

    def request(self, operation, target, body=None):
        op = self.contract.operations[operation]
        return {"op": operation, "method": op.method, "target": target, "fields": [], "body": body,
                "type": op.media_type if body is not None else None, "key": "all", "http": 1}

    # MARK: one request

    def next(self):
        """The next request."""
        forced = self._forced() or self._follow_up()
        if forced:
            return forced
        chance = self.chance
        op = self.contract.operations[chance.choices(self.operations, self.weights)[0]]
        self.target = self._pick_activity()
        path = self._path(op)
        body = self._body(op)
        query = self._query(op)
        request = {
            "op": op.id if self.routed else None, "method": op.method, "target": path + ("?" + query if query else ""), "fields": [], "body": body,
            "type": op.media_type if body is not None else None, "key": self._key(op), "http": 2 if chance.random() < 0.3 else 1}
        self._fields(op, request)
        return request

    def _forced(self):
        """What keeps the world small enough to stay deep in it."""
        living = self.acknowledged.living()
        if len(living) > LIVING_MAX:
            return self.request("endActivity", f"/v1/activities/{living[0]}/end", {"dismiss": "now"})
        if len(self.acknowledged.pauses) > 2:
            return self.request("deletePause", "/v1/pauses/" + next(iter(self.acknowledged.pauses)))
        if len(self.acknowledged.keys) > 20:
            return self.request("deleteKey", "/v1/keys/" + next(iter(self.acknowledged.keys)))
        if len(self.acknowledged.channels) > 6:
            return self.request("deleteChannel", "/v1/channels/" + self._quoted(next(iter(self.acknowledged.channels))))
        if len(self.acknowledged.devices) > 60:
            name = next(name for name in self.acknowledged.devices if name not in DEVICES)
            return self.request("deleteDevice", "/v1/devices/" + self._quoted(name))
        if not any(device in self.acknowledged.devices for device in DEVICES):
            return self.request("registerDevice", "/v1/devices/d0", {"app": BUNDLE, "environment": "sandbox"})
        return None

    def _follow_up(self):
        """What an app does after a start: it registers its activity's token. Then pushes go to the card."""
        while self.acknowledged.started:
            name = self.acknowledged.started.pop()
            audience = self.acknowledged.activities[name].audience or {}
            devices = [audience.get("device")] + list(audience.get("devices") or [])
            known = [device for device in devices if device in self.acknowledged.devices]
            if known and self.chance.random() < 0.6:
                return self.request("registerToken", f"/v1/devices/{known[0]}/tokens/activity:{name}",
                                    {"token": self._token()})
        return None

    @staticmethod
    def _quoted(name):
        return urllib.parse.quote(name, safe=":@~")

    def fresh(self):
        """A name that was not used before."""
        self.number += 1
        return f"a{self.number}"

    def _token(self):
        length = self.chance.choice([16, 32, 32, 32, 64, 80])
        return "".join(self.chance.choice("0123456789abcdef") for _ in range(length * 2))

    def _pick_activity(self):
        living, known = self.acknowledged.living(), list(self.acknowledged.activities)
        pick = self.chance.random()
        if living and pick < 0.85:
            return self.chance.choice(living[-20:] if self.chance.random() < 0.7 else living)
        if known and pick < 0.95:
            return self.chance.choice(known)
        return self.fresh()

    def _key(self, op):
        if self.chance.random() < 0.94 or not op.scopes:
            return "all"
        return self.chance.choice(list(KEYS) + ["none"])

    def _path(self, op):
        chance = self.chance
        path, self.routed = op.path, True
        for parameter in op.named("path"):
            name = parameter["name"]
            if chance.random() < 0.04:
                text = chance.choice(hostile.NAMES)
                # Such a segment makes another path of it.
                self.routed = self.routed and text not in ("", ".", "..")
            else:
                text = self._quoted(self._name(op, name))
            path = path.replace("{" + name + "}", text)
        return path

    def _name(self, op, name):
        chance, acknowledged = self.chance, self.acknowledged
        if name == "id" and "/activities/" in op.path:
            if op.id == "startActivity" and chance.random() < 0.85:
                self.target = self.fresh()
            return self.target
        if name == "id":
            pool = acknowledged.pauses if "/pauses" in op.path else acknowledged.keys
            return chance.choice(list(pool) or ["pause_1"])
        if name == "clip":
            activity = acknowledged.activities.get(self.target)
            return activity.clip if activity and activity.clip and chance.random() < 0.8 else "clip_1"
        if name == "ref":
            return self.target + chance.choice(["", "", "", "~2", "~1"])
        if name == "device":
            if chance.random() < 0.1:
                return f"e{chance.randrange(40)}"
            return chance.choice(DEVICES + PHONES[:1])
        if name == "name" and "/tokens/" in op.path:
            return chance.choice([f"activity:{self.target}", f"start:{chance.choice(list(TYPES))}", "widget", "control:lock"])
        if name == "name":
            return chance.choice(["final", "c1", "c2", "c3"])
        if name == "type":
            return chance.choice(list(TYPES) + [f"T{chance.randrange(30)}"])
        if name == "kind":
            return chance.choice(["RunnerControl", "lock", "profile"])
        if name == "scenario":
            return "door"
        if name == "app":
            return BUNDLE
        if name == "phone":
            return "phone-1"
        if name == "file":
            return chance.choice(["main.js", "icon.svg", "none.js"])
        if name == "seq":
            return str(chance.choice(acknowledged.sequence_sample() or [1]))
        if name == "slug":
            return chance.choice(["invalid-field", "unauthorized", "nothing", "not-found"])
        raise KeyError(name)

    # MARK: bodies

    def _body(self, op):
        if op.body is None:
            return {"a": 1} if self.chance.random() < 0.02 else None
        if not op.body_required and self.chance.random() < 0.3:
            return None
        if op.media_type == "application/x-ndjson":
            return self._lines(op)
        body = self._one(op.body)
        return self._changed(op.body, body)

    def _changed(self, schema, body):
        pick = self.chance.random()
        times = 0 if pick < 0.4 else 1 if pick < 0.8 else 2 if pick < 0.94 else 3
        return hostile.mutate(self.contract, schema, body, self.chance, times)

    def _lines(self, op):
        chance = self.chance
        lines = []
        for _ in range(chance.choice([0, 1, 1, 2, 3, 5, 20])):
            self.target = self._pick_activity()
            line = self._one(op.body)
            lines.append(self._changed(op.body, line) if chance.random() < 0.5 else line)
        if chance.random() < 0.04:
            lines.insert(0, chance.choice(
                [{"$raw": ""}, {"$raw": "a"}, {"$hex": "ff"}, {"$repeat": [" ", 60000]}, {"$deep": [40, "[", 0]}, {"$raw": "\r"}]))
        return {"$lines": lines}

    def _one(self, schema):
        """A body that the schema takes, and mostly the relay too."""
        chance, name = self.chance, self.contract.schema_name(schema)
        examples = self.contract.examples.get(name)
        if examples and chance.random() < 0.3:
            example = self._placed(copy.deepcopy(chance.choice(examples)))
            if "type" in example and name != "type":
                example["type"] = self._known("type")
            return example
        bounds = chance.random() < 0.4
        resolved = self.contract.resolved(schema)
        if name == "event-line":
            return self._line(resolved, bounds)
        return self._object(resolved, name, bounds)

    def _line(self, schema, bounds):
        chance = self.chance
        do = chance.choice(["start", "update", "update", "play", "play", "end", "stop"])
        if do == "start":
            self.target = self.fresh()
        name = {"start": "start", "update": "update", "play": "clip", "end": "end", "stop": None}[do]
        inner = self._object(self.contract.document["components"]["schemas"][name], name, bounds) if name else {}
        line = {"activity": self.target, "do": do, **inner}
        if chance.random() < 0.3:
            line["id"] = chance.choice([f"id{chance.randrange(40)}", f"id{self.fresh()}"])
        return line

    def _placed(self, value):
        """An example with names that live here."""
        if isinstance(value, dict):
            for name, member in value.items():
                if name == "devices":
                    value[name] = self.chance.sample(DEVICES, 2)
                elif name in ("device", "user", "activity", "channel") and isinstance(member, str):
                    value[name] = self._known(name)
                elif name == "path" and isinstance(member, str):
                    value[name] = self._pointer()
                else:
                    self._placed(member)
        elif isinstance(value, list):
            for member in value:
                self._placed(member)
        return value

    def _known(self, name):
        chance = self.chance
        if name == "device":
            return chance.choice(DEVICES + PHONES)
        if name == "user":
            return chance.choice(USERS)
        if name == "channel":
            return chance.choice(["final", "c1"])
        if name == "activity":
            return self.target
        if name == "type":
            return chance.choice(list(TYPES))
        return None

    def _object(self, schema, name, bounds, at=""):
        chance = self.chance
        properties = schema.get("properties", {})
        chosen = set(schema.get("required", ()))
        groups = [group for part in [schema, *schema.get("allOf", ())]
                  for group in part.get("oneOf", []) + part.get("anyOf", [])]
        grouped = {member for group in groups for member in group.get("required", ())}
        if groups:
            chosen |= set(chance.choice(groups).get("required", ()))
        share = chance.choice([0.1, 0.3, 0.7])
        chosen |= {member for member in properties if member not in grouped and chance.random() < share}
        if name == "update" or name in ("end", "end-many"):
            chosen -= {"replace"} if chance.random() < 0.7 else {"state"}
            if name == "update" and not chosen & {"state", "replace", "alert", "relevance", "stale_after"}:
                chosen.add("state")
        self.type = None
        body = {}
        for member in properties:
            if member in chosen:
                body[member] = self._member(member, self.contract.resolved(properties[member]), bounds, name, at)
        return body

    def _member(self, member, schema, bounds, owner, at):
        chance = self.chance
        if member == "type" and owner in ("start", "end-many", "pause-request"):
            self.type = chance.choice(list(TYPES))
            return self.type
        if member in ("state", "replace"):
            return self._state(owner)
        if member == "app":
            return BUNDLE
        if member in ("devices",):
            return chance.sample(DEVICES + PHONES, chance.choice([1, 2, 4]))
        if member in ("device", "user", "channel", "activity"):
            return self._known(member)
        if member == "path":
            return self._pointer()
        if member == "frames" and schema.get("type") == "array":
            return self._frames(bounds)
        if member in ("from", "to"):
            return self._end(bounds)
        if member in ("title", "body", "sound", "reason", "cause") and chance.random() < 0.8:
            return chance.choice(["a", "Mike is off", "default"])
        if member == "token":
            return self._token()
        if member == "tokens":
            return {name: {"token": self._token()} for name in
                    chance.sample([f"activity:{self.target}", "start:Any", "start:Numbers", "widget", "control:lock"], 2)}
        if member == "time_zone":
            return chance.choice(["Asia/Tokyo", "Europe/Berlin", "UTC", "Mars/Base"])
        if member == "attributes":
            return {} if chance.random() < 0.5 else {"name": self._leaf()}
        if member == "id_at":
            return chance.choice(["/activity_id", "/a/b", None])
        if member == "scopes":
            return chance.sample(["produce", "observe", "operate", "device:d1"], chance.choice([1, 2]))
        if member == "id" and owner == "retry":
            return f"dead_{chance.randrange(1, 5)}"
        if member == "budget_class":
            return chance.choice(schema["enum"])
        if member in ("shown_state",):
            return {"n": chance.randrange(3)}
        return self._valid(schema, bounds, member, at)

    def _state(self, owner):
        if owner == "type":
            return self._type_schema()
        chance = self.chance
        activity = self.acknowledged.activities.get(self.target)
        kind = self.type if owner == "start" else activity.type if activity else None
        schema = TYPES.get(kind)
        if schema:
            state = {}
            for name, inner in schema["properties"].items():
                if owner == "start" and name in ("angle", "image") or name in schema.get("required", ()) and owner != "update" \
                        or chance.random() < 0.5:
                    state[name] = self._valid(inner, chance.random() < 0.4, name, "")
        else:
            state = {name: self._leaf() for name in
                     chance.sample(["n", "lap", "image", "angle", "card", "at"], chance.choice([0, 1, 2, 4]))}
        if chance.random() < 0.05:
            state[chance.choice(["text", "image", "lap"])] = {"$repeat": ["c", chance.choice([500, 1500, 3000, 3500])]}
        if chance.random() < 0.2:
            state[chance.choice(hostile.KEYS)] = hostile.free(chance)
        return state

    def _type_schema(self):
        chance = self.chance
        if chance.random() < 0.3:
            return chance.choice([schema for schema in TYPES.values() if schema])
        leaf = lambda: chance.choice([
            {"type": "string"}, {"type": "string", "format": "date-time"}, {"type": "number", "minimum": {"$raw": chance.choice(hostile.NUMBERS)}},
            {"type": "integer", "maximum": {"$raw": chance.choice(hostile.INTEGERS)}}, {"type": "array", "items": {"type": "number"},
             "maxItems": {"$raw": chance.choice(hostile.INTEGERS)}}, {"enum": [1, "a", None, {"$raw": chance.choice(hostile.NUMBERS)}]},
            {"const": {"$raw": chance.choice(hostile.NUMBERS)}}, {"type": "string", "maxLength": {"$raw": chance.choice(hostile.INTEGERS)}}, {},
            {"$deep": [chance.choice(hostile.DEPTHS), "{", 0]}])
        schema = {"type": "object", "properties": {name: leaf() for name in chance.sample(["n", "lap", "image", "angle", "card"], 3)}}
        if chance.random() < 0.2:
            schema["properties"] = {"$members": [300, "name", {"type": "number"}]}
        if chance.random() < 0.3:
            schema["additionalProperties"] = chance.choice([False, True, {"type": "number"}])
        return schema

    def _leaf(self):
        chance = self.chance
        return chance.choice([0, 1, "a", 2.5, True, {"x": 1, "y": [1, 2]}, [0, 1], "2026-11-20T09:03:00Z", "#ff0000",
                              {"$raw": chance.choice(["1.0", "1e2", "0.10", "-0", "1e308", "9007199254740993"])}])

    def _pointer(self):
        """A place in the target's state, mostly."""
        chance = self.chance
        activity = self.acknowledged.activities.get(self.target)
        state = activity.state if activity else None
        if not isinstance(state, dict) or not state or chance.random() < 0.1:
            return chance.choice(["/n", "/image", "/angle", "/a/b", "/"])
        pointer, value = "", state
        while isinstance(value, dict) and value and (not pointer or chance.random() < 0.6):
            name = chance.choice(list(value))
            pointer += "/" + name.replace("~", "~0").replace("/", "~1")
            value = value[name]
        return pointer[:200]

    def _frames(self, bounds):
        chance = self.chance
        count = chance.choice([2, 3, 256, 255] if bounds else [2, 3, 5])
        kind = chance.choice(["text", "number", "object", "mixed", "hostile", "large"])
        if kind == "large":
            # Near what a push may hold, together with the state.
            size = chance.choice([1500, 2500, 3000, 3500, 3800])
            return [{"$repeat": [letter, size]} for letter in "ab"]
        if kind == "text":
            return {"$items": [count, "a"]} if count > 5 else [f"f{index}" for index in range(count)]
        if kind == "number":
            return {"$items": [count, 1]} if count > 5 else list(range(count))
        if kind == "object":
            return [{"x": index} for index in range(min(count, 5))]
        return [self._leaf() if kind == "mixed" else hostile.free(chance) for _ in range(min(count, 5))]

    def _end(self, bounds):
        chance = self.chance
        number = lambda: {"$raw": chance.choice(
            ["1e306", "-1e306", "1e308", "-1e308", "5e-324", "1.7976931348623157e308", "9007199254740993", "-0", "0"])} \
            if bounds and chance.random() < 0.6 else chance.choice([0, 1, 90, 180, -360, 0.5, 720])
        pick = chance.random()
        if pick < 0.6:
            return number()
        if pick < 0.75:
            return [number() for _ in range(chance.choice([1, 2, 3, 4]))]
        if pick < 0.85:
            return chance.choice(["#ff0000", "#00ff00", "#ff000080", "#FFF"])
        return {"x": number(), "tint": "#00ff00"}

    def _valid(self, schema, bounds, member="", at=""):
        """A value that the schema takes: typical, or at a bound."""
        chance = self.chance
        schema = self.contract.resolved(schema)
        if "oneOf" in schema and "properties" not in schema:
            return self._valid(chance.choice(schema["oneOf"]), bounds, member, at)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type")
        kind = chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "object":
            return self._object(schema, member, bounds) if schema.get("properties") else {}
        if kind == "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", 4)
            count = chance.choice([least, most] if bounds and most <= 16 else [max(least, 1), min(most, 3)])
            return [self._valid(schema.get("items", {}), bounds, member) for _ in range(count)]
        if kind == "boolean":
            return chance.random() < 0.5
        if kind in ("integer", "number"):
            return self._valid_number(schema, bounds)
        if kind == "string":
            return self._valid_text(schema, bounds)
        if kind == "null":
            return None
        return self._leaf()

    def _valid_number(self, schema, bounds):
        chance = self.chance
        least, most = schema.get("minimum"), schema.get("maximum")
        if not bounds:
            return chance.choice([n for n in (0, 1, 2, 3, 100) if (least is None or n >= least) and (most is None or n <= most)]
                                 or [least or most])
        ends = [end for end in (least, most) if end is not None]
        if len(ends) == 2:
            return chance.choice(ends)
        whole = schema.get("type") == "integer"
        far = ["9223372036854775807", "9007199254740993", "2147483648", "0"] if whole else [
            "1e308", "1.7976931348623157e308", "5e-324", "1e306", "9223372036854775807", "9223372036854775808", "0.95"]
        if least is None:
            far += ["-9223372036854775808", "-9223372036854775807"] + ([] if whole else ["-1e308", "-0", "-5e-324"])
        return {"$raw": chance.choice(far + [hostile._number(end) for end in ends])}

    def _valid_text(self, schema, bounds):
        chance = self.chance
        if hostile.is_duration(schema):
            ends = hostile.bounds_of_duration(schema)
            if ends and bounds:
                return chance.choice(ends)
            return chance.choice(["90s", "10m", "1h"] if not ends or ends[0] == "1s" else ["10ms", "100ms", "1s", "1h"])
        if schema.get("format") == "date-time":
            return {"$now": chance.choice(hostile.OFFSETS if bounds else [-2, 0, 60])}
        if "after 15m" in schema.get("examples", ()):
            return chance.choice(["now", "default", "after 15m", "after 4h", "after 1s", {"$now": 3600}])
        if schema.get("pattern") == "^/":
            return "/a"
        if "token" in schema.get("description", "") or "Hex" in schema.get("description", ""):
            return self._token()
        longest = schema.get("maxLength")
        if bounds and longest and longest <= 4096:
            return {"$repeat": ["a", longest]}
        return chance.choice(["a", "Mike", "2/5", "é", "26.1"])

    # MARK: query and fields

    def _query(self, op):
        chance = self.chance
        items = []
        for parameter in op.named("query"):
            if chance.random() < (0.04 if parameter["name"] == "dry_run" else 0.25):
                items.append((parameter["name"], self._argument(parameter)))
        if chance.random() < 0.01:
            items.append(chance.choice([("", ""), ("a", "b"), ("%ff", "1"), ("limit", "1"), ("=", "")]))
        if items and chance.random() < 0.04:
            items.append((items[0][0], self._argument({"name": items[0][0], "schema": {}})))
        if chance.random() < 0.003:
            return chance.choice(["&" * 4000, "a=" * 2000, "?" * 100, "%", "limit", "limit=1&" * 800])
        return "&".join(f"{name}={value}" for name, value in items)

    def _argument(self, parameter):
        chance, name = self.chance, parameter["name"]
        if parameter.get("schema", {}).get("type") == "boolean":
            return "true" if chance.random() < 0.6 else chance.choice(hostile.BOOLEANS)
        if name == "limit":
            return chance.choice(hostile.LIMITS if chance.random() < 0.5 else ["1", "10", "1000"])
        if name == "cursor":
            cursors = self.acknowledged.cursors
            return urllib.parse.quote(chance.choice(cursors)) if cursors and chance.random() < 0.6 else chance.choice(hostile.CURSORS)
        if name in ("at_seq", "since"):
            return str(chance.choice(self.acknowledged.sequence_sample() or [1])) if chance.random() < 0.5 \
                else chance.choice(hostile.SEQUENCES)
        if name in ("at", "from", "until"):
            return urllib.parse.quote(chance.choice(hostile.TIMES)) if chance.random() < 0.6 else self._moment()
        if name in ("activity", "device", "type", "user", "app"):
            if chance.random() < 0.15:
                return chance.choice(hostile.NAMES)
            return BUNDLE if name == "app" else urllib.parse.quote(self._known(name))
        if "enum" in parameter.get("schema", {}):
            return chance.choice(parameter["schema"]["enum"] + ["", "ACTIVE", "a"])
        return chance.choice(["a", "PayloadTooLarge", "", "%00"])

    def _moment(self):
        import template
        return urllib.parse.quote(template.parse(template.render({"$now": self.chance.choice([-3600, -1, 0, 0, 1, 3600])})))

    def _fields(self, op, request):
        chance = self.chance
        add = lambda name, pool: request["fields"].append([name, chance.choice(pool)])
        header = [parameter["name"] for parameter in op.named("header")]
        if "Idempotency-Key" in header and chance.random() < 0.15:
            request["fields"].append(["Idempotency-Key", f"k{chance.randrange(60)}"])
        if chance.random() > 0.25:
            return
        pools = [("Prefer", hostile.PREFERENCES), ("If-Match", hostile.ETAGS), ("If-None-Match", hostile.ETAGS),
                 ("Idempotency-Key", hostile.IDEMPOTENCY), ("Accept", hostile.ACCEPTS), ("traceparent", hostile.TRACES),
                 ("Last-Event-ID", hostile.LAST_EVENTS)]
        weights = [6 if name in header else 1 for name, _ in pools]
        pick = chance.random()
        if pick < 0.65:
            for _ in range(chance.choice([1, 1, 2])):
                add(*chance.choices(pools, weights)[0])
        elif pick < 0.75:
            request["type"] = chance.choice(hostile.MEDIA_TYPES)
        elif pick < 0.82:
            add("Authorization", hostile.AUTHORIZATIONS)
            request["key"] = "none" if chance.random() < 0.8 else "all"
        elif pick < 0.94:
            request["fields"].append(list(chance.choice(hostile.PLAIN_FIELDS)))
        elif request["http"] == 1 and request["body"] is not None:
            request["framing"] = chance.choice(["chunked", "chunks of 1", "chunk extension", "trailer", "twice", "long", "both"])
        else:
            add("Content-Length", ["0", "-1", "99999999999999999999", "a", "", "+1", "0x1", "1, 1"])


__all__ = ["Traffic", "Number"]
