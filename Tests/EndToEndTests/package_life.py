#!/usr/bin/env python3
"""The life of the Debian package on a server of its own.

Usage: package_life.py DIRECTORY

In a root that mmdebstrap makes with this machine's apt sources, with systemd as its first process in
namespaces of their own: install, configure, start, push to the simulator's phones, reload, watchdog, socket,
upgrade, upgrade over a log of the schema before, back up, restore elsewhere, remove, purge. DIRECTORY has the two packages, the older one first by
name. Each line on stdout says what was done and seen; the exit status is 0 where all went as expected.
"""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time


PACKAGES = sorted(glob.glob(os.path.join(os.path.abspath(sys.argv[1]), "*.deb")))
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
KEY_FILE = "/etc/tombolo/keys/AuthKey_SIMULATOR1.p8"
EXPOSURE_MAX = 1.4

# The first process of the namespaces: makes the root look like a machine's, and becomes systemd.
BOOT = r"""
set -e
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --bind -o ro proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755,nosuid tmpfs dev
for device in null zero full random urandom tty; do cp -a "/dev/$device" dev/; done
mkdir dev/pts dev/shm
ln -s pts/ptmx dev/ptmx
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance devpts dev/pts
mount -t tmpfs -o mode=755 tmpfs run
mkdir run/lock
if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
    mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
fi
# In the place of the old root, and not below it: services with a root of their own need that.
pivot_root . mnt
umount -l /mnt
# systemd mounts credentials in a namespace that shares its mounts with this one.
mount --make-rshared /
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
    --log-target=journal --show-status=0 systemd.unit=basic.target
"""


class Failure(Exception):
    pass


def say(text):
    print(f"package: {text}", flush=True)


def expect(condition, text):
    if not condition:
        raise Failure(text)


def run(words, **more):
    result = subprocess.run(
        words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **more)
    if result.returncode != 0:
        raise Failure(f"{shlex.join(words)}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def wait(what, question, seconds=60):
    """Until `question` answers something; a command of it may fail meanwhile."""
    deadline = time.monotonic() + seconds
    problem = ""
    while time.monotonic() < deadline:
        try:
            answer = question()
            if answer:
                return answer
        except Failure as failure:
            problem = f": {failure}"
        time.sleep(0.2)
    raise Failure(f"{what}: not within {seconds} s{problem}")


class Machine:
    """A root, and systemd in it once it is booted."""

    def __init__(self, root):
        self.root = root
        self.process = None
        self.first = None

    def path(self, name):
        return self.root + name

    def chroot(self, *words):
        """Before it is booted: with this machine's network, for apt."""
        return run(["unshare", "--mount", "--pid", "--fork", "sh", "-c",
                    'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', self.root, *words],
                   env=ENVIRONMENT)

    def boot(self):
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "--fork", "--kill-child",
             "sh", "-c", BOOT, "boot", self.root],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"

        def is_up():
            expect(self.process.poll() is None, "the first process ended")
            with open(children) as file:
                self.first = file.read().strip()
            expect(self.first, "there is no first process yet")
            state = subprocess.run(self.inside("systemctl", "is-system-running"), text=True,
                                   capture_output=True, env=ENVIRONMENT).stdout.strip()
            return state if state in ("running", "degraded") else None

        return wait("systemd runs", is_up, 30)

    def inside(self, *words):
        return ["nsenter", "--target", self.first, "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup",
                "--root", "--wd", *words]

    def run(self, *words, **environment):
        return run(self.inside(*words), env={**ENVIRONMENT, **environment})

    def shell(self, command, **environment):
        return self.run("sh", "-ec", command, **environment)

    def property(self, name):
        return self.run("systemctl", "show", "--value", "--property", name, "tombolo.service").strip()

    def halt(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def lint():
    found = run(["lintian", "--allow-root", "--fail-on", "error,warning,info", "--display-info",
                 "--tag-display-limit", "0", *PACKAGES])
    expect(not found.strip(), f"lintian found\n{found}")
    say("lintian finds nothing, not even of level info")


def make_root(root):
    with open("/etc/os-release") as file:
        release = dict(line.rstrip().replace('"', "").split("=", 1) for line in file if "=" in line)
    sources = [s for s in ["/etc/apt/sources.list"] if os.path.exists(s)]
    sources += sorted(glob.glob("/etc/apt/sources.list.d/*.list") + glob.glob("/etc/apt/sources.list.d/*.sources"))
    run(["mmdebstrap", "--quiet", "--variant=minbase", "--include=systemd,systemd-sysv",
         release["VERSION_CODENAME"], root, *sources])
    say(f"a bare {release['PRETTY_NAME']} with systemd is made")


def install(machine):
    package = os.path.basename(PACKAGES[0])
    shutil.copy(PACKAGES[0], machine.path("/var/tmp"))
    machine.chroot("apt-get", "update", "--quiet=2")
    machine.chroot("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", f"/var/tmp/{package}")
    version = machine.chroot("tombolo", "--version").strip()
    say(f"{package} is installed by apt, with what it depends on: {version}")
    libraries = machine.chroot("ldd", "/usr/bin/tombolo")
    expect("not found" not in libraries and "swift" not in libraries.lower(), libraries)
    manual = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", machine.path("/usr/share/man/man1/tombolo.1.gz")],
        capture_output=True, text=True, env=ENVIRONMENT)
    expect(manual.returncode == 0 and not manual.stderr, f"man warns: {manual.stderr}")
    plain = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", manual.stdout)
    expect("tombolo backup create DIR" in plain, "the manual page has no backup create")
    words = machine.chroot(
        "bash", "-c", "source /usr/share/bash-completion/completions/tombolo; COMP_WORDS=(tombolo ba); "
        'COMP_CWORD=1; _tombolo; echo "${COMPREPLY[*]}"').strip()
    expect(words == "backup", f"the completion of ba is {words!r}")
    say("its libraries are there, man reads its page without a warning, bash completes ba to backup")
    for path, mode in [("/var/lib/tombolo", "700 tombolo tombolo"), ("/etc/tombolo/keys", "700 root root"),
                       ("/etc/tombolo/tombolo.json", "644 root root")]:
        seen = machine.chroot("stat", "-c", "%a %U %G", path).strip()
        expect(seen == mode, f"{path} is {seen}")


