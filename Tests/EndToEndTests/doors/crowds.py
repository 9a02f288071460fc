"""Nobody holds the loop where much waits: an upstream that refuses all, and batches of what is no command.

The neighbour is asked while a request runs and for a second after it: a step that is due later counts too.
"""
import concurrent.futures
import multiprocessing
import selectors
import socket
import time

from population import BUNDLE, Population, lines, token
from wire import HTTP1

# Devices, cards of each, and widgets of one user.
DEVICES, CARDS, WIDGETS = 100, 140, 1000
# What may pass of the loop's CPU before a neighbour is served: beside what waits, and beside so many clients that send
# so many bytes of lines which are no commands.
STEP_MAX = 10_000_000
BAD_LINES = [(2, 1 << 20, 10_000_000), (8, 1 << 16, 30_000_000), (32, 1 << 16, 30_000_000), (128, 1 << 16, 30_000_000)]
# As in held.py: a busy machine is no fault of the relay's.
WIDER, REPEATS = 1.5, 3
# A flood is not waited for after so many seconds.
LONGEST = 10


def discard(port, request, count):
    """So many clients send a request, and read its answer to the end."""
    method, target, fields, body = request
    head = [method + b" " + target + b" HTTP/1.1", *(name + b": " + value for name, value in fields),
            b"Connection: close"]
    data = b"\r\n".join(head) + b"\r\n\r\n" + body
    waiting = selectors.DefaultSelector()
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port))
        client.setblocking(False)
        waiting.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE, [memoryview(data)])
    while waiting.get_map():
        for key, ready in waiting.select():
            if ready & selectors.EVENT_WRITE:
                key.data[0] = key.data[0][key.fileobj.send(key.data[0]):]
                if not key.data[0]:
                    waiting.modify(key.fileobj, selectors.EVENT_READ, key.data)
            if ready & selectors.EVENT_READ and not key.fileobj.recv(1 << 18):
                waiting.unregister(key.fileobj)
                key.fileobj.close()


