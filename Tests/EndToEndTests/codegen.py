"""The Swift that `tombolo type codegen` prints, compiled and fed: codegen.py TOMBOLO

Of each type 1,000 random states go through the relay. What it would push decodes into the type and is the
same when it is encoded again; with one mistake the relay refuses the state, and the push does not decode.
Then an app reports what Codable gives back, which is another text than what was sent: the relay knows it again.
"""
import copy
import glob
import json
import os
import random
import subprocess
import time
import unicodedata

from world import BUNDLE, ROOT, SCENARIOS, Dev, World, check, equal, folder

STATES = 1_000
WRONG = {"object": {}, "array": [], "string": "no such", "boolean": True, "null": None, "integer": 12345, "number": 0.5}
ATTRIBUTES = {"activity_id": "a0", "order": {"card id": "a0"}, "other": 1}
UUID_TEXT = "8c5f5c1e-0000-4000-8000-0123456789ab"
DAY = {"type": "string", "format": "date-time"}
WORDS = "Type Protocol self Self init class default in any String Date Int hashValue rawValue CodingKeys".split()
TEXTS = ["", "in progress", "IN_PROGRESS", "inProgress", "2nd", "\u00e9", "e\u0301t\u00e9", "\u81ea\u52d5", "\U0001f98a",
         "a\"b\\(c)\n\u202e", "-1", "+", "`", "some", "none", *WORDS]
# What the examples do not have.
TRICKY = {
    "Words": {"state": {
        "type": "object", "required": [*WORDS, "bare"],
        "properties": {
            **{word: {"type": "string"} for word in WORDS},
            "nested": {"type": "object", "required": TEXTS, "properties": {
                text: {"type": "object", "properties": {text: {"type": "integer"}}} for text in TEXTS}},
            "text": {"type": "string", "enum": TEXTS}, "Text": {"type": ["string", "null"], "enum": [*TEXTS, None]},
        }}},
    "Shapes": {"state": {
        "type": "object", "required": ["rows", "map", "level", "mixed", "id", "nullable"],
        "properties": {
            "rows": {"type": "array", "maxItems": 2, "items": {"type": "array", "maxItems": 2, "items": {
                "type": "object", "required": ["x"], "properties": {
                    "x": {"type": "integer"}, "cells": {"type": "array", "items": {
                        "type": ["object", "null"], "properties": {"at": DAY}}}}}}},
            "map": {"type": "object"}, "closed": {"type": "object", "additionalProperties": False},
            "level": {"type": "integer", "enum": [-1, 0, 1, 2.0]}, "half": {"enum": [0.5, 1]},
            "always": {"const": "always"}, "fixed": {"const": 7}, "choice": {"enum": ["on", "off", None]},
            "mixed": {"type": ["string", "integer"]}, "any": {}, "list": {"type": "array", "maxItems": 3},
            "both": {"type": ["integer", "number"]}, "id": {"type": "string", "format": "uuid"},
            "nullable": {"type": ["boolean", "null"]}, "loose": {"properties": {"a": {"type": "string"}}},
        }}, "id_at": "/order/card id"},
    **{"Dates_" + way.replace("-", "_"): {"dates": way, "id_at": None, "state": {
        "type": "object", "required": ["day"], "properties": {
            "day": DAY, "later": DAY, "days": {"type": "array", "items": {**DAY, "type": ["string", "null"]}}}}}
        for way in ("swift-reference", "unix", "iso8601")},
}
# An app's own type, with the five values that it gives back in another text: a UUID, null of an optional, a member that
# it does not know, a Float, a default.
FIVE = """
import ActivityKit
import Foundation

struct Five: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        var id: UUID
        var note: String?
        var part: Float
        var lap: Int

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(UUID.self, forKey: .id)
            note = try values.decodeIfPresent(String.self, forKey: .note)
            part = try values.decode(Float.self, forKey: .part)
            lap = try values.decodeIfPresent(Int.self, forKey: .lap) ?? 1
        }
    }
}
"""
FIVE_TYPE = {"state": {"type": "object", "required": ["id", "part"], "properties": {
    "id": {"type": "string", "format": "uuid"}, "note": {"type": ["string", "null"]}, "part": {"type": "number"},
    "lap": {"type": "integer", "default": 1}}}}