def contain(machine):
    """What the Containerfile runs, under systemd in the place of a container engine."""
    with open(os.path.join(os.path.dirname(__file__), "../../deploy/Containerfile")) as file:
        lines = dict(line.split(None, 1) for line in file if line[:1].isupper())
    words, check = json.loads(lines["CMD"]), json.loads(lines["HEALTHCHECK"].removeprefix("CMD "))
    machine.run(
        "systemd-run", "--quiet", "--unit=container", f"--uid={lines['USER'].strip()}", "--property=Type=notify",
        "--property=ProtectSystem=strict", f"--property=ReadWritePaths={lines['VOLUME'].strip()}", *words)
    machine.run(*check)
    machine.run("systemctl", "stop", "container.service")
    failed = subprocess.run(machine.inside(*check), capture_output=True, env=ENVIRONMENT)
    expect(failed.returncode == 5, f"the health check of no relay ends with {failed.returncode}")
    say("the Containerfile's command runs without root on a read-only root, and its health check sees it")


def configure(machine):
    machine.shell(
        f"umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {KEY_FILE}")
    machine.shell(
        "tombolo config init - --app com.example.app --team-id TEAM123456 --key-id SIMULATOR1 "
        "--key-file /run/credentials/tombolo.service/push_AuthKey_SIMULATOR1.p8 --environment sandbox "
        ">/etc/tombolo/tombolo.json")
    # What config init leaves behind comments: a stand-in for Apple.
    machine.shell("sed -i 's#// \\(\"endpoint\"\\|\"ca_file\"\\)#\\1#' /etc/tombolo/tombolo.json")
    key = json.loads(machine.shell(
        "runuser -u tombolo -- tombolo key mint --scope produce,observe,operate --name admin "
        "--data /var/lib/tombolo -o json"))["key"]
    say("a push key is made, config init has written the configuration, key mint a key for administrators")
    return {"TOMBOLO_RELAY": "http://127.0.0.1:8780", "TOMBOLO_KEY": key}


