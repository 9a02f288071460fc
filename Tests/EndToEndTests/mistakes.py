#!/usr/bin/env python3
"""The first mistakes of a new user, and whether the answer names cause and cure.

Usage: mistakes.py PROGRAM

Starts `PROGRAM dev` and a relay with TLS, makes each mistake as people make it, and prints it with what
comes back, to be read by a person. Each has words that its answer must have, and words it must not have.
The last line on stdout is the summary, as JSON; the exit status is 0 where every answer helps.
"""
import json
import subprocess

from world import FAULTS, Dev, Running, certificate, finish, folder, write

START = {"type": "OrderAttributes", "audience": {"device": "phone-1"}, "state": {"step": "baking"},
         "alert": {"title": "In the oven"}}
SEEN = []
BASE64 = "obLD1OX2AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRo="


def check(name, answer, words, never=()):
    """One mistake: the answer says each of `words`, and none of `never`."""
    missing = [word for word in words if word not in answer]
    wrong = [word for word in never if word in answer]
    SEEN.append(name)
    print(f"--- {len(SEEN)}. {name}\n{answer.strip()}")
    if missing or wrong:
        FAULTS.append(name)
        print(f"    FAULT: lacks {missing}, has {wrong}")


class Relay(Dev):
    """`tombolo dev`, with curl as its client."""

    number = 0

    def curl(self, method, path, body=None, *flags):
        """The answer's status, head and body, as `curl -i` shows them."""
        data = [] if body is None else [
            "-H", "Content-Type: application/json", "-d", body if isinstance(body, str) else json.dumps(body)]
        return curl("-i", "-X", method, self.api + path, "-H", f"Authorization: Bearer {self.key}", *data, *flags)

    def start(self, without=(), **more):
        """Starts a card of its own with members changed, and gives the answer."""
        self.number += 1
        body = {name: value for name, value in (START | more).items() if name not in without}
        return self.curl("PUT", f"/v1/activities/order-{self.number}", body)

    def command(self, *words, relay=None, **environment):
        result = self.tombolo(*words, TOMBOLO_RELAY=relay or self.api, **environment)
        return result.stdout + result.stderr


def curl(*flags):
    result = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "20", *flags], capture_output=True, text=True)
    return result.stdout + result.stderr


def apples_words(relay):
    """Members of Apple's payload, where Tombolo has words of its own."""
    state = {"step": "baking"}
    for theirs, ours, value in (
            ("content-state", "state", state), ("contentState", "state", state), ("data", "state", state)):
        check(f"{theirs} for {ours}", relay.start(without=["state"], **{theirs: value}),
              ["422", f'"/{theirs}"', f'did you mean \\"{ours}\\"?'], ["is required"])
    for theirs, ours, value in (
            ("attributes-type", "type", "OrderAttributes"), ("attributesType", "type", "OrderAttributes")):
        check(f"{theirs} for {ours}", relay.start(without=["type"], **{theirs: value}),
              ["422", f'did you mean \\"{ours}\\"?'], ["is required"])
    for theirs, cure, value in (
            ("priority", 'did you mean \\"urgency\\"?', 10), ("relevance-score", 'did you mean \\"relevance\\"?', 50),
            ("stale-date", 'did you mean \\"stale_after\\"?', 1_800_000_000),
            ("event", "PUT starts", "start"), ("aps", "Apple's payload", {"event": "start"}),
            ("timestamp", "the relay", 1_800_000_000)):
        check(f"{theirs} in a start", relay.start(**{theirs: value}), ["422", f'"/{theirs}"', cure])
    relay.curl("PUT", "/v1/activities/words", START)
    check("dismissal-date in an end", relay.curl(
        "POST", "/v1/activities/words/end", {"dismissal-date": 1_800_000_000}),
        ["422", 'did you mean \\"dismiss\\"?'])
    check("an update without state", relay.curl("PATCH", "/v1/activities/words", {"urgency": "high"}),
          ["422", "state"])


