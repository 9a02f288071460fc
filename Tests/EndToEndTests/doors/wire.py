"""Two small clients, HTTP/1.1 and HTTP/2 by prior knowledge, that send what they are given.

Neither checks, repairs or adds anything to a request: hostile bytes go out as they are.
"""
import gzip
import select
import socket
import struct
import time


class NoAnswer(Exception):
    """The connection ended, or the time was over, before the answer was complete."""

    def __init__(self, why, timed_out=False):
        super().__init__(why)
        self.timed_out = timed_out


class Answer:
    """Status, fields by lower-case name, and body. `status` is 0 where the connection was closed instead."""

    def __init__(self, status, fields, body):
        self.status, self.fields = status, fields
        # Some answers are compressed for who takes it.
        self.body = gzip.decompress(body) if body and fields.get("content-encoding") == "gzip" else body

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class HTTP1:
    """One connection of HTTP/1.1 that is kept where the relay keeps it."""

    def __init__(self, port):
        self.port, self.socket, self.rest = port, None, b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.rest = None, b""

    def ask(self, method, target, fields, body, timeout=5, streams=0):
        """Sends one request. `fields` are pairs of bytes; `streams` is how long an endless answer is read."""
        head = [method + b" " + target + b" HTTP/1.1"]
        head += [name + b": " + value for name, value in fields]
        return self.send(b"\r\n".join(head) + b"\r\n\r\n" + body, timeout, streams, method == b"HEAD")

    def send(self, data, timeout=5, streams=0, bodiless=False):
        """Sends bytes and reads one answer."""
        fresh = self.socket is None
        deadline = time.monotonic() + timeout
        try:
            if fresh:
                self.socket = socket.create_connection(("127.0.0.1", self.port), 5)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket.settimeout(timeout)
            self.socket.sendall(data)
        except TimeoutError:
            self.close()
            raise NoAnswer("not taken within the time", True) from None
        except OSError:
            # A refusal may have arrived before the connection was closed.
            if self.socket is None:
                raise NoAnswer("no connection") from None
        try:
            return self._answer(deadline, streams, bodiless)
        except NoAnswer:
            self.close()
            raise

    def _more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise NoAnswer("no answer within the time", True)
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 18)
        except TimeoutError:
            raise NoAnswer("no answer within the time", True) from None
        except OSError as error:
            raise NoAnswer(str(error)) from None
        if not data:
            raise NoAnswer("closed")
        self.rest += data

    def _answer(self, deadline, streams, bodiless):
        while True:
            while b"\r\n\r\n" not in self.rest:
                self._more(deadline)
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            status = int(lines[0].split(" ")[1])
            if status >= 200:
                break
        fields = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            fields[name.lower()] = value.strip()
        if bodiless or status in (204, 304):
            body = b""
        elif "content-length" in fields:
            length = int(fields["content-length"])
            while len(self.rest) < length:
                self._more(deadline)
            body, self.rest = self.rest[:length], self.rest[length:]
        elif fields.get("transfer-encoding") == "chunked":
            body = self._chunks(min(deadline, time.monotonic() + streams) if streams else deadline, streams)
        else:
            body = b""
        if fields.get("connection", "").lower() == "close" or streams:
            self.close()
        return Answer(status, fields, body)

    def _chunks(self, deadline, streams):
        body = b""
        try:
            while True:
                while b"\r\n" not in self.rest:
                    self._more(deadline)
                size, rest = self.rest.split(b"\r\n", 1)
                length = int(size, 16)
                while len(rest) < length + 2:
                    self.rest = rest
                    self._more(deadline)
                    rest = self.rest
                body, self.rest = body + rest[:length], rest[length + 2:]
                if length == 0:
                    return body
        except NoAnswer as end:
            if streams and end.timed_out:
                return body
            raise


# How many bits each ASCII character has in HPACK's Huffman code (RFC 7541, appendix B), which is
# canonical: the codes follow from the lengths.
_LENGTHS = (
    [13, 23] + [28] * 7 + [24, 30, 28, 28, 30] + [28] * 8 + [30] + [28] * 9
    + [6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5] + [6] * 7
    + [7, 8, 15, 6, 12, 10, 13, 6] + [7] * 22 + [8, 7, 8, 13, 19, 13, 14, 6, 15]
    + [5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7]
    + [15, 11, 14, 13, 28])


def _codes():
    table, code, last = {}, 0, 0
    for length, symbol in sorted((l, s) for s, l in enumerate(_LENGTHS) if l <= 15):
        code <<= length - last
        table[length, code] = symbol
        code, last = code + 1, length
    return table


_CODES = _codes()
_STATIC = (
    [":authority", ":method", ":method", ":path", ":path", ":scheme", ":scheme"] + [":status"] * 7
    + "accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age "
    "allow authorization cache-control content-disposition content-encoding content-language "
    "content-length content-location content-range content-type cookie date etag expect expires from host "
    "if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location "
    "max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after server "
    "set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate".split())
_STATUSES = {8: "200", 9: "204", 10: "206", 11: "304", 12: "400", 13: "404", 14: "500"}


