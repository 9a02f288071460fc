"""Hostile configurations: what `config check` calls good must start, serve and start again."""
import os
import shutil
import signal

import hostile
from judge import Find
from template import render
from wire import HTTP1, NoAnswer
from world import BUNDLE, NotReady, Running, free_port, mint, tombolo

CLASSES = ["standard", "frequent", "lab", "start", "channel", "widget", "control"]
_RATES = ["0.001", "0.0011", "1", "11", "600", "999999.9", "1000000", "0.5", "1e-3", "1e6", "0.0009", "1000001", "0", "-1",
          "1e308", "1e400", "1e-400", "null"]
_COUNTS = ["1", "2", "4", "1000", "999999", "1000000", "0", "-1", "1000001", "9223372036854775807", "9223372036854775808",
           "1e3", "1.5"]
_SPANS = ["0s", "1ms", "1s", "15s", "1h", "24h", "24h1ms", "23h59m59.999s", "1000d"]
_LIMITS = ["1ms", "1s", "0.999s", "1h", "1h1ms", "24h", "48h", "87600h", "87601h", "0s"]


def hostile_configuration(chance):
    """A template of `budgets` and `limits`."""
    raw = lambda pool: {"$raw": chance.choice(pool)}
    budgets = {}
    for name in chance.sample(CLASSES, chance.choice([1, 1, 2, 7])):
        grant = {"spacing": chance.choice(_SPANS), "burst": raw(_COUNTS[:6] if chance.random() < 0.8 else _COUNTS),
                 "per_hour": raw(_RATES[:10] if chance.random() < 0.8 else _RATES), "reserve": raw(["0", "0", "1"] + _COUNTS),
                 "low_priority_spacing": chance.choice(_SPANS)}
        budgets[name] = {member: value for member, value in grant.items() if chance.random() < 0.6}
        if chance.random() < 0.1:
            budgets[name]["spacing"] = chance.choice(hostile.TEMPLATES_OF_DURATION + hostile.DURATIONS)
    limits = {name: chance.choice(_LIMITS) for name in
              chance.sample(["history", "facts", "start_deadline", "probe_max", "min_rate"], chance.choice([0, 0, 1, 5]))}
    return {"budgets": budgets, "limits": limits}


def try_configuration(world, extra):
    """The finds with this configuration, beside a world whose key file it uses."""
    work = world.path("configured")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    file, port = os.path.join(work, "tombolo.json"), free_port()
    base = {**world.configuration, "listen": f"127.0.0.1:{port}", "data": os.path.join(work, "data")}
    os.mkdir(base["data"], 0o700)
    with open(file, "wb") as output:
        output.write(render({**base, **extra}))
    checked = tombolo("config", "check", file)
    request = {"configuration": extra}
    if checked.returncode < 0:
        return [Find("configuration", f"config check exits with {checked.returncode}", request)]
    if checked.returncode:
        return []
    key = mint("produce,observe,operate", "--data", base["data"]).encode()
    try:
        for life in (1, 2):
            why = _serve(file, port, key)
            if why:
                return [Find("configuration", f"config check says yes, and start {life}: {why}", request)]
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return []


def _serve(file, port, key):
    """Starts it, uses every class, kills it. Answers what went wrong, or None."""
    try:
        relay = Running("serve", "--config", file, log=f"{file}.log")
    except NotReady as why:
        return str(why)
    try:
        client = HTTP1(port)

        def ask(method, target, body=None):
            data = render(body) if body is not None else b""
            fields = [(b"Host", b"a"), (b"Authorization", b"Bearer " + key), (b"Content-Type", b"application/json"),
                      (b"Content-Length", b"%d" % len(data))]
            return client.ask(method, target, fields, data).status

        for name in ("standard", "frequent", "lab"):
            ask(b"PUT", b"/v1/devices/%s" % name.encode(), {
                "app": BUNDLE, "environment": "sandbox", "budget_class": name, "user": "u"})
            for token in (b"start:Any", b"widget", b"control:lock", b"activity:a"):
                ask(b"PUT", b"/v1/devices/%s/tokens/%s" % (name.encode(), token), {"token": (name + token.decode()).encode().hex()})
        ask(b"PUT", b"/v1/activities/a?restart=true", {"type": "Any", "state": {"n": 0}, "audience": {"user": "u"}})
        for number in range(8):
            ask(b"PATCH", b"/v1/activities/a", {"state": {"n": number}, "urgency": "high", "alert": {"title": "a", "body": "b"}})
        ask(b"POST", b"/v1/activities/a/clips", {"flipbook": {"path": "/n", "frames": [1, 2, 3], "every": "10ms", "loop": 20}})
        ask(b"POST", b"/v1/timelines/a/reload", {"user": "u"})
        ask(b"POST", b"/v1/controls/lock/reload", {"user": "u"})
        if ask(b"GET", b"/v1/budgets") != 200 or ask(b"GET", b"/v1/activities/a") != 200:
            return "does not answer 200"
    except NoAnswer as none:
        return f"{none} (exit {relay.process.poll()})"
    finally:
        relay.end(signal.SIGKILL)
    return None
