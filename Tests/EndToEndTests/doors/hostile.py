"""Hostile values for each kind of member, and where in a body they go."""
import copy
import re

from template import instruction

INTEGERS = [
    "0", "-0", "1", "-1", "2", "127", "128", "255", "256", "1000", "1001", "65535", "65536", "1000000",
    "1000001", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
    "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
    "9223372036854774784", "9223372036854775807", "9223372036854775808", "-9223372036854775807",
    "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
    "1000000000000000000000", "1e3", "1E+2", "1.0", "10e-1", "1e18", "9.2233720368547758e18", "1e19",
    "-9223372036854775808.0", "1e400", "-1e400",
]
# What JSON has not.
BROKEN = ["00", "01", "+1", "1.", ".5", "0x10", "1e", "NaN", "Infinity", "-Infinity", "1_000", "-", "tru", "'a'", ""]
NUMBERS = INTEGERS + [
    "1e306", "-1e306", "1e307", "1e308", "-1e308", "1.7976931348623157e308", "-1.7976931348623157e308",
    "1.7976931348623159e308", "1e309", "1e-306", "1e-308", "2.2250738585072014e-308", "5e-324",
    "4.9e-324", "2e-324", "1e-400", "-1e-400", "0e400", "0e-400", "-0.0", "0.1", "0.30000000000000004",
    "1e99999", "1e-99999", "1e9999999999999999999", "123456789012345678901234567890.123456789",
    "1" + "0" * 400, "0." + "0" * 400 + "1", "0." + "3" * 2000, "1e16", "1e15", "1e21", "1e-7",
    "0.95", "-0.95", "0.9500000000000001", "1e154", "-1e154", "1e155", "4503599627370496.5",
]
TEXTS = [
    "", " ", "a", "\t", "\u0000", "\u0000a", "a\u0000", "\u001f", "\u007f", "\u0085", "\u2028", "\ufeff",
    "\uffff", "\U0001f469\u200d\U0001f680", "e\u0301", "\u202eabc", "\ufdfa" * 20, "../..", "/", "//", "~",
    "~0~1", "~2", "a~2", "%00", "%2e%2e", "%", "'", "\"", "\\", "<script>", "null", "true", "0", "end",
    ".", "..", "-", "@", ":", "start:", "activity:", "{}", "[]", "$", "*", "?", "#", "&", "=", ";", ",",
    "\r\n", "\r\nX-A: b", "a b", "\ud83d\ude00", "İ", "ß", "ſ", "K",
]
TEMPLATES_OF_TEXT = [
    {"$repeat": ["a", n]} for n in (63, 64, 127, 128, 129, 255, 256, 257, 1000, 4000, 4096, 5000, 20000,
                                    60000)
] + [
    {"$repeat": ["é", 128]}, {"$repeat": ["\u0301", 3000]}, {"$repeat": ["\U0001f600", 1000]},
    {"$repeat": ["\u0000", 2000]}, {"$repeat": ["/", 4000]}, {"$repeat": ["~0", 2000]},
    {"$repeat": ["\"", 3000]}, {"$repeat": ["/a", 2000]}, {"$repeat": ["/0", 40]},
    {"$raw": '"\\ud800"'}, {"$raw": '"\\udc00\\ud800"'}, {"$raw": '"\\u0000"'}, {"$raw": '"\\/"'},
    {"$raw": '"\\x"'}, {"$raw": '"'}, {"$hex": "22ff22"}, {"$hex": "22c08022"}, {"$hex": "22eda08022"},
    {"$hex": "22f490808022"}, {"$hex": "220122"}, {"$hex": "220a22"},
]
DURATIONS = [
    "0s", "0ms", "1ms", "0.5ms", "0.001ms", "9ms", "10ms", "10.0ms", "999ms", "1s", "0.999s", "1.5s", "59m",
    "1h", "1h1ms", "60m", "3600s", "3600001ms", "8h", "12h", "12h1ms", "43200s", "43201s", "24h", "30d",
    "87600h", "106751d", "106752d", "106751991167d", "9223372036s", "9223372037s", "9223372036854s",
    "9223372036854775ms", "9223372036854775807ms", "9223372036854775808ms", "9223372036854775807s",
    "9223372036854775807d", "18446744073709551616ms", "0.0000000001s", "0.1ms", ".5s", "5.s", ".s", "1..5s",
    "1e3s", "-1s", "+1s", " 1s", "1s ", "1 s", "1S", "1H", "1m1h", "1h1h", "1h30m", "1h30m15s500ms", "", "s",
    "10", "1w", "1us", "１s", "1s\u0000", "23h59m59.999s", "0h0m0s", "1d", "1000000h", "99999999d",
]
TEMPLATES_OF_DURATION = [
    {"$repeat": ["100d", 1068]}, {"$repeat": ["1ms", 3000]}, {"$repeat": ["0s", 5000]},
    {"$raw": '"0.' + "3" * 300 + 's"'}, {"$raw": '"' + "9" * 400 + 'd"'},
    {"$raw": '"' + "0" * 400 + '1s"'}, {"$repeat": ["99999999d", 1200]}, {"$repeat": ["1h", 10000]},
]
TIMES = [
    "2026-11-20T09:03:00Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59",
    "1582-10-10T00:00:00Z", "1677-09-21T00:12:43Z", "1900-01-01T00:00:00Z", "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00Z", "2000-02-29T00:00:00Z", "2001-01-01T00:00:00Z", "2016-12-31T23:59:60Z",
    "2024-02-29T12:00:00Z", "2026-02-29T00:00:00Z", "2038-01-19T03:14:08Z", "2262-04-11T23:47:16.854775807Z",
    "2262-04-11T23:47:17Z", "9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59-23:59",
    "9999-12-31T23:59:60Z", "10000-01-01T00:00:00Z", "-0001-01-01T00:00:00Z", "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-04-31T00:00:00Z",
    "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00",
    "2026-01-01", "2026-01-01 00:00:00Z", "2026-01-01t00:00:00z", "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+14:00", "2026-01-01T00:00:00-00:00", "2026-01-01T00:00:00+1400",
    "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00." + "1" * 1000 + "Z", "２026-01-01T00:00:00Z",
    "2026-01-01T00:00:00Z ", "1780000000", "", "now",
]
OFFSETS = [-10 ** 8, -31 * 86400, -86400, -8 * 3600 - 1, -8 * 3600, -3600, -120, -1, 0, 1, 60, 3600,
           8 * 3600 - 1, 8 * 3600, 8 * 3600 + 1, 12 * 3600, 86400, 30 * 86400, 366 * 86400, 10 ** 9]
