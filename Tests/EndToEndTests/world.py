"""What the programs of this folder share: how the real program is started, asked and ended, and what was found.

The first argument of each is that program. All that was started ends with them.
"""
import atexit
import collections
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUNDLE, KEY_ID, TEAM_ID = "com.example.app", "ABC123DEFG", "TEAM123456"
SCENARIOS = ("runner", "window", "profile", "radial", "door")
# A start after a kill, on a busy machine.
READY_SECONDS = 20
FAULTS = []

# A backtracer takes seconds for each crash.
os.environ["SWIFT_BACKTRACE"] = "enable=no"
# Who is ended from outside leaves nothing behind either.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


# MARK: what is found


def check(holds, *words):
    """Ends this program where something does not hold."""
    if not holds:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: {' '.join(map(str, words))}")


def expect(holds, *words):
    """Notes a fault, and goes on."""
    if not holds:
        FAULTS.append(" ".join(map(str, words)))
        print("FAULT", FAULTS[-1], flush=True)


def equal(what, expected, got):
    expect(expected == got, f"{what}: expected {expected}, got {got}")


# Also what ends a thread.
threading.excepthook = lambda ended: expect(False, f"{ended.thread.name} ends with {ended.exc_value!r}")


def finish(**summary):
    """The last line on stdout, and the exit status."""
    print(json.dumps({**summary, "faults": len(FAULTS)}))
    sys.exit(1 if FAULTS else 0)


