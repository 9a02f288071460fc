"""Nobody holds the loop in a crowd: an upstream that refuses all, 300,000 cards, and batches of what is no command.

The neighbour is asked while a request runs and for a second after it: a step that is due later counts too.
"""
import concurrent.futures
import multiprocessing
import os
import selectors
import socket
import threading
import time

import world
from population import BUNDLE, Population, lines, token
from wire import HTTP1

# Devices, cards of each, and widgets of one user.
DEVICES, CARDS, WIDGETS = 100, 140, 1000
# What may pass of the loop's CPU before a neighbour is served: beside what waits, and beside so many clients that send
# so many bytes of lines which are no commands.
STEP_MAX = 10_000_000
BAD_LINES = [(2, 1 << 20, 10_000_000), (8, 1 << 16, 30_000_000), (32, 1 << 16, 30_000_000), (128, 1 << 16, 30_000_000)]
# Users, devices of each, and activities of each: 300,000 cards. Tables grow meanwhile.
USERS, PHONES, ACTIVITIES, GROWTH_MAX = 2, 1000, 150, 20_000_000
# One small request costs what it reaches: a start and its end for all devices of a user, so often.
PAIRS, PAIR_BYTES = 300, 50 << 20
# The machine's clock is set by so many seconds, and followed after a minute.
CLOCK_STEPS, CLOCK_SECONDS = (400, -400), 70
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
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


class Watch:
    """The most that passes of the loop's CPU before a neighbour is served, since `most` was read last."""

    def __init__(self, relay):
        self.relay, self.passed, self.is_over = relay, 0, False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()

    def most(self):
        passed, self.passed = self.passed, 0
        return passed

    def _run(self):
        neighbour = HTTP1(self.relay.port)
        while not self.is_over:
            self.passed = max(self.passed, self.relay.livez(neighbour))
            time.sleep(0.001)


class Growth(Population):
    """A relay whose tables grow to 300,000 cards, and one whose clock is set beside them."""

    def __init__(self, sets_clock):
        self.finds, self.most, self.offset = [], {}, None
        program = world.PROGRAM
        if sets_clock:
            self.offset = os.path.join(world.folder(), "offset")
            world.PROGRAM = self._faked(program)
        # What a key may reach is tried elsewhere.
        super().__init__(accepts=False, limits={"destinations_per_key_per_second": 1_000_000})
        world.PROGRAM = program

    def _faked(self, program):
        """A program like this one, by a clock that can be set. libfaketime is loaded into env first: it takes the
        arguments from a Swift program that it is loaded into."""
        self._set(0)
        path = os.path.join(os.path.dirname(self.offset), "tombolo")
        world.write(path, f"""#!/bin/sh
            test "$1" = serve || exec {program} "$@"
            rm -f /dev/shm/faketime_shm_$$ /dev/shm/sem.faketime_sem_$$
            export LD_PRELOAD={FAKETIME} FAKETIME_TIMESTAMP_FILE={self.offset} FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1
            exec env {program} "$@"
            """.lstrip())
        os.chmod(path, 0o700)
        return path

    def _set(self, seconds):
        world.write(self.offset, f"{seconds:+}")

    def _judge(self, about, most, bound):
        self.most[about] = round(most / 1e6, 1)
        if most > bound * WIDER:
            self.finds.append(f"{about}: {most / 1e6:.1f} ms of the loop's CPU pass before a neighbour is served, and "
                              f"{bound / 1e6:.0f} ms is the bound")

    def run(self):
        try:
            self.do("PUT", "/v1/types/Grows", {"state": {}})
            self.do_all(("PUT", f"/v1/devices/grows-{index}", {
                "app": BUNDLE, "environment": "sandbox", "user": f"grows-{index // PHONES}"})
                for index in range(USERS * PHONES))
            with Watch(self.world) as watch:
                most = 0
                for index in range(USERS * ACTIVITIES):
                    self.do("PUT", f"/v1/activities/grows-{index}", {"type": "Grows", "audience": {
                        "user": f"grows-{index % USERS}", "start": "adopt"}, "state": {"n": 0}})
                    most = max(most, watch.most())
                self._judge(f"{USERS * ACTIVITIES * PHONES} cards that come", most, GROWTH_MAX)
                if self.offset:
                    self._clock(watch)
                else:
                    self._pairs(watch)
        finally:
            self.world.stop()
        return self

    def _clock(self, watch):
        self.do_all(("PUT", f"/v1/devices/grows-{phone}/tokens", {"tokens": {
            f"activity:grows-{index}": {"token": token(1000 * phone + index)}
            for index in range(phone // PHONES, USERS * ACTIVITIES, USERS)}}) for phone in range(USERS * PHONES))
        self.quiet(60)
        for seconds in CLOCK_STEPS:
            watch.most()
            self._set(seconds)
            time.sleep(CLOCK_SECONDS)
            self._judge(f"the clock is set by {seconds} s beside them", watch.most(), GROWTH_MAX)

    def _pairs(self, watch):
        before, most, began = self.world.resident(), 0, self.world.loop_time()
        for index in range(PAIRS):
            self.do("PUT", f"/v1/activities/pair-{index}", {
                "type": "Grows", "audience": {"user": "grows-0"}, "state": {"n": 0}})
            self.do("POST", f"/v1/activities/pair-{index}/end", {"dismiss": "now"})
            most = max(most, watch.most())
        about = f"{PAIRS} starts with their ends for {PHONES} devices"
        self._judge(about, most, GROWTH_MAX)
        grown = self.world.resident() - before
        self.most[f"{about}, MB"], self.most[f"{about}, s"] = grown >> 20, (self.world.loop_time() - began) / 1e9
        if grown > PAIR_BYTES:
            self.finds.append(f"{about} leave {grown >> 20} MB in memory")


class Crowds(Population):
    def __init__(self, whole):
        super().__init__(accepts=False)
        self.whole = whole
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
        for sets_clock in (False, True) if self.whole else (False,):
            growth = Growth(sets_clock).run()
            self.most.update(growth.most)
            for text in growth.finds:
                self._find(text)
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
        one = lambda: {"activity": f"wait-{next(numbers) % CARDS}", "reason": "held"}
        whole = lambda: {"type": "Waits", "reason": "held"}
        for about, paused in (("", one), (" of the type", whole)):
            self._row(f"a pause{about} {beside}", lambda: self.request("POST", "/v1/pauses", paused()), STEP_MAX)
            # A row may ask again, and a pause ends once: each try has a pause of its own.
            for pause in self.do("GET", "/v1/pauses")["pauses"]:
                self.do("DELETE", f"/v1/pauses/{pause['id']}")
            self._row(f"the end of a pause{about} {beside}", lambda: self.request(
                "DELETE", f"/v1/pauses/{self.do('POST', '/v1/pauses', paused())['id']}"), STEP_MAX)
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


def crowds(whole):
    """Prints its finds; answers how many there are, and what each row took."""
    return Crowds(whole).run()