KEYS = [
    "", " ", "a", "a/b", "~", "~1", "\u0000", "\"", "\\", "__proto__", "constructor", "$ref", "clip",
    "activity_id", "_v", "aps", "event", "timestamp", "content-state", "attributes-type", "state", "é",
    "e\u0301", "\U0001f600", "\u202e", "0", "-1", "00", "type", "lint", "version", "İ",
]
# Around what a state may have with all that is put around it; and what no JSON here may have.
DEPTHS = [1, 2, 8, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]
DEEP = [33, 34, 64, 100, 1000, 10000, 30000]

PREFERENCES = [
    "wait=0", "wait=1", ";", ";;", "a, ;", ",", ",,", "", " ", "=", "=;", "wait", "wait=", "=1", "wait=;", "wait=-1",
    "wait=1.5", "wait=1e3", "wait=0x1", "wait= 0", "wait=\"0\"", "WAIT=0", "wait=0;x=y", "wait=0, wait=0",
    "respond-async, wait=0", "wait=0;", ";wait=0", "wait==0", "a" * 8000, ";" * 8000, "," * 8000,
    "return=minimal", "wait=00000000000000000000000", "wait=\u00ff", "wait=+0",
]
ETAGS = [
    "*", "\"v1\"", "\"v0\"", "\"v-1\"", "\"v2\"", "v1", "W/\"v1\"", "\"v1\", \"v2\"", "\"v9223372036854775807\"",
    "\"v9223372036854775808\"", "\"v99999999999999999999\"", "\"v\"", "\"\"", "\"", "", "\"v01\"", "\"v1", "\"v1\" ",
    "\"v１\"", "\"" + "v" * 4000 + "\"", "\"v" + "9" * 4000 + "\"",
]
IDEMPOTENCY = [
    "", "a", "\"a\"", "\"\"", "\"", "\"\"\"", "a" * 255, "a" * 256, "\"" + "a" * 255 + "\"", "a" * 8000, "a b", "a,b",
    "\u00ff", "é", "a\"b",
]
MEDIA_TYPES = [
    "", "application/json; charset=utf-8", "application/json;charset=utf-16", "APPLICATION/JSON", "text/plain",
    "application/x-ndjson", "application/cloudevents+json", "application/cloudevents-batch+json",
    "application/merge-patch+json", "application/json, text/plain", "application/json;", ";", "/", "a" * 4000,
    "multipart/form-data", "application/x-www-form-urlencoded", "application/json; a=\"", "*/*",
]
ACCEPTS = [
    "*/*", "", "text/event-stream", "application/x-ndjson", "application/json", "text/html", ";", ",", "*/*;q=0",
    "application/json;q=9999999999999999999", "application/json;q=-1", "a/b;" * 1000, "application/problem+json",
]
TRACES = [
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-00", "",
    "-", "---", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4BF92F3577B34DA6A3CE929D0E0E4736-x",
    "00-" + "a" * 33 + "-b-c", "-" * 4000, "a" * 8000,
]
AUTHORIZATIONS = [
    "", "Bearer", "Bearer ", "Bearer  a", "bearer a", "Basic YTpi", "Bearer tmb_", "Bearer tmb_dev_a_b_c",
    "Bearer tmb____", "Bearer " + "a" * 8000, "Bearer \u00ff", "Bearer a b", "Digest a", "tmb_dev_a_b_c", ",",
]
LAST_EVENTS = [
    "0", "1", "-1", "", "9223372036854775807", "9223372036854775808", "99999999999999999999", "a", "0 ", "00", "1.0",
    "1e3", "f1", "1-1", "c0.f0", "a" * 4000,
]
PLAIN_FIELDS = [
    ("Expect", "100-continue"), ("Expect", "200-ok"), ("Content-Encoding", "gzip"), ("Content-Encoding", "identity"),
    ("Range", "bytes=0-1"), ("Range", "bytes=9-1"), ("Origin", "https://a.example"), ("Upgrade", "h2c"), ("Cookie", "a=b"),
    ("If-Modified-Since", "yesterday"), ("X-Forwarded-For", "1.2.3.4"), ("TE", "trailers"), ("Accept-Encoding", "gzip"),
    ("X-HTTP-Method-Override", "DELETE"), ("Connection", "close"), ("Connection", "keep-alive"), ("User-Agent", "a" * 4000),
    ("Via", "1.1 a"), ("Max-Forwards", "0"), ("Content-Language", "\u00ff"), ("If-Unmodified-Since", "Sat, 99 Foo"),
]
LIMITS = [
    "0", "1", "2", "999", "1000", "1001", "-1", "", "a", "1.0", "1e2", "01", "+1", "2147483648", "9223372036854775807",
    "9223372036854775808", "99999999999999999999", " 1", "1%20", "%31",
]
CURSORS = [
    "", "0", "1", "-1", "a", "9223372036854775807", "9223372036854775808", "99999999999999999999", "1.1", "c0f0", "0-0", "0.0",
    "1,1", "%00", "%ff", "=", "====", "AAAA", "a" * 4000, "c1", "f1", "c1.f1", "1:1", "9223372036854775807.9223372036854775807",
]
BOOLEANS = ["true", "false", "", "1", "0", "TRUE", "yes", "null", "true,false", "%74rue"]
SEQUENCES = [
    "0", "1", "2", "-1", "", "9223372036854775806", "9223372036854775807", "9223372036854775808", "99999999999999999999", "a",
    "1.0", "1e3", "01", "+1", "%31",
]
NAMES = [
    "a", "end", "a" * 128, "a" * 129, "~", "a~2", "a~1", "a~0", "a~", "a~-1", "a~9223372036854775807", "a~9223372036854775808",
    "%00", "%ff", "%2f", "%2e%2e", "..", ".", "%", "%zz", "%e2%82%ac", "-", ":", "@", "a%20b", "", "a%0d%0ab", "start:", "start:A",
    "activity:", "activity:a~2", "widget", "widget:", "control:", "control:a", "control:%00", "x:y", "v1", "0",
    "9223372036854775807", "clip_0", "clip_1", "clip_9223372036854775808", "pause_1", "pause_0", "dead_1", "a+b", "a;b", "a=b",
]