def methods(relay):
    """The right deed by the wrong method or path."""
    relay.curl("PUT", "/v1/activities/one", START)
    check("POST on the collection to start", relay.curl("POST", "/v1/activities", START),
          ["405", "PUT /v1/activities/{id}: Start an activity"])
    check("POST on an activity to update", relay.curl("POST", "/v1/activities/one", {"state": {"step": "out"}}),
          ["405", "PATCH /v1/activities/one: Change a running activity"])
    check("DELETE to end", relay.curl("DELETE", "/v1/activities/one"),
          ["405", "POST /v1/activities/one/end: End an activity"])
    check("PUT to update", relay.curl("PUT", "/v1/activities/one", {"state": {"step": "out"}}),
          ["PATCH /v1/activities/one"])
    check("PUT with another state to update", relay.curl(
        "PUT", "/v1/activities/one", START | {"state": {"step": "out"}}), ["PATCH /v1/activities/one"])
    check("OPTIONS on end", relay.curl("OPTIONS", "/v1/activities/end"), ["204", "llow: OPTIONS, POST"], ["PATCH"])
    check("Prefer: wait=2s", relay.curl(
        "PUT", "/v1/activities/waits", START, "-H", "Prefer: wait=2s"), ["201", '"accepted"'])


def versions(relay):
    """A version as something on the way, or a person, has written it."""
    relay.curl("PUT", "/v1/activities/tagged", START)
    for tag in ('W/"v1"', '"v9", "v2-gzip"'):
        check(f"If-Match: {tag}", relay.curl(
            "PATCH", "/v1/activities/tagged", {"state": {"step": tag}}, "-H", "If-Match: " + tag), ["200"])
    check("If-Match without quotes", relay.curl(
        "PATCH", "/v1/activities/tagged", {"state": {}}, "-H", "If-Match: v3"), ["400", "with its quotes"])


def sizes(relay):
    """States beyond what a phone takes."""
    relay.curl("PUT", "/v1/channels/match", {"app": "com.example.app", "environment": "sandbox"})
    for size, whom, words in (
            (4_100, {"channel": "match"}, ["422", "state would have 4100 bytes, 4 more", "4096 that ActivityKit"]),
            (4_050, {"channel": "match"}, ["201", "4050 of 4096 bytes"]),
            (4_050, {"device": "phone-1"}, ["422", "push would have", "than the 4096 that Apple"])):
        state = {"step": "x" * (size - len('{"step":""}'))}
        check(f"a state of {size} bytes for a {next(iter(whom))}",
              relay.start(without=["alert"], audience=whom, state=state), words, ["5120", "too-large\",\"pointer"])


def places(relay):
    """Questions about what is not there yet, and about the beginning."""
    relay.curl("PUT", "/v1/activities/then", START)
    for query in ("at=2999-01-01T00:00:00Z", "at_seq=100000", "at_version=7"):
        check(f"?{query}", relay.curl("GET", f"/v1/activities/then?{query}"), ["400", "yet", '"newest":'])
    for query in ("kind=all&since=0", "kind=all&cursor=0", "cursor=0"):
        check(f"log?{query}", relay.curl("GET", f"/v1/log?limit=1&{query}"), ["200", '"seq":1,'])


def whom(relay):
    """Who is meant, and by what name."""
    check("an audience as text", relay.start(audience="phone-1"),
          ["422", '{\\"device\\":', '{\\"user\\":'])
    check("an audience with two members", relay.start(audience={"device": "phone-1", "user": "u1"}),
          ["422", "exactly one", '{\\"device\\":'])
    check("an unknown device", relay.start(audience={"device": "phone1"}), ["201", 'mean \\"phone-1\\"?'])
    check("an unknown user", relay.start(audience={"user": "u11"}), ["201", 'mean \\"u1\\"?'])
    check("an unknown type", relay.start(type="OrderAttribute"), ["201", 'mean \\"OrderAttributes\\"?'])


