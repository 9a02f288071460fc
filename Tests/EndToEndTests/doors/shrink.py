"""Makes a find small: the fewest requests, with the fewest and plainest members."""
import copy
import random
import re
import time

from template import instruction

# Longer than this nobody waits for one find.
SECONDS = 60


def signature(find):
    """What two finds have in common that are of one cause."""
    text = re.sub(r"b'.*|\{.*|\".*?\"|[0-9a-f]{8,}", "", find.text)
    return find.kind, re.sub(r"[0-9]+", "0", text)[:60]


class Shrinker:
    """Shrinks one find in fresh worlds."""

    def __init__(self, make_life, find, sent):
        self.make_life, self.find, self.sent = make_life, find, sent
        self.deadline = time.monotonic() + SECONDS
        self.tries = 0

    def reproduces(self, requests):
        """Whether these requests, in a fresh world, lead to the same kind of find."""
        self.tries += 1
        life = self.make_life(random.Random(0))
        try:
            finds = []
            for request in requests:
                new = life.give(request)
                if any(find.kind in ("exit", "start") for find in new):
                    finds += new
                    break
                if request is requests[-1]:
                    finds += new
            else:
                if self.find.request is None or self.find.kind in ("exit", "start"):
                    time.sleep(0.3)
                    finds += life.read_back(cli="log " in self.find.text or " ls" in self.find.text)
                    if self.find.kind != "exit":
                        finds += life.restart() or life.read_back()
            if any(find.kind == "exit" for find in finds):
                finds += life.restart()
            return any(self._is_same(find) for find in finds)
        except OSError:
            return self.find.kind == "exit"
        finally:
            life.world.stop()

    def _is_same(self, find):
        if self.find.kind in ("exit", "start", "loop", "memory"):
            return find.kind == self.find.kind
        return signature(find) == signature(self.find)

    def run(self):
        """The requests that are enough, or None where the find does not come again."""
        requests = self._sequence()
        if requests is None:
            return None
        for index in reversed([index for index, request in enumerate(requests) if "op" in request]):
            requests[index] = self._smaller(requests, index)
        return requests

    def _sequence(self):
        last = self.find.request or next(
            (request for request in reversed(self.sent) if "op" in request), None)
        prelude = [request for request in self.sent[:80] if request.get("prelude")]
        related = [request for request in self.sent if self._shares(request, last)]
        for candidate in ([last], prelude + [last], related, prelude + related, self.sent):
            if candidate and self.reproduces(candidate):
                return self._fewer(list(candidate))
        return None

    @staticmethod
    def _shares(request, last):
        if request is last or request.get("kill"):
            return True
        names = set(re.findall(r"/(?:activities|devices|types|channels)/([^/?]+)", last["target"]))
        names |= set(re.findall(r"'activity': '([^']+)'", str(last["body"])))
        names |= set(re.findall(r"'type': '([^']+)'", str(last["body"])))
        text = request["target"] + str(request["body"])
        return any(name in text for name in names)

    def _fewer(self, requests):
        """Delta debugging on the sequence."""
        size = max(1, len(requests) // 2)
        while size and len(requests) > 1:
            at, changed = 0, False
            while at < len(requests) and time.monotonic() < self.deadline:
                candidate = requests[:at] + requests[at + size:]
                if candidate and self.reproduces(candidate):
                    requests, changed = candidate, True
                else:
                    at += size
            if time.monotonic() > self.deadline:
                break
            if not changed or size > len(requests):
                size //= 2
        return requests

    def _smaller(self, requests, index):
        """The plainest form of one request that still does it."""
        best = copy.deepcopy(requests[index])
        tried, again = set(), True
        while again and time.monotonic() < self.deadline:
            again = False
            for candidate in self._simpler(best):
                if time.monotonic() > self.deadline:
                    break
                if str(candidate) in tried:
                    continue
                tried.add(str(candidate))
                if self.reproduces(requests[:index] + [candidate] + requests[index + 1:]):
                    best, again = candidate, True
                    break
        return best

    def _simpler(self, request):
        if request["http"] == 2 and not request.get("block"):
            yield {**request, "http": 1}
        if request["fields"]:
            yield {**request, "fields": []}
            for index in range(len(request["fields"])):
                yield {**request, "fields": request["fields"][:index] + request["fields"][index + 1:]}
        if "?" in request["target"]:
            path, query = request["target"].split("?", 1)
            yield {**request, "target": path}
            items = query.split("&")
            for index in range(len(items) if len(items) > 1 else 0):
                yield {**request, "target": path + "?" + "&".join(items[:index] + items[index + 1:])}
        for body in _plainer(request["body"]):
            yield {**request, "body": body}


def _plainer(template):
    """Templates that are one step plainer."""
    name = instruction(template)
    if name in ("$repeat", "$deep", "$members", "$items"):
        rule = template[name]
        at = 1 if name == "$repeat" else 0
        for count in (0, 1, 2, rule[at] // 2, rule[at] * 3 // 4, rule[at] - 1):
            if 0 <= count < rule[at]:
                yield {name: [count if index == at else part for index, part in enumerate(rule)]}
        if name in ("$items", "$deep"):
            for inner in _plainer(rule[-1]):
                yield {name: rule[:-1] + [inner]}
    elif name == "$lines":
        lines = template[name]
        for index in range(len(lines)):
            if len(lines) > 1:
                yield {name: lines[:index] + lines[index + 1:]}
        for index, line in enumerate(lines):
            for inner in _plainer(line):
                yield {name: lines[:index] + [inner] + lines[index + 1:]}
    elif name in ("$cut", "$around"):
        inner = template[name][0 if name == "$cut" else 1]
        yield inner
    elif name == "$pairs":
        pairs = template[name]
        for index in range(len(pairs)):
            yield {name: pairs[:index] + pairs[index + 1:]}
    elif name is None and isinstance(template, dict):
        members = list(template.items())
        if len(members) > 4:
            yield dict(members[:len(members) // 2])
            yield dict(members[len(members) // 2:])
        for key, _ in members:
            yield {other: value for other, value in members if other != key}
        for key, value in members:
            for inner in _plainer(value):
                yield {other: inner if other == key else old for other, old in members}
    elif isinstance(template, list):
        if len(template) > 4:
            yield template[:len(template) // 2]
        for index in range(len(template)):
            yield template[:index] + template[index + 1:]
        for index, item in enumerate(template):
            for inner in _plainer(item):
                yield template[:index] + [inner] + template[index + 1:]
    elif isinstance(template, str) and len(template) > 1:
        yield ""
        yield "a"