_BOUNDS = re.compile(r"([0-9.]+(?:ms|s|m|h|d)) to ([0-9.]+(?:ms|s|m|h|d))")


def is_duration(schema):
    return "(ms|s|m|h|d)" in schema.get("pattern", "")


def bounds_of_duration(schema):
    """The least and the most, where the description says so: "10ms to 1h"."""
    match = _BOUNDS.search(schema.get("description", ""))
    return match.groups() if match else None


def numbers(schema):
    """Numbers around the schema's bounds, and extremes."""
    whole = schema.get("type") == "integer"
    near = []
    for name in ("minimum", "maximum"):
        if name in schema:
            step = 1 if whole else 1e-9
            near += [_number(schema[name] + offset) for offset in (-step, 0, step)]
    return near, INTEGERS if whole else NUMBERS


def _number(value):
    return str(int(value)) if value == int(value) else repr(value)


def free(chance, level=0):
    """Something hostile where any JSON may be."""
    pick = chance.random()
    if pick < 0.35:
        return {"$raw": chance.choice(NUMBERS if chance.random() < 0.95 else BROKEN)}
    if pick < 0.55:
        return text(chance)
    if pick < 0.72:
        return {"$deep": [chance.choice(DEPTHS if chance.random() < 0.9 else DEEP), chance.choice("[{"),
                          0 if chance.random() < 0.7 or level else free(chance, 1)]}
    if pick < 0.8:
        return {"$members": [chance.choice([100, 300, 1000, 10000]), chance.choice(["", "name", "é", "x" * 100]), 0]}
    if pick < 0.87:
        return {"$items": [chance.choice([255, 256, 257, 1000, 10000]), chance.choice([0, {}, [], "", None])]}
    if pick < 0.93:
        return {"$pairs": [[chance.choice(KEYS), 1], [chance.choice(KEYS), {"$raw": chance.choice(NUMBERS)}]]}
    return chance.choice([None, True, False, {}, [], [[]], [{}], {"": {}}, [None]])


