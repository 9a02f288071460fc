"""The finds of before, replayed: one file each in corpus/."""
import json
import os
import random
import time

from configuration import try_configuration
from judge import Find
from template import render

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def files():
    """The corpus, by name."""
    for name in sorted(os.listdir(FOLDER)):
        with open(os.path.join(FOLDER, name)) as file:
            yield name, json.load(file)


def whole(request):
    """A request of a file, with what is left out there."""
    return {"fields": [], "body": None, "key": "all", "http": 1,
            "type": "application/json" if request.get("body") is not None else None, **request}


def replay(make_life, case):
    """The finds of one file, in a world of its own: each request, and everything read back after a kill."""
    life = make_life(random.Random(0))
    try:
        finds = []
        for extra in case.get("configurations", ()):
            finds += try_configuration(life.world, extra)
        for request in case.get("requests", ()):
            finds += life.give(request if request.get("kill") else whole(request))
            if any(find.kind == "exit" for find in finds):
                return finds + life.restart()
        for command in case.get("commands", ()):
            finds += _command(life.world, command)
        if case.get("requests"):
            time.sleep(case.get("settle", 0.1))
            finds += life.read_back(cli=False) + life.restart()
            if not any(find.kind in ("exit", "start") for find in finds):
                finds += life.read_back()
        return finds
    finally:
        life.world.stop()


def _command(world, command):
    """A command of the program with files; it must exit with the status that is named."""
    for name, template in command.get("files", {}).items():
        with open(world.path(name), "wb") as file:
            file.write(render(template))
    words = [world.path(word) if word in command.get("files", {}) else word for word in command["words"]]
    done = world.cli(*words)
    if done.returncode in command["exits"]:
        return []
    return [Find("command", f"{' '.join(command['words'])} exits with {done.returncode}, not {command['exits']}: "
                            f"{done.stdout[-200:]!r} {done.stderr[-200:]!r}", command)]


def short(request):
    """A request as a file has it: without what `whole` adds."""
    usual = {"fields": [], "body": None, "key": "all", "http": 1, "prelude": True,
             "type": "application/json" if request.get("body") is not None else None}
    return {name: value for name, value in request.items() if name not in usual or value != usual[name]}