def shapes(relay):
    """Members that there are not, and members of another shape."""
    relay.curl("PUT", "/v1/activities/shaped", START)
    shaped = "/v1/activities/shaped"
    for name, answer, words in (
            ("device at the top", relay.start(without=["audience"], device="phone-1"), ["there are type", "audience"]),
            ("stale_at", relay.start(stale_at="2026-11-20T09:03:00Z"), ["stale_after"]),
            ("audience in an update", relay.curl("PATCH", shaped, {"audience": {"user": "u1"}, "state": {}}),
             ["there are state, replace"]),
            ("step at the top", relay.curl("PATCH", shaped, {"step": "out", "urgency": "high"}), ["there are state"]),
            ("a bare JSON Schema", relay.curl("PUT", "/v1/types/Bare", {"type": "object", "properties": {}}),
             ["there are", "state"]),
            ("alert.message", relay.start(alert={"title": "a", "message": "b"}), ["there are title, body, sound"]),
            ("dismissal-date in a start", relay.start(**{"dismissal-date": 1_800_000_000}), ["there are type"]),
            ("an alert as text", relay.start(alert="text"), ['must be a JSON object: {\\"title\\":']),
            ("a user as number", relay.start(audience={"user": 42}), ["must be a string"])):
        check(name, answer, ["422", *words], ["is missing", "exactly one"])
    place = folder()
    for name, configuration, words in (
            ("data_dir", {"data_dir": place}, ["there are listen", " data,"]),
            ("tls.cert", {"tls": {"cert": "a.pem"}}, ["there are certificate, key"])):
        path = write(f"{place}/{name}.json", {"listen": "127.0.0.1:0", "apps": [], **configuration})
        check(f"{name} in a configuration", relay.command("config", "check", "--config", path), words)


def app(relay):
    """What an app's developer sends."""
    check("a token in base64", relay.curl(
        "PUT", "/v1/devices/phone-1/tokens/start:OrderAttributes", {"token": BASE64}),
        ["422", 'map { String(format: \\"%02x\\", $0) }.joined()'])
    check("environment: development", relay.curl(
        "PUT", "/v1/devices/mine", {"app": "com.example.app", "environment": "development"}),
        ["422", "sandbox", "Xcode"])


def unneeded(relay):
    """Members that a request does not need say nothing here: it is carried out all the same."""
    device = {"app": "com.example.app", "environment": "sandbox"}
    for member, words in (
            ({"control_center": "left"}, ['"/control_center"', "top_right"]),
            ({"time_zone": "Europe/Berlim"}, ['"/time_zone"', "Europe/Berlin"]), ({"os": ""}, ['"/os"', "null"])):
        check(f"a device with {member}", relay.curl("PUT", "/v1/devices/odd", device | member),
              ["HTTP/1.1 20", "member-not-understood", *words])
    event = {"specversion": "1.0", "id": "odd", "source": "/mine", "type": "tombolo.start", "subject": "odd-event",
             "datacontenttype": "text/plain", "time": "yesterday", "data": START}
    check("a CloudEvent with odd attributes", curl(
        "-i", relay.api + "/v1/events", "-H", f"Authorization: Bearer {relay.key}",
        "-H", "Content-Type: application/cloudevents+json", "-d", json.dumps(event)), ["HTTP/1.1 201"])


def address(relay):
    """The relay's address, and how to speak to it."""
    bare, place = relay.api.removeprefix("http://"), folder()
    check("TOMBOLO_RELAY=host:port", relay.command("activity", "ls", relay=bare),
          ["no scheme", f"export TOMBOLO_RELAY=http://{bare}"])
    check("a line end in TOMBOLO_RELAY", relay.command("activity", "ls", relay=relay.api + "\n"),
          ["line end", f"export TOMBOLO_RELAY=http://{bare}"])
    serve = Running("serve", "--config", write(f"{place}/tombolo.json", {
        "listen": "127.0.0.1:0", "data": f"{place}/data", "apps": [], "tls": certificate(place)}))
    check("clear text to a port with TLS", curl("-i", serve.ready["api"].replace("https:", "http:") + "/version"),
          ["400", "https://"])
    check("TLS to a port with clear text", curl("-i", f"https://{bare}/version"), ["curl: (35)"])
    check("TLS to a port with clear text, by the command line",
          relay.command("activity", "ls", relay=f"https://{bare}"), [f"http://{bare}"])