def text(chance):
    return chance.choice(TEMPLATES_OF_TEXT) if chance.random() < 0.4 else chance.choice(TEXTS)


def value(schema, chance):
    """Something hostile for a member of this schema."""
    pick = chance.random()
    if pick < 0.06:
        return None
    if pick < 0.14:
        return chance.choice([True, "", "a", 0, [], {}, {"$raw": "1e400"}, {"$deep": [31, "[", 0]}, [[]]])
    kind = schema.get("type")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    if kind in ("integer", "number"):
        near, far = numbers(schema)
        return {"$raw": chance.choice(near if near and chance.random() < 0.4 else far)}
    if kind == "string":
        return _hostile_text(schema, chance)
    if kind == "boolean":
        return chance.choice([True, False, 0, 1, "true", None])
    if kind == "array":
        most = schema.get("maxItems", 256)
        count = chance.choice([0, 1, 2, most - 1, most, most + 1, 10000])
        items = schema.get("items", {})
        inside = value(items, chance) if chance.random() < 0.5 else plain_leaf(items)
        if instruction(inside):
            # Many of what is large would be gigabytes.
            count = min(count, 3)
        return {"$items": [count, inside]}
    return free(chance)


def plain_leaf(schema):
    if is_duration(schema):
        return "1s"
    return {"string": "a", "object": {}, "array": [], "boolean": True}.get(schema.get("type"), 0)