# A push has so long to arrive, and after that the relay sends again what a phone lacks.
ECHO_SECONDS = 12
MAIN = """
import ActivityKit
import Foundation

struct Push<T: ActivityAttributes>: Codable {
    var state: T.ContentState
    var attributes: T
}
func again<T: ActivityAttributes>(_ type: T.Type, _ push: Data) throws -> Data {
    try JSONEncoder().encode(try JSONDecoder().decode(Push<T>.self, from: push))
}
while let line = readLine() {
    let words = line.split(separator: "\\t", maxSplits: 1).map(String.init)
    do {
        let push = Data(words[1].utf8)
        let data = switch words[0] {
%s        default: fatalError(line)
        }
        print(String(decoding: data, as: UTF8.self))
    } catch { print("-") }
}
"""


def kind_of(value):
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", type(None): "null"}[type(value)]


def kinds(schema):
    """The types that a schema allows, as Swift tells them apart; none where it allows any."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    declared = schema.get("type", [])
    found = {kind_of(value) for value in values} if values else {declared} if isinstance(declared, str) else {*declared}
    return found - {"integer"} if "number" in found else found


def make(chance, schema, fill):
    """A valid value. `fill` is how often a member that is not required is there."""
    if "const" in schema or "enum" in schema:
        return chance.choice(schema.get("enum", [schema.get("const")]))
    kind = chance.choice(sorted(kinds(schema)) or list(WRONG))
    if kind == "object":
        named = {**{name: {} for name in schema.get("required", [])}, **schema.get("properties", {})}
        members = {name: make(chance, inner, fill) for name, inner in named.items()
                   if name in schema.get("required", []) or chance.random() < fill}
        if schema.get("additionalProperties", True) and chance.random() < fill / 4:
            members["not described"] = make(chance, {"type": ["string", "null", "boolean"]}, 0)
        return members
    if kind == "array":
        size = chance.randint(0, min(3, schema.get("maxItems", 3)))
        return [make(chance, schema.get("items", {"type": ["string", "null"]}), fill) for _ in range(size)]
    if schema.get("format") == "date-time" and kind == "string":
        return f"20{chance.randint(10, 99)}-0{chance.randint(1, 9)}-17T03:20:{chance.randint(10, 59)}" + \
            chance.choice(["Z", ".25Z", "+02:00", ".000001-11:30"])
    if schema.get("format") == "uuid" and kind == "string":
        return chance.choice([UUID_TEXT, UUID_TEXT.upper(), "0" * 8 + UUID_TEXT[8:]])
    if kind == "string":
        return chance.choice(["", "a", "\U0001f98a\u0000", "e\u0301\u00df\u202e\"\\/"])[:schema.get("maxLength")]
    whole = [0, -1, 2**63 - 1, -2**63, 2**53 + 1, 1.0, 1e3, -0.0, chance.randint(-9999, 9999)]
    return {"integer": chance.choice(whole), "boolean": chance.random() < 0.5, "null": None,
            "number": chance.choice([*whole[4:], 5e-324, 1.7976931348623157e308, 0.1, chance.random()])}[kind]


def mistakes(schema, value, path=()):
    """Each mistake in a value that a decoder has to see: where, and what is there instead (... for nothing)."""
    allowed = kinds(schema)
    if isinstance(value, dict) and allowed - {"null"} == {"object"}:
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                needed = name in schema.get("required", [])
                for place, wrong in mistakes(inner, value[name], (*path, name)):
                    if place != (*path, name) or wrong is not None or needed:
                        yield place, wrong
                if needed and kinds(inner) and "null" not in kinds(inner):
                    yield (*path, name), ...
    if isinstance(value, list) and allowed - {"null"} == {"array"}:
        for index, element in enumerate(value):
            yield from mistakes(schema.get("items", {}), element, (*path, index))
    if not path or len(allowed - {"null"}) != 1:
        return
    closed = "enum" in schema or "const" in schema or schema.get("format") == "uuid"
    for kind, wrong in WRONG.items():
        # In a push a date is a number.
        if schema.get("format") == "date-time" and kind in ("integer", "number"):
            continue
        fits = kind in allowed or kind == "integer" and "number" in allowed
        if not fits or closed and kind in allowed & {"string", "integer"}:
            yield path, wrong


def changed(value, place, wrong):
    """A copy with a mistake; none where the place is not there."""
    whole = copy.deepcopy(value)
    inner = whole
    for step in place[:-1]:
        if not (inner := inner.get(step) if isinstance(inner, dict) else inner[step] if step < len(inner) else None):
            return None
    if isinstance(inner, dict) and place[-1] not in inner or isinstance(inner, list) and place[-1] >= len(inner):
        return None
    if wrong is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = wrong
    return whole


def described(schema, value):
    """What of a state Swift keeps, in one spelling."""
    members = {**{name: {} for name in schema.get("required", [])}, **schema.get("properties", {})}
    if isinstance(value, dict) and members and kinds(schema) - {"null"} == {"object"}:
        return {unicodedata.normalize("NFC", name): described(members[name], member) for name, member in value.items()
                if name in members and not (member is None and (kinds(members[name]) or name not in schema.get("required", [])))}
    if isinstance(value, dict):
        return {name: described({}, member) for name, member in value.items()}
    if isinstance(value, list):
        return [described(schema.get("items", {}), element) for element in value]
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value.upper() if schema.get("format") == "uuid" else value)
    return float(value) if type(value) is int and not kinds(schema) == {"integer"} else value


class Relay(Dev):
    def pushes(self, name, states):
        """The content state that the relay would push for each state; None where it refuses the state."""
        answers = self.lines([
            {"activity": f"a{index}", "do": "start", "type": name, "state": state, "attributes": {"order": {}}}
            for index, state in enumerate(states)], "?dry_run=true")
        check(len(answers) == len(states), name, "answers", len(answers))
        for answer in answers:
            check(answer["ok"] or answer.get("problem", answer)["code"] == "state-invalid", name, answer)
        return [answer["run"]["push"]["payload"]["aps"]["content-state"] if answer["ok"] else None
                for answer in answers]


def types():
    found = dict(TRICKY)
    for scenario in SCENARIOS:
        with open(f"{ROOT}/Protocol/examples/{scenario}/steps.json") as file:
            found.update(json.load(file)["types"])
    for path in glob.glob(f"{ROOT}/Protocol/examples/requests/type.*.json"):
        with open(path) as file:
            body = json.load(file)
        if "state" in body:
            found["Example_" + os.path.basename(path).split(".")[1]] = body
    return found


def compiled(codes):
    """A program that decodes with the types, beside a stand-in for Apple's module."""
    place = folder()
    with open(f"{place}/ActivityKit.swift", "w") as file:
        file.write("public protocol ActivityAttributes: Codable { associatedtype ContentState: Codable & Hashable }\n")
    cases = "".join(f'        case "{name}": try again({name}.self, push)\n' for name in codes)
    for name, text in {**codes, "main": MAIN % cases}.items():
        with open(f"{place}/{name}.swift", "w") as file:
            file.write(text)
    flags = ["swiftc", "-swift-version", "6", "-warnings-as-errors", "-Onone"]
    for words in (["-parse-as-library", "-emit-module", "-emit-object", "-module-name", "ActivityKit", "ActivityKit.swift"],
                  ["-I", ".", "-o", "decode", "ActivityKit.o", "main.swift", *(f"{name}.swift" for name in codes)]):
        run = subprocess.run(flags + words, cwd=place, capture_output=True, text=True)
        check(run.returncode == 0, run.stdout, run.stderr)
    return f"{place}/decode"