def nearly(relay):
    """Times, bodies and ids that are nearly right."""
    relay.curl("PUT", "/v1/activities/near", START)
    for text, cure in (("2026-11-20T09:03:00+00:00", "%2B"), ("2026-11-20T09:03:00%2B0000", "with a colon"),
                       ("2026-11-20T09:03:00", "zone is missing"), ("2026-11-20", "2026-11-20T00:00:00Z"),
                       ("-1h", "time of then")):
        check(f"?at={text}", relay.curl("GET", f"/v1/activities/near?at={text}"), ["400", cure])
    operation = [{"op": "replace", "path": "/state/step", "value": "out"}]
    check("operations of RFC 6902", relay.curl("PATCH", "/v1/activities/near", operation),
          ["422", "merge patch (RFC 7396)"], ["nothing to change"])
    place, key = relay.api + "/v1/activities/near", f"Authorization: Bearer {relay.key}"
    check("a body of a form", curl("-i", "-X", "PATCH", place, "-H", key, "-d", "step=out"), ["400", "form is no JSON"])
    wide = f"{folder()}/utf-16.json"
    with open(wide, "w", encoding="utf-16") as file:
        json.dump({"state": {}}, file)
    check("a body in UTF-16", curl("-i", "-X", "PATCH", place, "-H", key, "--data-binary", f"@{wide}"),
          ["400", "save it as UTF-8"])
    line = json.dumps({"activity": "near", "do": "update", "state": {"step": "out"}})
    check("two events in one line", relay.command("append", given=line + line), ["Begin a new line"])
    check("a device of the store in a sandbox relay", relay.curl(
        "PUT", "/v1/devices/store", {"app": "com.example.app", "environment": "production"}),
        ["422", "only for the other environment"])
    check("a slash in an id", relay.curl("PUT", "/v1/activities/order/17", START), ["404", "no slash"])


def commands(relay):
    """The command line, and what its errors and lists look like."""
    relay.curl("PUT", "/v1/activities/typed", START)
    check("a state in the place of its file", relay.command("update", "typed", "--state", '{"step":"out"}'),
          ["is JSON", "-s NAME=VALUE"], ["cannot be read"])
    check("a field without -s", relay.command("update", "typed", "step=out"), ["without its flag", "-s step=out"])
    check("Bearer in a key", relay.command("activity", "ls", TOMBOLO_KEY="Bearer " + relay.key),
          ['"Bearer"', "the key alone"], [relay.key])
    for words, cure in ((("resume", "pause_9"), "tombolo pause"), (("key", "rm", "none"), "tombolo key ls"),
                        (("delivery", "show", "dlv_9"), "tombolo delivery ls")):
        check(" ".join(words), relay.command(*words), [cure], ["GET /v1", "DELETE /v1"])
    check("an error with -o json", relay.command("resume", "pause_9", "-o", "json"), ['{"error":"', '"status":3}'])
    for kind, member in (("activity", "activity"), ("key", "id")):
        lines = relay.command(kind, "ls").splitlines()
        check(f"{kind} ls on a pipe", "" if all(member in json.loads(line) for line in lines) else lines[0], [""], ["{"])
    check("a retry of an app of nobody", relay.command("upstream", "retry", "com.example.none"),
          ["com.example.none", "tombolo config"])


relay = Relay()
for part in (apples_words, methods, versions, sizes, places, whom, shapes, app, unneeded, nearly, address, commands):
    part(relay)
finish(mistakes=len(SEEN), helped=len(SEEN) - len(FAULTS), without_help=FAULTS)