def _hostile_text(schema, chance):
    if is_duration(schema):
        bounds = bounds_of_duration(schema)
        if bounds and chance.random() < 0.4:
            return chance.choice(bounds)
        return chance.choice(TEMPLATES_OF_DURATION if chance.random() < 0.15 else DURATIONS)
    if schema.get("format") == "date-time":
        return {"$now": chance.choice(OFFSETS)} if chance.random() < 0.4 else chance.choice(TIMES)
    if "enum" in schema and chance.random() < 0.6:
        word = chance.choice(schema["enum"])
        return chance.choice([word, word.upper() if word else word, (word or "") + " ", (word or "")[:-1]])
    if "after 15m" in schema.get("examples", ()):
        return chance.choice(
            ["after " + chance.choice(DURATIONS), "after", "after ", "now ", "NOW", "default"] + TIMES[:24])
    if "pattern" in schema and chance.random() < 0.5:
        return chance.choice([name for name in NAMES if "%" not in name])
    return text(chance)


def places(contract, schema, body):
    """Every place in a body: (container, key or index, schema of what is there)."""
    found, stack = [], [(body, schema)]
    while stack:
        item, known = stack.pop()
        known = contract.resolved(known) if known else {}
        if instruction(item):
            continue
        if isinstance(item, dict):
            properties = dict(known.get("properties", {}))
            for option in known.get("oneOf", []) + known.get("anyOf", []):
                properties.update(contract.resolved(option).get("properties", {}))
            for name, member in item.items():
                inner = contract.resolved(properties.get(name, {}))
                found.append((item, name, inner))
                stack.append((member, inner))
        elif isinstance(item, list):
            inner = contract.resolved(known.get("items", {}))
            for index, member in enumerate(item):
                found.append((item, index, inner))
                stack.append((member, inner))
    return found


def mutate(contract, schema, body, chance, times):
    """The body with so many hostile changes."""
    body = copy.deepcopy(body)
    for _ in range(times):
        body = _mutate_once(contract, schema, body, chance)
    return body


def _mutate_once(contract, schema, body, chance):
    if instruction(body):
        return body
    spots = places(contract, schema, body)
    objects = [(item[key], inner) for item, key, inner in spots
               if isinstance(item[key], dict) and not instruction(item[key])]
    if isinstance(body, dict):
        objects.append((body, contract.resolved(schema)))
    pick = chance.random()
    if pick < 0.03:
        return chance.choice([
            {"$cut": [body, chance.randrange(40)]}, {"$around": ["efbbbf", body, ""]},
            {"$around": ["", body, "00"]}, {"$around": ["", body, "7b7d"]}, {"$around": ["0a0d2009", body, "0a"]},
            {"$around": ["2f2f610a", body, ""]}, {"$around": ["5b", body, "5d"]}, {"$hex": ""}, None, [], "",
            {"$around": ["", body, "20" * 70000]}, {"$around": ["20" * 60000, body, ""]}])
    if pick < 0.68 and spots:
        item, key, inner = chance.choice(spots)
        item[key] = value(inner, chance) if inner else free(chance)
    elif pick < 0.88 and objects:
        target, inner = chance.choice(objects)
        absent = [name for name in inner.get("properties", {}) if name not in target]
        if absent and chance.random() < 0.8:
            name = chance.choice(absent)
            target[name] = value(contract.resolved(inner["properties"][name]), chance)
        else:
            target[chance.choice(KEYS)] = free(chance)
    elif pick < 0.92 and spots:
        item, key, _ = chance.choice(spots)
        if isinstance(item, dict):
            item.pop(key, None)
    elif pick < 0.96 and objects:
        target, _ = chance.choice(objects)
        pairs = [[name, member] for name, member in target.items()]
        if pairs:
            pairs.append([chance.choice(pairs)[0], free(chance)])
            target.clear()
            target["$pairs"] = pairs
    elif objects:
        # Many unknown names at once, as a client with another version of the protocol would send.
        target, inner = chance.choice(objects)
        stem = chance.choice(list(inner.get("properties", {})) or ["name"]) + "x"
        for index in range(chance.choice([30, 300])):
            target[f"{stem}{index}"] = index
    return body
