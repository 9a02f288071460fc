#!/usr/bin/env python3
"""Hostile values through every door of the relay, and everything that was accepted read back after a kill.

Usage: doors PROGRAM [--seed N] [--seconds S] [--corpus [NAME...]] [--shrink]
       doors PROGRAM --held [--whole] [--door OPERATION]

First replays corpus/ (or with --corpus only it, or the files that are named), then sends long arrays and the largest
objects of each door and reads them back, also slowly, then sends requests from the seed for so many seconds; without a seed a random one is taken and printed. A request must not end the program, must be
answered as Protocol/openapi.json says, and must not take 10 ms of the loop thread's CPU. A find is shrunk with
--shrink, and printed as a file of corpus/. The last line on stdout is the summary, as JSON; the exit status is 0
where nothing was found.

With --held no request comes from a seed: each operation is asked with each of its query parameters, on the largest
objects beside the largest population, and must not hold the loop; with --whole also 8 x 128 streams of it at once.
Then strangers send hellos to a listener with TLS, of each group.
"""
import argparse
import json
import os
import random
import re
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import corpus  # noqa: E402
from contract import Contract  # noqa: E402
from crowds import crowds  # noqa: E402
from held import held  # noqa: E402
from hellos import hellos  # noqa: E402
from largest import Largest  # noqa: E402
from run import Life, run  # noqa: E402
from shrink import Shrinker, signature  # noqa: E402
import world  # noqa: E402

PROTOCOL = str(world.ROOT / "Protocol")


class Doors:
    def __init__(self, arguments):
        self.arguments = arguments
        self.contract = Contract(PROTOCOL)
        self.seen, self.shrunk = {}, []

    def life(self, chance):
        return Life(self.contract, chance, with_keys=False)

    def replay(self, names):
        """Answers how many files there were; their finds are printed."""
        count = 0
        for name, case in corpus.files():
            if names and name not in names:
                continue
            count += 1
            for find in corpus.replay(self.life, case):
                self.seen[name] = self.seen.get(name, 0) + 1
                if self.seen[name] <= 5:
                    print(f"corpus/{name}: {find!r}"[:700], flush=True)
                    if find.request:
                        print("    " + json.dumps(find.request)[:500], flush=True)
        return count

    def largest(self):
        """Long arrays, the largest objects and slow readers, in a life of their own."""
        began = time.monotonic()
        life = self.life(random.Random(1))
        try:
            for find in Largest(life).run():
                # Each counts: a bound that one door keeps another may break.
                self.seen["largest"] = self.seen.get("largest", 0) + 1
                about = f" {json.dumps(find.request)[:400]}" if find.request else ""
                print(f"{getattr(find, 'at', time.monotonic()) - began:6.1f} s  {find!r}{about}"[:900], flush=True)
        finally:
            life.world.stop()
        return len(life.sent)

    def report(self, find):
        """Prints the first find of each kind."""
        key = signature(find)
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            return
        print(f"{find.after:6.1f} s  {find!r}"[:900], flush=True)
        if find.request:
            print("    " + json.dumps({k: v for k, v in find.request.items() if k != "prelude"})[:1500], flush=True)
        self.print_history(find)
        if self.arguments.shrink and (find.request is None or "configuration" not in find.request):
            self.shrunk.append((find, list(find.life.sent)))

    @staticmethod
    def print_history(find):
        """Of a find about one activity, what was asked of it last, with the kills between."""
        names = re.findall(r"(?:/v1/activities/|^|\()([A-Za-z0-9._:@-]{1,128})(?:: version|: 404|: is missing|,)", find.text)
        if find.kind not in ("contradiction", "read", "read back") or not names:
            return
        about = [request for request in find.life.sent if request.get("kill") or f'"{names[0]}"' in json.dumps(request)
                 or f"/{names[0]}" in request["target"]]
        for request in about[-8:]:
            print("      < " + json.dumps({k: v for k, v in request.items() if k != "prelude"})[:300], flush=True)

    def shrink(self):
        for find, sent in self.shrunk:
            print(f"shrinking: {find!r}"[:300], flush=True)
            requests = Shrinker(self.life, find, sent).run()
            if requests is None:
                print("    it does not come again", flush=True)
            else:
                case = {"about": find.text[:120], "requests": [corpus.short(request) for request in requests]}
                print(json.dumps(case), flush=True)


def main():
    parser = argparse.ArgumentParser(
        prog="doors", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--corpus", nargs="*", metavar="NAME")
    parser.add_argument("--no-corpus", action="store_true")
    parser.add_argument("--no-largest", action="store_true", help="leave out long arrays, large objects and slow readers")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--statuses", action="store_true", help="print how often each operation answered each status")
    parser.add_argument("--slowest", action="store_true", help="print the request of each operation that took most of the loop")
    parser.add_argument("--held", action="store_true", help="what holds the loop: each door alone")
    parser.add_argument("--crowds", action="store_true", help="what holds the loop where much waits")
    parser.add_argument("--whole", action="store_true", help="with --held: also many streams of each door at once")
    parser.add_argument("--door", action="append", metavar="OPERATION", help="with --held: only these operations")
    arguments = parser.parse_args()
    world.PROGRAM = os.path.abspath(arguments.program)
    if arguments.crowds:
        summary = crowds(arguments.whole)
        print(json.dumps(summary))
        sys.exit(1 if summary["crowd_finds"] else 0)
    if arguments.held:
        summary = held(Contract(PROTOCOL), arguments.whole, arguments.door)
        if arguments.door is None:
            for more in (hellos, lambda: crowds(arguments.whole)):
                summary.update(more())
            summary["finds"] += summary["hello_finds"] + summary["crowd_finds"]
        print(json.dumps(summary))
        sys.exit(1 if summary["finds"] else 0)
    doors, began = Doors(arguments), time.monotonic()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(1 << 32)
    summary = {"corpus": 0}
    if not arguments.no_corpus:
        summary["corpus"] = doors.replay(arguments.corpus)
        summary["corpus_seconds"] = round(time.monotonic() - began)
    if arguments.corpus is None:
        if not arguments.no_largest:
            summary["largest"] = doors.largest()
            summary["largest_seconds"] = round(time.monotonic() - began)
        print(f"doors: seed {seed}", flush=True)
        _, counts, statuses, slowest = run(doors.contract, seed, arguments.seconds, doors.report)
        summary.update({"seed": seed, **counts})
        if arguments.statuses:
            for name, row in sorted(statuses.items(), key=str):
                print(name, dict(sorted(row.items())))
        if arguments.slowest:
            for name, (took, request) in sorted(slowest.items(), key=lambda item: -item[1][0]):
                print(f"{took / 1e6:6.2f} ms  {name}: {json.dumps(request)}"[:400])
    doors.shrink()
    summary["finds"] = sum(doors.seen.values())
    print(json.dumps(summary))
    sys.exit(1 if doors.seen else 0)


if __name__ == "__main__":
    main()
