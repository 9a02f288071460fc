"""The real relay, the real simulator with phones, and the loop thread's CPU."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from wire import HTTP1, HTTP2, NoAnswer

BUNDLE = "com.example.app"
PHONES = 3
# A start after a kill, on a busy machine.
READY_SECONDS = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class NotReady(Exception):
    """A start that did not come to its first line."""


class World:
    """A configured relay, and the simulator and its phones beside it."""

    def __init__(self, program, phones=PHONES):
        self.program = program
        # What is durable need not be slow here: a killed process loses nothing of a file system.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.work = tempfile.mkdtemp(prefix="tombolo-doors.", dir=memory)
        self.port, self.simulator_port = free_port(), free_port()
        self.starts, self.relay, self.simulator = 0, None, None
        self.phones = phones
        try:
            self._make()
        except BaseException:
            self.stop()
            raise

    def path(self, name):
        return os.path.join(self.work, name)

    def _make(self):
        os.mkdir(self.path("data"), 0o700)
        key = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            check=True, capture_output=True).stdout
        with open(self.path("key.p8"), "wb", opener=lambda p, f: os.open(p, f, 0o600)) as file:
            file.write(key)
        app = {"id": BUNDLE, "team_id": "TEAM123456", "key_id": "ABC123DEFG",
               "key_file": self.path("key.p8"), "environment": "sandbox",
               "endpoint": f"https://127.0.0.1:{self.simulator_port}", "ca_file": self.path("ca.pem")}
        # As `dev` has it: phones that take many starts.
        budgets = {"start": {"burst": 1000, "per_hour": 1000}}
        self.configuration = {
            "listen": f"127.0.0.1:{self.port}", "data": self.path("data"), "apps": [app],
            "budgets": budgets}
        with open(self.path("tombolo.json"), "w") as file:
            json.dump(self.configuration, file)
        self.keys = {"all": self.mint("produce,observe,operate")}
        self._start_simulator()
        self.start()

    def mint(self, scopes):
        """A key, made while no relay runs."""
        done = subprocess.run(
            [self.program, "key", "mint", "--scope", scopes, "--data", self.path("data"), "-o", "json"],
            check=True, capture_output=True)
        return json.loads(done.stdout)["key"]

    def _start_simulator(self):
        self.simulator = subprocess.Popen(
            [self.program, "sim", "--listen", f"127.0.0.1:{self.simulator_port}",
             "--key-file", self.path("key.p8"), "--key-id", "ABC123DEFG", "--team-id", "TEAM123456",
             "--topic", BUNDLE, "--ca-out", self.path("ca.pem"), "--data", self.path("sim"),
             "--start-budget", "1000", "--accept-any-token",
             "--phones", str(self.phones), "--relay", f"http://127.0.0.1:{self.port}",
             "--key", self.keys["all"]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=self._environment())
        line = self.simulator.stdout.readline()
        if '"ready":true' not in line:
            raise NotReady("the simulator did not start")
        threading.Thread(target=self._discard, args=(self.simulator.stdout,), daemon=True).start()

    @staticmethod
    def _discard(file):
        for _ in file:
            pass

    @staticmethod
    def _environment():
        # A backtracer takes seconds for each crash.
        return {**os.environ, "SWIFT_BACKTRACE": "enable=no"}

    def start(self):
        """Starts the relay. Raises NotReady where it does not come to its first line."""
        self.starts += 1
        self.errors = self.path(f"stderr-{self.starts}")
        with open(self.errors, "wb") as errors:
            self.relay = subprocess.Popen(
                [self.program, "serve", "--config", self.path("tombolo.json")],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                env=self._environment())
        timer = threading.Timer(READY_SECONDS, self.relay.kill)
        timer.start()
        line = self.relay.stdout.readline()
        timer.cancel()
        if '"ready":true' not in line:
            self.relay.wait()
            raise NotReady(f"start {self.starts} is not ready (exit {self.relay.returncode}): "
                           f"{self.said()[-600:]}")
        self.schedule = f"/proc/{self.relay.pid}/task/{self._loop_thread()}/schedstat"
        self.one, self.two = HTTP1(self.port), HTTP2(self.port)
        self.files = None

    def _loop_thread(self):
        """The main thread runs the loop; the log's writer and reader have threads of their own."""
        return self.relay.pid

    def loop_time(self):
        """Nanoseconds that the loop's thread had of a CPU."""
        with open(self.schedule) as file:
            return int(file.read().split()[0])

    def resident(self):
        """Bytes of memory that the relay has."""
        with open(f"/proc/{self.relay.pid}/statm") as file:
            return int(file.read().split()[1]) * 4096

    def is_running(self):
        return self.relay.poll() is None

    def said(self):
        """What the relay wrote to stderr since its start."""
        with open(self.errors, errors="replace") as file:
            return file.read()

    def kill(self):
        """kill -9."""
        self.one.close()
        self.two.close()
        if self.relay.poll() is None:
            self.relay.send_signal(signal.SIGKILL)
        self.relay.wait()
        self.relay.stdout.close()

    def cli(self, *words, key="all", timeout=120):
        """Runs a command of the program beside the relay."""
        environment = {**self._environment(), "TOMBOLO_RELAY": f"http://127.0.0.1:{self.port}",
                       "TOMBOLO_KEY": self.keys[key], "NO_COLOR": "1"}
        return subprocess.run(
            [self.program, *words], env=environment, capture_output=True, timeout=timeout,
            stdin=subprocess.DEVNULL)

    def get(self, target, timeout=30):
        """GET with the key that may everything, or NoAnswer."""
        fields = [(b"Host", b"127.0.0.1"), (b"Authorization", b"Bearer " + self.keys["all"].encode())]
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

    def stop(self):
        for process in (self.relay, self.simulator):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.work, ignore_errors=True)