def judged(decoder, name, states):
    lines = "".join(f"{name}\t{json.dumps({'state': state, 'attributes': ATTRIBUTES})}\n" for state in states)
    run = subprocess.run([decoder], input=lines, capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    check(len(answers) == len(states), name, "decoded", len(answers), run.stderr)
    decoded = [None if answer == "-" else json.loads(answer) for answer in answers]
    wanted = {"Shapes": {"order": {"card id": "a0"}}}.get(name, {} if name.startswith("Dates") else {"activity_id": "a0"})
    check(all(one["attributes"] == wanted for one in decoded if one), name, "attributes", decoded[0])
    return [one and one["state"] for one in decoded]


def examine(relay, decoder, name, body):
    chance, schema = random.Random(name), body["state"]
    own = [body[word]["path"][1:] for word in ("presence", "history") if word in body]
    states = [make(chance, schema, (0, 1, chance.random())[min(index, 2)]) for index in range(STATES)]
    for state in states:
        for word in own:
            state.pop(word, None)
    pushes = relay.pushes(name, states)
    check(None not in pushes, name, "refused", [one for one in zip(states, pushes) if one[1] is None][:1])
    for push in pushes:
        if "presence" in body:
            push.setdefault(own[0], chance.choice([8, 0, 3.217]))
    for push, decoded in zip(pushes, judged(decoder, name, pushes)):
        check(decoded is not None, name, "does not decode", json.dumps(push))
        found, wanted = described(schema, decoded), described(schema, push)
        check(found == wanted, name, "is another one\n", found, "\n", wanted)
    wrongs = [(push, state, *chance.choice(found)) for push, state in zip(pushes, states)
              if (found := list(mistakes(schema, push)))]
    broken = [changed(push, place, wrong) for push, _, place, wrong in wrongs]
    for (_, _, place, wrong), push, decoded in zip(wrongs, broken, judged(decoder, name, broken)):
        check(decoded is None, name, place, "may not be", wrong, "but decodes:", json.dumps(push))
    refused = [mistaken for _, state, place, wrong in wrongs if (mistaken := changed(state, place, wrong))]
    for state, push in zip(refused, relay.pushes(name, refused)):
        check(push is None, name, "the relay takes", json.dumps(state))
    check(len(wrongs) > STATES / 4 or not schema.get("required"), name, "mistakes", len(wrongs))
    return len(wrongs)


def gives_back(decoder):
    """Three updates are three pushes, to a phone whose app reports with its own encoder what it decoded."""
    world = World("--accept-any-token", phones=0).start()
    try:
        def sent():
            return world.metrics()["tombolo_pushes_sent_total"]

        card = "/v1/activities/five"
        world.ask("PUT", "/v1/types/Five", FIVE_TYPE)
        world.ask("PUT", "/v1/devices/kit", {"app": BUNDLE, "budget_class": "lab"})
        world.ask("PUT", "/v1/devices/kit/tokens/activity:five", {"token": "aabb"})
        world.ask("PUT", card, {"type": "Five", "audience": {"device": "kit", "start": "adopt"}, "state": {
            "id": UUID_TEXT, "note": None, "part": 0.3, "unknown": 7}}, Prefer="wait=5")
        before = None
        for number in range(4):
            if number:
                # Of several in one second the last goes once more, in the next.
                time.sleep(1.1)
                world.ask("PATCH", card, {"state": {"part": 0.3 + number, "unknown": number}}, Prefer="wait=5")
            state = world.ask("GET", card)["state"]
            lines = f"Five\t{json.dumps({'state': state, 'attributes': {}})}\n"
            run = subprocess.run([decoder], input=lines, capture_output=True, text=True, check=True)
            given = json.loads(run.stdout)["state"]
            check(given != state and given["lap"] == 1 and given["id"] == UUID_TEXT.upper(), "given back", given)
            world.ask("PUT", "/v1/devices/kit" + card[3:], {"phase": "active", "received_state": given})
            if before is None:
                before = sent()
        time.sleep(ECHO_SECONDS)
        equal("pushes of three updates", 3, sent() - before)
        shown = world.ask("GET", card)["destinations"][0]["shown"]
        check(shown.get("matches") is True, "what the app gave back is not known again", shown)
    finally:
        world.stop()


def refusals(relay):
    for words, status, text in (
            (["Words"], 2, "--swift"), (["Nobody", "--swift"], 3, "Nobody"),
            (["Bare", "--swift"], 3, "tombolo type put Bare"), (["two words", "--swift"], 3, "two words")):
        run = relay.tombolo("type", "codegen", *words)
        check(run.returncode == status and text in run.stderr and not run.stdout, words, run.returncode, run.stderr)


def main():
    relay = Relay()
    bodies, codes = types(), {}
    for name, body in [*bodies.items(), ("Bare", {"id_at": None}), ("two words", bodies["Words"])]:
        run = relay.tombolo("type", "put", name, "-", given=json.dumps(body))
        check(run.returncode == 0, name, run.stderr)
    refusals(relay)
    for name in bodies:
        run = relay.tombolo("type", "codegen", name, "--swift")
        check(run.returncode == 0 and f"struct {name}: ActivityAttributes {{" in run.stdout, name, run.stderr)
        codes[name] = run.stdout
    decoder = compiled({**codes, "Five": FIVE})
    wrongs = sum(examine(relay, decoder, name, body) for name, body in bodies.items())
    gives_back(decoder)
    print(f"codegen: {len(bodies)} types, {len(bodies) * STATES} states decode, {wrongs} with a mistake do not")


main()
