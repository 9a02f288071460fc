"""The console under load: console_bench.py TOMBOLO [--activities N] [--rate N] [--seconds N]

One tab looks at the long list, the log, the overview and one activity in turns, while events come and
its connections are cut twice. One line of JSON says what the tab's memory is, how long a key waits
until the page handles it and until the next picture, and how many events the tab never heard of.
"""
import argparse
import contextlib
import json
import shutil
import socket
import tempfile
import threading
import time

from playwright.sync_api import sync_playwright

from console import Relay, Window, check, until

LINES = 100

HEAR = """async () => {
    const { onEvents } = await import('/console/live.js');
    const heard = { events: 0, missed: 0, last: 0, backwards: 0 };
    globalThis.heard = heard;
    onEvents(new AbortController().signal, ({ events, missed }) => {
        heard.missed += missed;
        heard.events += events.length;
        for (const { seq } of events) {
            if (seq <= heard.last) heard.backwards += 1;
            heard.last = seq;
        }
    });
}"""

KEYS = """
globalThis.waits = [];
addEventListener('keydown', event => {
    const wait = { handled: performance.now() - event.timeStamp };
    requestAnimationFrame(() => setTimeout(() => {
        wait.drawn = performance.now() - event.timeStamp;
        globalThis.waits.push(wait);
    }));
}, true);
"""


class Gate:
    """A way to the relay that can be cut."""

    def __init__(self, port):
        self.port, self.ways, self.is_open = port, [], True
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            if not self.is_open:
                near.close()
                continue
            far = socket.create_connection(("127.0.0.1", self.port))
            self.ways.append((near, far))
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    @staticmethod
    def carry(source, target):
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, seconds):
        self.is_open = False
        for pair in self.ways:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.ways = []
        time.sleep(seconds)
        self.is_open = True


class Load(threading.Thread):
    """So many events a second, in batches, until it is ended."""

    def __init__(self, relay, names, rate):
        super().__init__(daemon=True)
        self.relay, self.names, self.rate = relay, names, rate
        self.sent, self.late, self.is_over = 0, 0.0, threading.Event()

    def run(self):
        began = time.monotonic()
        while not self.is_over.is_set():
            lines = []
            for number in range(self.sent, self.sent + LINES):
                name = self.names[number * 7919 % len(self.names)]
                lines.append(json.dumps({"activity": name, "do": "update", "state": {"step": number}}))
            self.relay.call("POST", "/v1/events", ("\n".join(lines) + "\n").encode())
            self.sent += LINES
            ahead = began + self.sent / self.rate - time.monotonic()
            self.late = max(self.late, -ahead)
            if ahead > 0:
                self.is_over.wait(ahead)


def share(values, part):
    return round(sorted(values)[min(len(values) - 1, int(len(values) * part))], 1)


def look(window, protocol, seconds):
    """What a screen costs: keys are pressed ten times a second."""
    page = window.page
    page.evaluate("waits.length = 0")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        page.keyboard.press("Shift")
        page.wait_for_timeout(100)
    waits = page.evaluate("waits")
    protocol.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in protocol.send("Performance.getMetrics")["metrics"]}
    handled, drawn = [[one[name] for one in waits] for name in ("handled", "drawn")]
    return {
        "keys": len(waits), "handled_p50_ms": share(handled, 0.5), "handled_p99_ms": share(handled, 0.99),
        "drawn_p50_ms": share(drawn, 0.5), "drawn_p99_ms": share(drawn, 0.99),
        "heap_mb": round(metrics["JSHeapUsedSize"] / 1e6, 1), "elements": int(metrics["Nodes"]),
    }


def memory_of_tab(browser):
    """Megabytes of the largest process that draws pages."""
    found = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = []
    for process in found:
        if process["type"] == "renderer":
            with open(f"/proc/{process['id']}/smaps_rollup", encoding="ascii") as lines:
                sizes += [int(line.split()[1]) for line in lines if line.startswith("Pss:")]
    return round(max(sizes) / 1e3, 1)


@contextlib.contextmanager
def first_screen(relay):
    """A browser that looks at a relay's first screen."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    check(chromium, "there is no chromium on the path")
    relay.console = f"{relay.api}/console/"
    with sync_playwright() as player:
        # Its sandbox needs rights that a build machine does not give.
        window = Window(player.chromium.launch(executable_path=chromium, args=["--no-sandbox"]), relay)
        window.sign_in()
        window.page.wait_for_selector(".dot[data-state=open]")
        yield window


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--activities", type=int, default=10000)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--console-dir", metavar="DIR")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    check(chromium, "there is no chromium on the path")
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data, sync_playwright() as player:
        relay = Relay(options.program, data, options.console_dir)
        try:
            found = measure(player, chromium, relay, options)
            print(json.dumps(found))
            check(found["lost"] == 0 and found["twice"] == 0, "lost", found["lost"], "twice",
                  found["twice"])
        finally:
            relay.end()


def measure(player, chromium, relay, options):
    names = [f"row-{number:05}" for number in range(options.activities)]
    for first in range(0, len(names), 1000):
        lines = [json.dumps({"activity": name, "do": "start", "type": "BenchAttributes",
                             "state": {"step": 0}}) for name in names[first:first + 1000]]
        relay.call("POST", "/v1/events", ("\n".join(lines) + "\n").encode())
    gate = Gate(int(relay.origin.rsplit(":", 1)[1]))
    relay.console = f"http://127.0.0.1:{gate.listener.getsockname()[1]}/console/"
    # Its sandbox needs rights that a build machine does not give.
    browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    window = Window(browser, relay)
    window.context.add_init_script(KEYS)
    window.sign_in()
    page = window.page
    protocol = window.context.new_cdp_session(page)
    protocol.send("Performance.enable")
    page.wait_for_selector(".dot[data-state=open]")
    page.evaluate(HEAR)
    before = relay.read("/v1/overview")["last_seq"]
    empty = memory_of_tab(browser)
    screens, part = {}, options.seconds / 4
    screens["at rest"] = look(window, protocol, 3)
    load = Load(relay, names, options.rate)
    began = time.monotonic()
    load.start()
    window.open("activities", "Activities")
    page.select_option("#status", "")
    rows = 0
    while rows < options.activities:
        until(page, "rows => document.querySelector('table').getAttribute('aria-rowcount') - 1 > rows",
              rows)
        rows = int(page.get_attribute("table", "aria-rowcount")) - 1
        if rows < options.activities:
            page.click("text=Show more")
    for name, path, title in (("the long list", None, None), ("the log", "log", "Log"),
                              ("overview", "overview", "Overview"),
                              ("one activity", "activity/" + names[7], names[7])):
        if path:
            window.open(path, title)
        screens[name] = look(window, protocol, part)
        if name in ("the long list", "the log"):
            gate.cut(2)
    load.is_over.set()
    load.join()
    took = time.monotonic() - began
    last = relay.read("/v1/overview")["last_seq"]
    until(page, "last => heard.last >= last", last, 30)
    heard = page.evaluate("heard")
    tab = memory_of_tab(browser)
    browser.close()
    return {
        "activities": options.activities, "events": load.sent, "rows": rows,
        "events_per_second": round(load.sent / took), "seconds": round(took, 1), "cuts": 2,
        "passed_on": heard["events"], "counted": heard["missed"], "twice": heard["backwards"],
        "lost": last - before - heard["events"] - heard["missed"],
        "tab_mb": tab, "tab_at_rest_mb": empty, "screens": screens,
    }


if __name__ == "__main__":
    main()
