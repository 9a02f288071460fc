"""A relay of which is known what its loop's thread has of a CPU, and what it has of memory."""
import os
import subprocess
import time

import world
from wire import HTTP1, HTTP2, NoAnswer


class Watched(world.World):
    """It runs at once, and whoever has `keys["all"]` may everything."""

    def __init__(self, phones=3, accepts=True, **more):
        # What is durable need not be slow here: a killed process loses nothing of a file system.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        # As `dev` has it: phones that take many starts.
        super().__init__(*["--accept-any-token"] * accepts, "--start-budget", "1000", phones=phones, parent=memory,
                         budgets={"start": {"burst": 1000, "per_hour": 1000}}, **more)
        self.keys = {"all": self.key}
        self.start()

    def start(self):
        super().start()
        # The main thread runs the loop; the log's writer and reader have threads of their own.
        self.process = f"/proc/{self.relay.process.pid}"
        self.schedule = f"{self.process}/task/{self.relay.process.pid}/schedstat"
        self.one, self.two = HTTP1(self.port), HTTP2(self.port)

    def loop_time(self):
        """Nanoseconds that the loop's thread had of a CPU."""
        with open(self.schedule) as file:
            return int(file.read().split()[0])

    def livez(self, neighbour):
        """What passes of the loop's CPU before a neighbour is served."""
        before = self.loop_time()
        answer = neighbour.ask(b"GET", b"/livez", [(b"Host", b"127.0.0.1")], b"", 30)
        assert answer.status == 200, answer
        return self.loop_time() - before

    def resident(self):
        """Bytes of memory that the relay has."""
        with open(f"{self.process}/statm") as file:
            return int(file.read().split()[1]) * 4096

    def kill(self):
        self.one.close()
        self.two.close()
        super().kill()

    def exit(self):
        """How a relay ended that is gone."""
        return f"the relay exited with {self.relay.process.wait()}: {self.relay.said()[-300:].strip()}"

    def cli(self, *words):
        """Runs a command of the program beside the relay; what it prints is bytes."""
        return subprocess.run(
            [world.PROGRAM, *words], env={**os.environ, **self.environment, "NO_COLOR": "1"}, capture_output=True,
            timeout=120, stdin=subprocess.DEVNULL)

    def get(self, target, timeout=30):
        """GET with the key that may everything, or NoAnswer."""
        fields = [(b"Host", b"127.0.0.1"), (b"Authorization", b"Bearer " + self.key.encode())]
        for attempt in (1, 2):
            try:
                return self.one.ask(b"GET", target.encode("utf-8"), fields, b"", timeout)
            except NoAnswer:
                # A kept connection may have been closed meanwhile.
                if attempt == 2 or not self.is_running():
                    raise
        raise AssertionError

    def quiet(self):
        """Waits until the loop has had nothing to do for a moment, at most half a second."""
        last, deadline = self.loop_time(), time.monotonic() + 0.5
        while time.monotonic() < deadline:
            time.sleep(0.004)
            now = self.loop_time()
            if now - last < 100_000:
                return
            last = now
