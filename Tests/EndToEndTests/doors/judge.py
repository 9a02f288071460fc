"""Sends one request and judges its answer."""
import json
import time

from contract import body_faults
from template import Refused, beyond_double, parse, render
from wire import NoAnswer, integer, literal

# What one request may take of the loop's thread, on a machine that reads `_YARDSTICK` in `YARDSTICK_NANOSECONDS`.
LOOP_NANOSECONDS = 10_000_000
YARDSTICK_NANOSECONDS = 20_000_000
_YARDSTICK = json.dumps([1] * 500_000)
# The refusals that come before a request is known to be one of an operation.
BEFORE_ROUTING = {400, 404, 405, 408, 413, 414, 417, 421, 426, 429, 431, 501, 505}
STREAMING = {"tail"}
# The most that a tail reads and sends in a turn.
TAIL_BYTES, TAIL_EVENTS = 128 << 10, 200


def slowness():
    """How much slower than that the machine is at this moment; 1 where it is not. A shared machine halves its speed and
    is fast again within seconds, so what it says holds only for what is measured beside it."""
    began = time.thread_time_ns()
    json.loads(_YARDSTICK)
    return max(1.0, (time.thread_time_ns() - began) / YARDSTICK_NANOSECONDS)


class Find:
    """Something that must not be."""

    def __init__(self, kind, text, request):
        self.kind, self.text, self.request = kind, text, request

    def __repr__(self):
        return f"{self.kind}: {self.text}"


def fields_of(world, request, body):
    """The header fields of a request, as pairs of bytes."""
    fields = [("Host", "127.0.0.1")]
    key = world.keys.get(request.get("key", "all"))
    if key:
        fields.append(("Authorization", f"Bearer {key}"))
    if request.get("type") is not None:
        fields.append(("Content-Type", request["type"]))
    fields += [tuple(field) for field in request.get("fields", ())]
    encoded = [(_encode(name), _encode(value)) for name, value in fields]
    framing = request.get("framing", "length")
    if request["http"] == 1 and (body or request["method"] in ("PUT", "POST", "PATCH")):
        if framing in ("length", "both", "twice", "long"):
            length = len(body) + (10 if framing == "long" else 0)
            encoded.append((b"Content-Length", b"%d" % length))
        if framing == "twice":
            encoded.append((b"Content-Length", b"%d" % (len(body) + 1)))
        if framing in ("chunked", "chunks of 1", "chunk extension", "trailer", "both"):
            encoded.append((b"Transfer-Encoding", b"chunked"))
    return encoded


def _encode(text):
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _framed(request, body):
    framing = request.get("framing", "length")
    if framing == "chunks of 1":
        rest = body[2000:]
        return b"".join(b"1\r\n%c\r\n" % byte for byte in body[:2000]) + (
            b"%x\r\n%s\r\n" % (len(rest), rest) if rest else b"") + b"0\r\n\r\n"
    if framing in ("chunked", "chunk extension", "trailer", "both"):
        extension = b";a=b" if framing == "chunk extension" else b""
        trailer = b"X-A: b\r\n" if framing == "trailer" else b""
        part = b"%x%s\r\n%s\r\n" % (len(body), extension, body) if body else b""
        return part + b"0\r\n" + trailer + b"\r\n"
    return body