def start(machine, client):
    # Its phones are the relay's clients: they wait until it is there.
    machine.run(
        "systemd-run", "--quiet", "--unit=simulator", *[f"--setenv={name}={value}" for name, value in client.items()],
        "tombolo", "sim", "--relay", client["TOMBOLO_RELAY"], "--topic", "com.example.app", "--ca-out",
        "/etc/tombolo/simulator-ca.pem", "--key-file", KEY_FILE, "--key-id", "SIMULATOR1", "--team-id",
        "TEAM123456", "--type", "OrderAttributes")
    wait("the simulator has its certificate",
         lambda: os.path.exists(machine.path("/etc/tombolo/simulator-ca.pem")))
    machine.run("systemctl", "enable", "--now", "tombolo.service")
    expect(machine.property("ActiveState") == "active", "the service is not active")
    status = machine.property("StatusText")
    expect("It takes requests at http://127.0.0.1:8780" in status, f"its status is {status!r}")
    user = machine.run("stat", "-c", "%U", f"/proc/{machine.property('MainPID')}").strip()
    expect(user == "tombolo", f"it runs as {user}")
    say(f"systemd has started it, as {user}, and it said READY: {status}")
    exposure = machine.run("systemd-analyze", "security", "--no-pager", "tombolo.service").strip()
    grade = float(exposure.splitlines()[-1].split(":")[1].split()[0])
    expect(grade <= EXPOSURE_MAX, f"systemd-analyze security says {grade}")
    say(f"systemd-analyze security grades it {grade}")


def push(machine, client):
    wait("phone-1 is registered",
         lambda: "phone-1" in machine.run("tombolo", "device", "ls", "-o", "json", **client))
    machine.run("tombolo", "start", "order-1", "--type", "OrderAttributes", "--device", "phone-1", "-s",
                "step=baking", "--alert-title", "In the oven", **client)

    def deliveries():
        return json.loads(machine.run("tombolo", "delivery", "ls", "-o", "json", **client))["deliveries"]

    # The start waits for the phone's token, if the phone has not sent it yet.
    wait("the first push is accepted",
         lambda: any(delivery["result"] == "accepted" for delivery in deliveries()))
    say("the first push is accepted by the simulator")


def state(machine, client, activity="order-1"):
    return json.loads(machine.run("tombolo", "activity", "show", activity, "-o", "json", **client))["state"]


def reload(machine):
    machine.run("systemctl", "reload", "tombolo.service")
    wait("the reload's line is in the journal",
         lambda: "config-applied" in machine.run("journalctl", "--no-pager", "-u", "tombolo.service"), 20)
    wait("the service is active again", lambda: machine.property("ActiveState") == "active", 20)
    say("systemctl reload has it read its configuration again")


def watchdog(machine, client):
    directory = "/run/systemd/system/tombolo.service.d"
    machine.shell(f"mkdir -p {directory}; printf '[Service]\\nWatchdogSec=2s\\nRestartSec=100ms\\n' "
                  f">{directory}/test.conf; systemctl daemon-reload; systemctl restart tombolo.service")
    before = machine.property("MainPID")
    time.sleep(5)
    expect(machine.property("MainPID") == before, "a relay that is well was restarted by the watchdog")
    machine.shell(f"kill -STOP {before}")
    wait("the watchdog restarts it",
         lambda: machine.property("MainPID") not in ("0", before)
         and machine.property("ActiveState") == "active", 60)
    expect("watchdog" in machine.run("journalctl", "--no-pager", "-u", "tombolo.service").lower(),
           "the journal does not name the watchdog")
    expect(state(machine, client)["step"] == "baking", "the activity is lost")
    machine.shell(f"rm -r {directory}; systemctl daemon-reload; systemctl restart tombolo.service")
    say("the watchdog of 2 s lets it run, and restarts it once it is stopped by SIGSTOP")


