#!/usr/bin/env python3
"""Follows what becomes of every card, by one tail, and writes each outcome down once.

It may be stopped at any moment, and so may the relay: the file says where to go on.
"""
import json, os, sys, time
import http.client, urllib.error, urllib.request

RELAY, KEY = os.environ["TOMBOLO_RELAY"], os.environ["TOMBOLO_KEY"]
FACTS = "card.began,card.dismissed,card.lost,card.ended,push.refused,push.expired,push.skipped,action"


class Book:
    """A file with a line for each outcome. The last line says how far the tail was read."""

    def __init__(self, path):
        self.cursor, self.known, size = None, set(), 0
        self.file = open(path, "ab+")
        self.file.seek(0)
        for line in self.file:
            if not line.endswith(b"\n"):
                break  # The program was killed while it wrote this one.
            self.take(json.loads(line))
            size += len(line)
        self.file.truncate(size)

    def take(self, line):
        self.cursor = line["cursor"]
        self.known.add(self.name(line))

    @staticmethod
    def name(line):
        # After a relay's crash an outcome may come twice: this is what makes it the same.
        members = ("fact", "activity", "device", "version", "result", "reason", "action", "kind")
        return tuple(line.get(member) for member in members)

    def write(self, line):
        if line["kind"] != "position" and self.name(line) in self.known:
            return
        self.file.write(json.dumps(line).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.take(line)


def tail(cursor):
    """Lines of the tail behind a cursor; from now on where there is none."""
    after = f"&cursor={cursor}" if cursor else ""
    request = urllib.request.Request(f"{RELAY}/v1/tail?fact={FACTS}{after}")
    request.add_header("Authorization", f"Bearer {KEY}")
    request.add_header("Accept", "application/x-ndjson")
    with urllib.request.urlopen(request, timeout=30) as answer:
        yield {"kind": "position", "cursor": cursor or answer.headers["Tombolo-Cursor"]}
        for line in answer:
            if line.strip():  # An empty line says that the relay lives.
                yield json.loads(line)


book = Book(sys.argv[1])
while True:
    try:
        for line in tail(book.cursor):
            if line["cursor"] != book.cursor:
                book.write(line)
    except urllib.error.HTTPError as error:
        if error.code == 410:
            sys.exit("The log was replaced: read the activities again, and take another file.")
        if error.code < 500 and error.code != 429:
            sys.exit(f"{error}: {error.read().decode()}")
    except (OSError, ValueError, http.client.HTTPException):
        pass  # The relay restarts, or the line was cut: the book knows where to go on.
    time.sleep(0.2)