def within(seconds, holds):
    """What `holds` answers, once that is true or the time is over."""
    deadline = time.monotonic() + seconds
    while not (answer := holds()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


# MARK: files and ports


def folder(parent=None):
    """A folder that is gone when this program ends. Other users may pass through it, such as a worker of nginx."""
    path = tempfile.mkdtemp(prefix="tombolo-test.", dir=parent)
    os.chmod(path, 0o711)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


# Here is also what a killed program leaves behind.
os.environ["TMPDIR"] = tempfile.tempdir = folder()


def write(path, text):
    """A file that only its owner reads."""
    with open(path, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(text if isinstance(text, str) else json.dumps(text))
    return path


def openssl(*words):
    return subprocess.run(["openssl", *words], check=True, capture_output=True, text=True).stdout


def push_key(path):
    return write(path, openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"))


def certificate(folder, name="localhost", also="IP:127.0.0.1"):
    """tls.pem and tls.key, as `tls` of a configuration names them."""
    made = {"certificate": f"{folder}/tls.pem", "key": f"{folder}/tls.key"}
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
            f"/CN={name}", "-addext", f"subjectAltName={also}", "-out", made["certificate"], "-keyout", made["key"])
    return made


def _ports():
    """Ports of a hundred that no other program of this folder takes meanwhile. They are below those of clients: one
    that asks while a relay restarts would be given the relay's."""
    held = socket.socket(socket.AF_UNIX)
    for first in itertools.cycle(range(10_000, 12_000, 100)):
        with contextlib.suppress(OSError):
            held.bind(f"\0tombolo-ports-{first}")
            break
    for port in itertools.cycle(range(first, first + 100)):
        try:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        yield port


PORTS = _ports()


def free_port():
    return next(PORTS)


# MARK: processes


def start(*words, **more):
    """A process that ends with this one, if nobody ends it before."""
    process = subprocess.Popen(list(map(str, words)), **{"stdin": subprocess.DEVNULL, "text": True, **more})
    atexit.register(end, process, signal.SIGKILL)
    return process


def end(process, number=signal.SIGTERM, seconds=60):
    """Answers its status."""
    if process.poll() is None:
        process.send_signal(number)
    return process.wait(seconds)


def tombolo(*words, given=None, timeout=120, **environment):
    """Runs a command of the program to its end."""
    return subprocess.run([PROGRAM, *words], input=given, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **environment})


def mint(scopes, *place, **environment):
    """A key, made while no relay runs."""
    done = tombolo("key", "mint", "--scope", scopes, "-o", "json", *place, **environment)
    check(done.returncode == 0, "key mint:", done.stderr)
    return json.loads(done.stdout)["key"]


class NotReady(Exception):
    """A start that did not come to its first line."""


class Running:
    """The program, once it has said that it is ready; with `waits` once it says that it waits for another relay."""

    def __init__(self, *words, log=None, waits=False, **environment):
        self.log = log or f"{folder()}/stderr"
        with open(self.log, "a") as errors:
            self.process = start(PROGRAM, *words, stdout=subprocess.PIPE, stderr=errors,
                                 env={**os.environ, **environment})
        timer = threading.Timer(READY_SECONDS, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        if '"waiting":true' in line and not waits:
            line = self.process.stdout.readline()
        timer.cancel()
        if ('"waiting":true' if waits else '"ready":true') not in line:
            raise NotReady(f"{words[0]} is not ready (exit {self.process.wait()}): {self.said()[-600:]}")
        self.ready = json.loads(line)
        # Whoever does not read its lines would stop it.
        threading.Thread(target=collections.deque, args=(self.process.stdout, 0), daemon=True).start()

    def said(self):
        """What it wrote to stderr."""
        with open(self.log, errors="replace") as file:
            return file.read()

    def is_running(self):
        return self.process.poll() is None

    def end(self, number=signal.SIGTERM, seconds=60):
        return end(self.process, number, seconds)


# MARK: relays


class API:
    """A relay's address, and a key of it."""

    def __init__(self, api, key, context=None):
        self.api, self.key, self.context = api, key, context

    @property
    def environment(self):
        return {"TOMBOLO_RELAY": self.api, "TOMBOLO_KEY": self.key}

    def tombolo(self, *words, **more):
        return tombolo(*words, **{**self.environment, **more})

    def open(self, method, path, body=None, kind="application/json", **fields):
        """The answer before it is read, also where it is a refusal."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"Authorization": f"Bearer {self.key}", "Content-Type": kind, **fields}
        request = urllib.request.Request(self.api + path, data, fields, method=method)
        try:
            return urllib.request.urlopen(request, timeout=60, context=self.context)
        except urllib.error.HTTPError as refusal:
            return refusal

    def call(self, *words, **more):
        """Status and text."""
        with self.open(*words, **more) as answer:
            return answer.status, answer.read().decode()

    def ask(self, *words, **more):
        """What a request is answered that nobody refuses."""
        status, text = self.call(*words, **more)
        check(status < 300, *words[:2], status, text)
        return json.loads(text)

    def lines(self, lines, query=""):
        """The answers to a batch."""
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        status, text = self.call("POST", f"/v1/events{query}", body, "application/x-ndjson")
        check(status == 200, "events", status, text)
        return [json.loads(line) for line in text.splitlines()]

    def metrics(self):
        return metrics(self.call("GET", "/metrics")[1])


def metrics(text):
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#")
    return {name: int(float(value)) for name, value in rows}


class Dev(Running, API):
    """`tombolo dev` on free ports."""

    def __init__(self, *flags, **more):
        Running.__init__(
            self, "dev", "--no-input", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0", *flags, **more)
        API.__init__(self, self.ready["api"], self.ready["key"])


class World(API):
    """A configured relay, the simulator of Apple beside it, and its phones. `apple` may be somebody else."""

    def __init__(self, *flags, phones=3, parent=None, apple=None, context=None, **more):
        self.work = folder(parent)
        self.port, self.starts, self.relay, self.simulator = free_port(), 0, None, None
        os.mkdir(self.path("data"), 0o700)
        push_key(self.path("key.p8"))
        key = mint("produce,observe,operate", "--data", self.path("data"))
        super().__init__(f"{'https' if context else 'http'}://127.0.0.1:{self.port}", key, context)
        if apple is None:
            self.simulator = Running(
                "sim", "--listen", "127.0.0.1:0", "--key-file", self.path("key.p8"), "--key-id", KEY_ID, "--team-id",
                TEAM_ID, "--topic", BUNDLE, "--ca-out", self.path("ca.pem"), "--data", self.path("sim"),
                "--phones", phones, *flags, **(self.environment if phones else {}))
            apple = {"endpoint": self.simulator.ready["simulator"], "ca_file": self.path("ca.pem")}
        app = {"id": BUNDLE, "team_id": TEAM_ID, "key_id": KEY_ID, "key_file": self.path("key.p8"),
               "environment": "sandbox", **apple}
        self.configuration = {
            "listen": f"127.0.0.1:{self.port}", "data": self.path("data"), "apps": [app], **more}
        write(self.path("tombolo.json"), self.configuration)

    def path(self, name):
        return os.path.join(self.work, name)

    def start(self, *flags):
        """Starts the relay. Raises NotReady where it does not come to its first line."""
        self.starts += 1
        self.relay = Running(
            "serve", "--config", self.path("tombolo.json"), *flags, log=self.path(f"stderr-{self.starts}"))
        return self

    def is_running(self):
        return self.relay.is_running()

    def kill(self):
        """kill -9."""
        self.relay.end(signal.SIGKILL)

    def stop(self):
        """Ends all of it before this program ends."""
        for one in filter(None, (self.relay, self.simulator)):
            one.end(signal.SIGKILL)
        shutil.rmtree(self.work, ignore_errors=True)


# MARK: PostgreSQL, beside deploy/postgres/server

AS = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


def psql(*statements, url=None, timeout=60):
    words = ["psql", url or os.environ["TOMBOLO_POSTGRES"], "--quiet", "--tuples-only", "--no-align", "--set",
             "ON_ERROR_STOP=1"]
    for statement in statements:
        words += ["--command", statement]
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=timeout).stdout.strip()


def server_program(name, *words):
    """Runs a program of the server's package, as the server's user."""
    newest = sorted(pathlib.Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))[-1]
    return subprocess.run([*AS, newest, *words], cwd="/", check=True, capture_output=True, text=True, timeout=60)


def pg_ctl(data, *words):
    server_program("pg_ctl", "--pgdata", data, "--silent", "--wait", "--log", f"{data}/log", *words)


def start_standby(place, *settings):
    """A standby of the server in a folder. Answers its port."""
    os.mkdir(place)
    if AS:
        shutil.chown(place, "postgres", "postgres")
    os.chmod(place, 0o700)
    server_program("pg_basebackup", "--pgdata", place, "--write-recovery-conf", "--dbname",
                   os.environ["TOMBOLO_POSTGRES"], "--checkpoint", "fast", "--wal-method", "stream")
    port = free_port()
    lines = [f"port = {port}", f"unix_socket_directories = '{place}'", "hot_standby = on", *settings]
    with open(f"{place}/postgresql.auto.conf", "a") as file:
        file.writelines(f"{line}\n" for line in lines)
    atexit.register(pg_ctl, place, "--mode", "immediate", "stop")
    pg_ctl(place, "start")
    return port


def freeze(data):
    """All processes of a server stop, and keep their connections: as where the network is gone."""
    postmaster = open(f"{data}/postmaster.pid").readline().strip()
    children = subprocess.run(["pgrep", "--parent", postmaster], capture_output=True, text=True).stdout
    frozen = [int(pid) for pid in [postmaster, *children.split()]]
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    return frozen


def thaw(frozen):
    for pid in frozen:
        os.kill(pid, signal.SIGCONT)


class Nginx:
    """nginx with a server's lines, of which `{port}` is its port."""

    def __init__(self, server, http=""):
        self.work, self.port = folder(), free_port()
        self.configure(server, http)
        program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        self.process = start(program, "-q", "-p", self.work, "-c", f"{self.work}/nginx.conf", stderr=subprocess.DEVNULL)
        check(within(10, self.listens), "nginx does not listen")

    def configure(self, server, http=""):
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        write(f"{self.work}/nginx.conf", f"""
            daemon off; worker_processes 1; pid pid; error_log error.log; events {{ worker_connections 256; }}
            http {{
                access_log off; {"".join(f"{kind}_temp_path {kind};" for kind in kinds)} {http}
                server {{ {server.replace("{port}", str(self.port))} }}
            }}""")

    def listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