def activate(machine, client):
    machine.run("systemctl", "stop", "tombolo.service")
    machine.run("systemctl", "start", "tombolo.socket")
    expect(machine.property("ActiveState") == "inactive", "the service runs before anybody asked")
    expect(state(machine, client)["step"] == "baking", "the activity is lost")
    expect(machine.property("ActiveState") == "active", "the request did not start the service")
    # Nobody is refused while it restarts: requests wait in the socket's queue.
    asker = subprocess.Popen(
        machine.inside("bash", "-c", """
            for _ in $(seq 200); do
                exec 3<>/dev/tcp/127.0.0.1/8780 || exit 1
                exec 3>&-
                sleep 0.01
            done"""), env=ENVIRONMENT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    machine.run("systemctl", "restart", "tombolo.service")
    _, errors = asker.communicate(timeout=60)
    expect(asker.returncode == 0, f"a connection was refused: {errors}")
    machine.run("systemctl", "stop", "tombolo.socket", "tombolo.service")
    machine.run("systemctl", "start", "tombolo.service")
    say("by tombolo.socket the first request starts it, and a restart refuses no connection")


def upgrade(machine, client):
    package = os.path.basename(PACKAGES[1])
    shutil.copy(PACKAGES[1], machine.path("/var/tmp"))
    with open(machine.path("/etc/tombolo/tombolo.json")) as file:
        configuration = file.read()
    before = machine.property("MainPID")
    machine.run("dpkg", "--install", f"/var/tmp/{package}")
    expect(machine.property("ActiveState") == "active", "the service is not active after the upgrade")
    expect(machine.property("MainPID") != before, "the old program runs on")
    expect(machine.run("systemctl", "is-enabled", "tombolo.service").strip() == "enabled", "it is not enabled")
    with open(machine.path("/etc/tombolo/tombolo.json")) as file:
        expect(file.read() == configuration, "the upgrade has changed the configuration")
    machine.run("tombolo", "update", "order-1", "-s", "step=at the door", "--wait", "5s", **client)
    expect(state(machine, client)["step"] == "at the door", "the update is lost")
    say(f"{package} takes over: configuration and activity stay, and the activity goes on")


def back_up(machine, client):
    machine.run("install", "-d", "-o", "tombolo", "-g", "tombolo", "-m", "0700", "/var/backups/tombolo")
    machine.run("runuser", "-u", "tombolo", "--", "tombolo", "backup", "create", "/var/backups/tombolo/monday",
                "--data", "/var/lib/tombolo")
    machine.run("runuser", "-u", "tombolo", "--", "tombolo", "backup", "restore",
                "/var/backups/tombolo/monday", "--data", "/var/backups/tombolo/elsewhere")
    machine.run("systemd-run", "--quiet", "--unit=elsewhere", "--uid=tombolo", "--property=Type=notify", "tombolo",
                "serve", "--data", "/var/backups/tombolo/elsewhere", "--listen", "127.0.0.1:8790")
    elsewhere = {**client, "TOMBOLO_RELAY": "http://127.0.0.1:8790"}
    expect(state(machine, elsewhere) == state(machine, client), "the restored state is another one")
    machine.run("systemctl", "stop", "elsewhere.service")
    say("a backup is made while it runs, and a relay on the restored copy has the same activity and key")


def remove(machine):
    machine.run("apt-get", "remove", "--yes", "--quiet=2", "tombolo")
    expect(machine.property("ActiveState") in ("inactive", "failed"), "the service runs on")
    expect(not os.path.exists(machine.path("/usr/bin/tombolo")), "the program is still there")
    for kept in ["/var/lib/tombolo/tombolo.db", "/etc/tombolo/tombolo.json", KEY_FILE]:
        expect(os.path.exists(machine.path(kept)), f"remove took {kept}")
    say("removed: the service has ended; data, configuration and push key are there")
    machine.run("apt-get", "purge", "--yes", "--quiet=2", "tombolo")
    for gone in ["/var/lib/tombolo", "/etc/tombolo/tombolo.json"]:
        expect(not os.path.exists(machine.path(gone)), f"purge left {gone}")
    for kept in [KEY_FILE, "/var/backups/tombolo/monday"]:
        expect(os.path.exists(machine.path(kept)), f"purge took {kept}")
    say("purged: data and configuration are gone; the push key, which Apple gives out once, and the backup stay")


def main():
    expect(len(PACKAGES) == 2, f"two packages in {sys.argv[1]}, not {len(PACKAGES)}")
    # Ended from outside it leaves nothing behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    lint()
    with tempfile.TemporaryDirectory(prefix="tombolo-package.") as work:
        machine = Machine(os.path.join(work, "root"))
        try:
            make_root(machine.root)
            install(machine)
            try:
                say(f"systemd is the first process there: {machine.boot()}")
            except Failure as failure:
                machine.halt()
                machine.chroot("apt-get", "purge", "--yes", "--quiet=2", "tombolo")
                say(f"purged; the rest is skipped, systemd does not start in namespaces here: {failure}")
                return 0
            contain(machine)
            client = configure(machine)
            start(machine, client)
            push(machine, client)
            reload(machine)
            watchdog(machine, client)
            activate(machine, client)
            upgrade(machine, client)
            back_up(machine, client)
            remove(machine)
        except Failure as failure:
            say(f"FAILED: {failure}")
            if machine.first:
                print(subprocess.run(
                    machine.inside("journalctl", "--no-pager", "-n", "40"), capture_output=True, text=True,
                    env=ENVIRONMENT).stdout)
            return 1
        finally:
            machine.halt()
    say("all of it passed")
    return 0


sys.exit(main())