def _turns(body):
    """How many turns of the loop a tail took at least for what it sent: each reads a page."""
    # Server-sent events end with an empty line, those of NDJSON with their line.
    events = body.count(b"\n\n") or body.count(b"\n")
    return 1 + max(len(body) // TAIL_BYTES, events // TAIL_EVENTS)


class Sender:
    """Sends requests to a world and judges what comes back."""

    def __init__(self, world, contract, acknowledged):
        self.world, self.contract, self.acknowledged = world, contract, acknowledged
        self.pages = set()
        # Of each operation the request that took most of the loop, and how many nanoseconds.
        self.statuses, self.slowest = {}, {}
        self.idle_since = self.after_last = 0

    def spent(self, request, took):
        """Notes what a request took of the loop."""
        if took > self.slowest.get(request["op"], (0, None))[0]:
            self.slowest[request["op"]] = took, request

    def send(self, request, timeout=6, settle=False):
        """Answers (finds, loop nanoseconds, answer or None). With `settle` the loop's time counts until it is idle
        again; without, until the answer."""
        world = self.world
        body = render(request["body"]) if request["body"] is not None else b""
        fields = fields_of(world, request, body)
        target = _encode(request["target"])
        client = world.one if request["http"] == 1 else world.two
        streams = 0.05 if request["op"] in STREAMING and request["method"] == "GET" else 0
        if request.get("framing") == "long":
            timeout = 0.2
        before = world.loop_time()
        # What the request before cost beyond its answer.
        self.after_last = before - self.idle_since if self.idle_since else 0
        answer, why = None, None
        for attempt in (1, 2):
            fresh = client.socket is None
            try:
                if request.get("block"):
                    block = self._block(request, fields, target)
                    answer = world.two.send(block, body, timeout, streams)
                elif request["http"] == 1:
                    answer = world.one.ask(
                        request["method"].encode(), target, fields, _framed(request, body), timeout, streams)
                else:
                    answer = world.two.ask(request["method"].encode(), target, fields, body, timeout, streams)
                break
            except NoAnswer as none:
                client.close()
                why = none
                # A connection that was kept may have been closed by the relay before this request.
                if fresh or none.timed_out or not world.is_running():
                    break
        if request.get("framing", "length") != "length" or any(
                name == "Content-Length" for name, _ in request["fields"]):
            # What is left of such a body would be read as the next request.
            client.close()
        try:
            if settle:
                world.quiet()
            self.idle_since = world.loop_time()
            took = self.idle_since - before
            if streams and answer is not None:
                took //= _turns(answer.body)
        except OSError:
            took = 0
        if not world.is_running() or (answer is None and not why.timed_out and self._is_gone()):
            return [Find("exit", self.world.exit(), request)], took, None
        self.statuses.setdefault(request["op"], {}).setdefault(answer.status if answer else 0, 0)
        self.statuses[request["op"]][answer.status if answer else 0] += 1
        if answer is None:
            self.acknowledged.unanswered(request)
            if self._may_be_cut(request, why):
                return [], took, None
            return [Find("no answer", f"{why}", request)], took, None
        return self._judge(request, body, answer), took, answer

    def _block(self, request, fields, target):
        """A header block with one entry of the table named many times."""
        base = b"".join(literal(name, value) for name, value in [
            (b":method", request["method"].encode()), (b":scheme", b"http"), (b":path", target),
            (b":authority", b"a")] + [(name.lower(), value) for name, value in fields if name != b"Host"])
        value = b"b" * request["block"]["bytes"]
        return base + b"\x40\x01a" + integer(len(value), 7) + value + b"\xbe" * request["block"]["entries"]

    def _is_gone(self):
        """A process that traps is gone a moment after its connections."""
        for _ in range(50):
            if not self.world.is_running():
                return True
            time.sleep(0.002)
        return False

    @staticmethod
    def _may_be_cut(request, why):
        """Whether the relay may close or reset here instead of answering."""
        if request.get("framing") == "long" or request.get("block"):
            return True
        hostile_fields = any(name in ("Content-Length", "Connection", "TE", "Expect", "Upgrade") or len(value) > 3000
                             or any(not 32 <= ord(c) < 127 for c in value) for name, value in request.get("fields", ()))
        hostile_type = request.get("type") and any(not 32 <= ord(c) < 127 for c in request["type"])
        return not why.timed_out and "after those of" not in str(why) and (
            hostile_fields or hostile_type or any(
                value != value.strip() for _, value in request.get("fields", ())) or len(request["target"]) > 3000
            or any(not 33 <= ord(c) < 127 for c in request["target"]))

    def _judge(self, request, body, answer):
        finds = []
        find = lambda kind, text: finds.append(Find(kind, text[:600], request))
        if answer.status >= 500 and answer.status not in (502, 503, 505, 501):
            find("500", f"{answer!r}")
            return finds
        operation = self.contract.operations.get(request["op"])
        if operation is None:
            return finds
        is_head = request["method"] == "HEAD"
        media = answer.fields.get("content-type", "").split(";")[0].strip()
        listed = operation.answers.get(answer.status)
        is_problem = answer.status >= 400
        if listed is None:
            # An id may make the path that of another operation: no activity is called "end".
            path = request["target"].split("?")[0]
            is_another = answer.status == 405 and any(other.path == path for other in self.contract.operations.values())
            if not (is_another or self._is_odd_http(request) and answer.status in BEFORE_ROUTING):
                find("not listed", f"{operation.method} {operation.path} answers {answer.status}: {answer.body[:200]!r}")
        elif answer.body and not is_head and media not in listed:
            find("media type", f"{operation.id} {answer.status}: {media!r} is not one of {list(listed)}")
        value = None
        if media in ("application/json", "application/problem+json") and not is_head:
            value = self._parsed(answer.body, finds, request)
        elif media == "application/x-ndjson":
            lines = answer.body.split(b"\n")
            complete = lines if request["op"] not in STREAMING else lines[:-1]
            value = [self._parsed(line, finds, request) for line in complete if line.strip()]
        if is_problem:
            self._judge_problem(answer, media, value, find)
        elif listed and media in listed and value is not None:
            rows = value if isinstance(value, list) else [value]
            for row in rows:
                faults = self.contract.faults(listed[media], row) if row is not None else []
                if faults:
                    find("answer", f"{operation.id} {answer.status} breaks its schema: {faults[:3]} {str(row)[:200]}")
                    break
        if answer.status < 300:
            self._judge_accepted(request, operation, body, answer, value, find)
        return finds

    @staticmethod
    def _is_odd_http(request):
        """Whether something of the request is wrong as HTTP."""
        return True if request.get("framing") or request.get("block") else (
            any(True for _ in request.get("fields", ())) or any(not 33 <= ord(c) < 127 for c in request["target"])
            or "%" in request["target"] or len(request["target"]) > 3000 or "/../" in request["target"]
            or request["target"].split("?")[0].endswith(("/", "/..", "/.")) or "//" in request["target"])

    def _parsed(self, data, finds, request):
        try:
            value = parse(data)
        except Refused as refusal:
            finds.append(Find("answer", f"not JSON: {refusal}: {data[:200]!r}", request))
            return None
        number = beyond_double(value)
        if number:
            finds.append(Find("number", f"the answer has {number[:40]}, beyond a Double: {data[:200]!r}", request))
        return value

    def _judge_problem(self, answer, media, value, find):
        if not answer.body:
            return
        if media != "application/problem+json":
            find("problem", f"{answer.status} is {media!r}: {answer.body[:200]!r}")
            return
        faults = self.contract.faults({"$ref": "#/components/schemas/problem"}, value)
        if faults:
            find("problem", f"{faults[:3]}: {answer.body[:300]!r}")
            return
        if int(value["status"]) != answer.status:
            find("problem", f"says {value['status']} in an answer of {answer.status}")
        page = value["type"]
        if page not in self.pages:
            if self.world.get(page).status != 200:
                find("problem", f"its page {page} is not there")
            self.pages.add(page)

    def _judge_accepted(self, request, operation, body, answer, value, find):
        key = request.get("key", "all")
        allowed = {"produce": {"produce"}, "observe": {"observe"}, "operate": {"produce", "observe", "operate", "device:{id}"},
                   "device": {"device:{id}"}, "none": set()}.get(key)
        if allowed is not None and operation.scopes and not allowed & set(operation.scopes) \
                and not any(name == "Authorization" for name, _ in request["fields"]):
            find("scope", f"{operation.id} is answered {answer.status} to the key {key}")
        if operation.media_type == "application/x-ndjson":
            self._judge_lines(operation, body, value, find)
        else:
            faults = body_faults(self.contract, operation, body)
            if faults:
                find("accepted", f"{operation.id}: {faults[:3]}: {body[:300]!r}")
        self._judge_parameters(request, operation, find)
        contradiction = self.acknowledged.note(request, body, answer, value)
        if contradiction:
            find("contradiction", contradiction)
        if isinstance(value, dict):
            self.acknowledged.cursor(value)

    def _judge_lines(self, operation, body, value, find):
        lines = [line for line in body.split(b"\n") if line.strip(b" \t\r")]
        if value is None or len(lines) != len(value):
            return
        for line, result in zip(lines, value):
            if result and result.get("ok"):
                faults = body_faults(self.contract, operation, line)
                if faults:
                    find("accepted", f"a line of {operation.id}: {faults[:3]}: {line[:300]!r}")
                    return

    def _judge_parameters(self, request, operation, find):
        import urllib.parse
        query = request["target"].split("?", 1)[1] if "?" in request["target"] else ""
        given = {}
        for item in query.split("&"):
            name, _, text = item.partition("=")
            given.setdefault(urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(text))
        for parameter in operation.named("query"):
            if parameter["name"] in given:
                fault = self.contract.parameter_fault(parameter, given[parameter["name"]])
                if fault:
                    find("accepted", f"{operation.id}: ?{parameter['name']}={given[parameter['name']][:60]}: {fault}")
        for parameter in operation.named("header"):
            texts = [value for name, value in request["fields"] if name.lower() == parameter["name"].lower()]
            # Of several the first counts.
            for text in texts[:1]:
                fault = self.contract.parameter_fault(parameter, text.strip(" \t"))
                if fault and parameter["name"] in ("If-None-Match", "Last-Event-ID"):
                    find("accepted", f"{operation.id}: {parameter['name']}: {text[:60]!r}: {fault}")