def _huffman(data):
    text, code, length = bytearray(), 0, 0
    for byte in data:
        for bit in range(7, -1, -1):
            code, length = code << 1 | byte >> bit & 1, length + 1
            symbol = _CODES.get((length, code))
            if symbol is not None:
                text.append(symbol)
                code = length = 0
    return bytes(text)


def integer(value, bits, first=0):
    """A number as HPACK has it (RFC 7541, section 5.1)."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = bytearray([first | most]), value - most
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def literal(name, value):
    """A field of a header block: literal, never indexed, not compressed."""
    return b"\x10" + integer(len(name), 7) + name + integer(len(value), 7) + value


class HTTP2:
    """One connection of HTTP/2, one stream at a time."""

    def __init__(self, port):
        self.port, self.socket = port, None

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def _connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest, self.stream, self.window, self.initial = b"", -1, 65535, 65535
        # No table of the answers' fields; windows that are always wide enough.
        settings = struct.pack(">HIHIHI", 1, 0, 2, 0, 4, 1 << 24)
        self.socket.sendall(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + self._frame(4, 0, 0, settings)
            + self._frame(8, 0, 0, struct.pack(">I", (1 << 30))))

    @staticmethod
    def _frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
            ">I", stream) + payload

    def ask(self, method, target, fields, body, timeout=5, streams=0):
        """As HTTP1.ask. Names go out in lower case; what belongs to HTTP/1.1 alone is left out."""
        block = b"".join(
            literal(name, value) for name, value in
            [(b":method", method), (b":scheme", b"http"), (b":path", target),
             (b":authority", b"127.0.0.1")]
            + [(name.lower(), value) for name, value in fields
               if name.lower() not in (b"host", b"content-length", b"transfer-encoding", b"connection")])
        expects = any(name.lower() == b"expect" and value == b"100-continue" for name, value in fields)
        return self.send(block, body, timeout, streams, expects)

    def send(self, block, body, timeout=5, streams=0, expects=False):
        """Sends a header block as it is, and a body; reads one answer. With `expects` the body waits a moment for
        an interim answer, as clients do."""
        self.waits_until = time.monotonic() + 0.2 if expects and body else 0
        deadline = time.monotonic() + timeout
        try:
            if self.socket is None:
                self._connect()
            self.socket.settimeout(timeout)
            self.stream += 2
            out, first, kind = b"", True, 1
            while block or first:
                part, block = block[:16384], block[16384:]
                flags = (0 if block else 4) | (1 if first and not body else 0)
                out += self._frame(kind, flags, self.stream, part)
                first, kind = False, 9
            self.socket.sendall(out)
            return self._exchange(body, deadline, streams)
        except NoAnswer:
            self.close()
            raise
        except TimeoutError:
            self.close()
            raise NoAnswer("no answer within the time", True) from None
        except OSError as error:
            self.close()
            raise NoAnswer(str(error)) from None

    def _exchange(self, body, deadline, streams):
        self.stream_window, status, fields, got = self.initial, 0, {}, b""
        sent = not body
        if streams:
            deadline = min(deadline, time.monotonic() + streams)
        while True:
            waits = not status and not fields and time.monotonic() < self.waits_until
            while body and not waits and self.window > 0 and self.stream_window > 0:
                part = body[:min(16384, self.window, self.stream_window)]
                body = body[len(part):]
                self.window -= len(part)
                self.stream_window -= len(part)
                sent = not body
                self.socket.sendall(self._frame(0, 1 if sent else 0, self.stream, part))
            try:
                kind, flags, stream, payload = self._read(self.waits_until if waits else deadline)
            except NoAnswer as end:
                if waits and end.timed_out:
                    continue
                if streams and end.timed_out and status:
                    self.close()
                    return Answer(status, fields, got)
                raise
            if kind == 4 and not flags & 1:
                self._take_settings(payload)
                self.socket.sendall(self._frame(4, 1, 0, b""))
            elif kind == 6 and not flags & 1:
                self.socket.sendall(self._frame(6, 1, 0, payload))
            elif kind == 8:
                grown = struct.unpack(">I", payload)[0]
                if stream == 0:
                    self.window += grown
                elif stream == self.stream:
                    self.stream_window += grown
            elif kind == 7:
                code = struct.unpack(">I", payload[4:8])[0]
                raise NoAnswer(f"GOAWAY {code} {payload[8:]!r}")
            elif stream != self.stream:
                continue
            elif kind == 3:
                raise NoAnswer(f"RST_STREAM {struct.unpack('>I', payload)[0]}")
            elif kind == 1:
                new = self._fields(payload)
                if status and ":status" in new:
                    raise NoAnswer(f"HEADERS of {new[':status']} after those of {status}")
                fields.update(new)
                status = int(fields.get(":status", 0))
                if status < 200:
                    status = 0
            elif kind == 0:
                got += payload
                if payload:
                    self.socket.sendall(self._frame(8, 0, 0, struct.pack(">I", len(payload))))
            if kind in (0, 1) and flags & 1:
                if not sent:
                    self.socket.sendall(self._frame(3, 0, self.stream, struct.pack(">I", 8)))
                if streams:
                    self.close()
                return Answer(status, fields, got)

    def _take_settings(self, payload):
        for at in range(0, len(payload), 6):
            name, value = struct.unpack(">HI", payload[at:at + 6])
            if name == 4:
                self.stream_window += value - self.initial
                self.initial = value

    def _read(self, deadline):
        while len(self.rest) < 9 or len(self.rest) < 9 + int.from_bytes(self.rest[:3], "big"):
            left = deadline - time.monotonic()
            if left <= 0:
                raise NoAnswer("no answer within the time", True)
            self.socket.settimeout(left)
            try:
                data = self.socket.recv(1 << 18)
            except TimeoutError:
                raise NoAnswer("no answer within the time", True) from None
            if not data:
                raise NoAnswer("closed")
            self.rest += data
        length = int.from_bytes(self.rest[:3], "big")
        kind, flags = self.rest[3], self.rest[4]
        stream = int.from_bytes(self.rest[5:9], "big") & 0x7FFFFFFF
        payload, self.rest = self.rest[9:9 + length], self.rest[9 + length:]
        return kind, flags, stream, payload

    def _fields(self, data):
        """Decodes a header block without a dynamic table."""
        fields, at = {}, 0

        def number(bits):
            nonlocal at
            most = (1 << bits) - 1
            value = data[at] & most
            at += 1
            if value == most:
                shift = 0
                while True:
                    byte = data[at]
                    at += 1
                    value += (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
            return value

        def text():
            nonlocal at
            packed = data[at] & 128
            length = number(7)
            value, at = data[at:at + length], at + length
            return (_huffman(value) if packed else value).decode("latin-1")

        while at < len(data):
            first = data[at]
            if first & 0x80:
                index = number(7)
                fields[_STATIC[index - 1]] = _STATUSES.get(index, "")
            elif first & 0xE0 == 0x20:
                number(5)
            else:
                index = number(6 if first & 0x40 else 4)
                name = _STATIC[index - 1] if index else text()
                fields[name] = text()
        return fields


class _Many(HTTP2):
    """One connection with many streams at once, whose answers are thrown away."""

    def __init__(self, port, requests):
        super().__init__(port)
        self._connect()
        self.socket.setblocking(False)
        self.out, self.bodies, self.windows, self.left = bytearray(), {}, {}, len(requests)
        for index, (block, body) in enumerate(requests):
            stream = 2 * index + 1
            self.out += self._frame(1, 4 if body else 5, stream, block)
            if body:
                self.bodies[stream] = body

    def fileno(self):
        return self.socket.fileno()

    def send_some(self):
        for stream in list(self.bodies):
            while stream in self.bodies and len(self.out) < 1 << 18:
                body, window = self.bodies[stream], self.windows.get(stream, 0) + self.initial
                part = body[:min(16384, self.window, window)]
                if not part:
                    break
                self.window -= len(part)
                self.windows[stream] = self.windows.get(stream, 0) - len(part)
                self.bodies[stream] = body[len(part):]
                self.out += self._frame(0, 0 if self.bodies[stream] else 1, stream, part)
                if not self.bodies[stream]:
                    del self.bodies[stream]
        if self.out:
            del self.out[:self.socket.send(self.out)]

    def read_some(self):
        """Whether there are answers to come."""
        data = self.socket.recv(1 << 18)
        self.rest, at = self.rest + data, 0
        while len(self.rest) >= at + 9:
            length = int.from_bytes(self.rest[at:at + 3], "big")
            if len(self.rest) < at + 9 + length:
                break
            kind, flags = self.rest[at + 3], self.rest[at + 4]
            stream = int.from_bytes(self.rest[at + 5:at + 9], "big")
            if kind == 4 and not flags & 1:
                self.stream_window = 0
                self._take_settings(self.rest[at + 9:at + 9 + length])
                self.out += self._frame(4, 1, 0, b"")
            elif kind == 8:
                grown = int.from_bytes(self.rest[at + 9:at + 13], "big")
                if stream:
                    self.windows[stream] = self.windows.get(stream, 0) + grown
                else:
                    self.window += grown
            elif kind == 3 or kind in (0, 1) and flags & 1:
                self.left -= 1
                self.bodies.pop(stream, None)
            at += 9 + length
        self.rest = self.rest[at:]
        return bool(data) and self.left > 0


def flood(port, connections, requests):
    """Sends (header block, body) over so many connections at once; returns when all are answered or closed."""
    share = -(-len(requests) // connections)
    many = [_Many(port, requests[at:at + share]) for at in range(0, len(requests), share)]
    while many:
        wanting = [one for one in many if one.out or one.bodies and one.window > 0]
        readable, writable, _ = select.select(many, wanting, [], 1)
        for one in writable:
            try:
                one.send_some()
            except BlockingIOError:
                pass
            except OSError:
                one.bodies, one.out = {}, bytearray()
        for one in readable:
            try:
                if not one.read_some():
                    many.remove(one)
            except BlockingIOError:
                pass
            except OSError:
                many.remove(one)
