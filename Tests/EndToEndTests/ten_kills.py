#!/usr/bin/env python3
"""Ten kills of the relay under 100,000 lines: nothing that was acknowledged is lost or doubled.

Usage: ten_kills.py PROGRAM [LINES [KILLS]]

Starts the real relay, the real simulator with three phones, and curl as the producer. Kills the relay
with SIGKILL in the middle of the answers, starts it again, and sends what was not acknowledged once
more. At the end every acknowledged line is in the log once, byte for byte and at the place it was told,
and every phone holds the newest state. The last line on stdout is the summary, as JSON.
"""
import json
import os
import random
import sys
import time

from world import World, check, start, within

LINES = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 10
PHONES = ["phone-1", "phone-2", "phone-3"]
CATS = 3
ANSWER_BYTES = 60


def post(world, lines):
    """curl, sending; its answers arrive in out.ndjson."""
    with open(world.path("in.ndjson"), "w") as file:
        file.writelines(line + "\n" for line in lines)
    return start(
        "curl", "-sN", "--data-binary", "@" + world.path("in.ndjson"), "-H", "Content-Type: application/x-ndjson", "-H",
        "Prefer: lines", "-H", f"Authorization: Bearer {world.key}", f"{world.api}/v1/events",
        stdout=open(world.path("out.ndjson"), "w"))


def answers(world):
    with open(world.path("out.ndjson")) as file:
        for line in file:
            # The last answer before a kill may be cut off: it is none.
            if line.endswith("\n"):
                yield json.loads(line)


def make_lines(chance):
    lines = [
        {"id": f"cat{i}", "activity": f"cat{i}", "do": "start", "type": "RunnerWidgetAttributes",
         "audience": {"devices": PHONES}, "state": {"image": "", "n": -1}} for i in range(CATS)]
    lines += [
        {"id": f"other{i}", "activity": f"other{i}", "do": "start", "type": "Any", "state": {"n": 0}}
        for i in range(50)]
    while len(lines) < LINES:
        number = len(lines)
        name = f"cat{number % CATS}" if number % 100 == 0 else f"other{chance.randrange(50)}"
        lines.append({"id": f"line{number}", "activity": name, "do": "update", "state": {"n": number}})
    return {line["id"]: line for line in lines}


def send_all(world, lines, chance):
    acknowledged, kills = {}, 0
    while len(acknowledged) < len(lines):
        curl = post(world, [json.dumps(line) for id, line in lines.items() if id not in acknowledged])
        if kills < KILLS:
            answered = chance.randint(LINES // 50, LINES // (KILLS + 2)) * ANSWER_BYTES
            while curl.poll() is None and os.path.getsize(world.path("out.ndjson")) < answered:
                time.sleep(0.002)
            world.kill()
            kills += 1
            curl.wait()
            world.start()
        else:
            assert curl.wait() == 0
        for answer in answers(world):
            assert answer["ok"], answer
            known = acknowledged.setdefault(answer["id"], answer["seq"])
            assert known == answer["seq"], f"{answer} was {known} before"
    return acknowledged, kills


def check_log(world, lines, acknowledged):
    cursor, places = "", {}
    while cursor is not None:
        page = world.ask("GET", "/v1/log?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        for event in page["events"]:
            id = event["body"]["id"]
            assert id not in places, f"{id} is in the log twice"
            assert event["body"] == lines[id], f"{id} is not what was sent"
            places[id] = event["seq"]
        cursor = page["next_cursor"]
    assert places == acknowledged, "the log is not what was acknowledged"


def behind(world):
    """Whose phone does not show what is newest."""
    views = [world.ask("GET", f"/v1/activities/cat{i}") for i in range(CATS)]
    return [(view["activity"], phone) for view in views for phone in PHONES if not any(
        one["device"] == phone and one.get("shown", {}).get("matches") for one in view["destinations"])]


def main():
    chance, world = random.Random(1), World().start()
    lines = make_lines(chance)
    acknowledged, kills = send_all(world, lines, chance)
    check_log(world, lines, acknowledged)
    check(within(90, lambda: not behind(world)), "behind after 90 s:", behind(world))
    check(world.relay.end() == 0, "a drained relay exits with 0")
    print(json.dumps({"lines": len(lines), "kills": kills, "lost": 0, "doubled": 0, "converged": True}))


main()