class Crowds(Population):
    def __init__(self):
        super().__init__(accepts=False)
        self.finds, self.most, self.neighbour = 0, {}, HTTP1(self.world.port)

    def _held(self, request, count):
        """The most that passes before a neighbour is served while so many ask this, and for a second after."""
        self.quiet(2)
        most, over, began = 0, None, time.monotonic()
        if count > 1:
            child = multiprocessing.get_context("fork").Process(
                target=discard, args=(self.world.port, request, count), daemon=True)
            child.start()
            is_over, answer = lambda: not child.is_alive(), lambda: None
        else:
            pool = concurrent.futures.ThreadPoolExecutor(1)
            asked = pool.submit(self.world.one.ask, *request, 120)
            is_over, answer = asked.done, asked.result
        while over is None or time.monotonic() < over:
            most = max(most, self.world.livez(self.neighbour))
            if over is None and (is_over() or time.monotonic() > began + LONGEST):
                over = time.monotonic() + 1
            time.sleep(0.001)
        if count > 1:
            child.kill()
            child.join()
        return most, answer()

    def _row(self, about, make, bound, count=1):
        least = None
        for _ in range(REPEATS):
            most, answer = self._held(make(), count)
            least = most if least is None else min(least, most)
            if answer and answer.status >= 300:
                self._find(f"{about}: {answer!r}"[:300])
                break
            if most <= bound * WIDER or most > 20 * bound:
                break
        self.most[about] = round(least / 1e6, 1)
        if least > bound * WIDER:
            self._find(f"{about}: {least / 1e6:.1f} ms of the loop's CPU pass before a neighbour is served, and "
                       f"{bound / 1e6:.0f} ms is the bound")

    def _find(self, text):
        self.finds += 1
        print(text, flush=True)

    def run(self):
        try:
            self._bad_lines()
            self._wait()
            self._waiting()
        finally:
            self.world.stop()
        return {"crowd_ms": self.most, "crowd_finds": self.finds}

    def _bad_lines(self):
        for count, size, bound in BAD_LINES:
            for about, line in (("numbers", b"1\n"), ("no command", b'{"do":"x"}\n'), ("unknown", b'{"do":"update",'
                                 b'"activity":"none","state":{}}\n')):
                body = line * (size // len(line))
                self._row(f"{count} x {size >> 10} KiB of {about}",
                          lambda: self.request("POST", "/v1/events", body), bound, count)

    def _wait(self):
        """Fourteen thousand cards and a thousand widgets wait at an upstream that has refused all so far."""
        names = [f"waits-{index}" for index in range(DEVICES)]
        self.do("PUT", "/v1/types/Waits", {"state": {}})
        self.do_all(("PUT", f"/v1/devices/{name}", {"app": BUNDLE, "environment": "sandbox", "user": "waits"})
                    for name in names)
        self.do_all(("PUT", f"/v1/activities/wait-{index}", {
            "type": "Waits", "audience": {"devices": names, "start": "adopt"}, "state": {"n": 0}})
            for index in range(CARDS))
        self.do_all(("PUT", f"/v1/devices/{name}/tokens", {"tokens": {
            f"activity:wait-{index}": {"token": token(at * 1000 + index)} for index in range(CARDS)}})
            for at, name in enumerate(names))
        self.do_all(("PUT", f"/v1/devices/widget-{index}", {
            "app": BUNDLE, "environment": "sandbox", "user": "widgets"}) for index in range(WIDGETS))
        self.do_all(("PUT", f"/v1/devices/widget-{index}/tokens/widget", {"token": token(10**6 + index)})
                    for index in range(WIDGETS))
        self._change(1)
        # The upstream closes after three devices.
        time.sleep(6)

    def _change(self, number):
        self.do("POST", "/v1/events", lines(
            {"activity": f"wait-{index}", "do": "update", "state": {"n": number}} for index in range(CARDS)))

    def _waiting(self):
        asked = lambda *words: lambda: self.request(*words)
        beside = f"beside {DEVICES * CARDS} that wait"
        numbers = iter(range(1, 1 << 20))
        self._row(f"a try {beside}", asked("GET", "/livez"), STEP_MAX)
        self._row(f"a pause {beside}", lambda: self.request("POST", "/v1/pauses", {
            "activity": f"wait-{next(numbers) % CARDS}", "reason": "held"}), STEP_MAX)
        self._row(f"a pause of the type {beside}", lambda: self.request("POST", "/v1/pauses", {
            "type": "Waits", "reason": "held"}), STEP_MAX)
        for pause in self.do("GET", "/v1/pauses")["pauses"]:
            self._row(f"the end of a pause {beside}", asked("DELETE", f"/v1/pauses/{pause['id']}"), STEP_MAX)
        self._row(f"an update {beside}", lambda: self.request(
            "PATCH", f"/v1/activities/wait-{next(numbers) % CARDS}", {"state": {"n": next(numbers)}}), STEP_MAX)
        self._row(f"tokens {beside}", lambda: self.request("PUT", "/v1/devices/waits-0/tokens", {"tokens": {
            f"activity:wait-{index}": {"token": token(2 * 10**6 + index + 1000 * next(numbers))} for index in range(100)
        }}), STEP_MAX)
        self._row(f"a timeline of {WIDGETS} widgets {beside}", lambda: self.request("PUT", "/v1/timelines/kind", {
            "subject": {"user": "widgets"}, "content": {"n": next(numbers)}}), STEP_MAX)
        self._row(f"a device's deletion {beside}", lambda: self.request(
            "DELETE", f"/v1/devices/waits-{next(numbers) % 50 + 40}"), STEP_MAX)
        self._row(f"an end {beside}", lambda: self.request(
            "POST", f"/v1/activities/wait-{next(numbers) % CARDS}/end", {"dismiss": "now"}), STEP_MAX)


def crowds():
    """Prints its finds; answers how many there are, and what each row took."""
    return Crowds().run()
