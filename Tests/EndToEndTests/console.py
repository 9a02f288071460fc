"""The console in a real browser, against `tombolo dev`: console.py TOMBOLO [--photographs DIR] [--console-dir DIR]

Each screen is opened once; the browser's log stays empty under the content security policy, and axe
finds nothing. With --photographs each is also kept as a picture: light, dark, and 390 pixels wide.
Needs playwright and axe-playwright-python from PyPI, and a Chromium on the path.
"""
import argparse
import base64
import datetime
import gzip
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# 64000 before types had previews, and touches places; 68000 before widgets were drawn; 78000 before the
# wall had buttons, icons, one bar of deeds, and the app in front; 86000 before cards were drawn by what
# their phones have said; 87500 before numbers were shown as they were sent; 89000 before texts in tables had
# lines of their own, and what Apple took was apart from what phones have said; 89400 before the wall offered the five
# scenarios, and an app had a film, an editor, and dates to come; 97000 before the first screen was a sentence with rows
# that can be acted on, a new relay had first steps, and refused requests and the last hour were shown; 103000 before
# anything could be found by the beginning of its id, keys were listed, devices had filters, and what each shows, and
# events could be copied as curl.
GZIP_MAX = 108000
# The console's files as they are sent, with the heads of the answers.
FIRST_SCREEN_MAX = 60_000
# What a page comes to show it shows within so many seconds, on a busy machine too.
WITHIN = 30
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
LINK = "javascript:alert(3)"
UNKNOWN = "badc0de5" * 8
TOKEN = "c0ffee42" * 8
TURNED = "\u202eevil\u202c"
PREVIEWS = {
    "OrderAttributes": {"title": "/step", "subtitle": "/minutes", "progress": "/progress"},
    "RadialWidgetAttributes": {"radial": {"angle": "/offset", "moves": "places"}},
    "RunnerWidgetAttributes": {"image": "/image"}}
PROFILE = {"subject": {"user": "u1"}, "content": {"name": "Ada", "rank": 3}, "url": "app://me",
           "links": ["app://me/rank"],
           "schedule": {"weekly": {"on": "monday", "at": "06:00", "zone": "UTC"}, "count": 3}}
# A type without a cut for accessoryInline.
CUTS = {"preview": {"title": "/name"}, "families": {
    "systemSmall": ["/name", {"path": "/history", "length": 2}], "accessoryRectangular": ["/name"],
    "accessoryCorner": ["/rank"]}}
FAMILIES = ["systemSmall", "systemMedium", "systemLarge", "systemExtraLarge", "accessoryInline",
            "accessoryCircular", "accessoryRectangular"]


def check(condition, *words):
    if not condition:
        raise SystemExit("console: " + " ".join(str(word) for word in words))


class Relay:
    """`dev`, and its API."""

    def __init__(self, program, data, folder, flags=()):
        self.program = program
        self.process = subprocess.Popen(
            [program, "dev", "--no-input", "--listen", "127.0.0.1:0", "--simulator", "127.0.0.1:0",
             "--data", data, *flags] + (["--console-dir", folder] if folder else []),
            stdout=subprocess.PIPE)
        first = json.loads(self.process.stdout.readline())
        self.origin, self.key, self.console = first["api"], first["key"], first["console"]
        self.simulator = first["simulator"]

    def call(self, method, path, body=None, key=None):
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
        request = urllib.request.Request(self.origin + path, method=method, data=data, headers={
            "authorization": "Bearer " + (key or self.key), "content-type": kind})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def read(self, path):
        return json.loads(self.call("GET", path))

    def fault(self, **rule):
        """Has the simulator do so to each push. Its control port is the one that `dev` does not print."""
        process = self.process.pid
        with open(f"/proc/{process}/task/{process}/children") as file:
            files = f"/proc/{file.read().split()[0]}/fd/"
        sockets = [os.readlink(files + one) for one in os.listdir(files)]
        with open("/proc/net/tcp") as file:
            rows = [line.split() for line in file]
        ports = [int(row[1].split(":")[1], 16) for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in sockets]
        port = next(one for one in ports if not self.simulator.endswith(f":{one}"))
        rules = json.dumps({"rules": [{"to": "any", **rule}]}).encode()
        urllib.request.urlopen(urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/faults", method="PUT", data=rules), timeout=30).close()

    def fill(self):
        """A day's work: a cat that runs, a turn, an order, a long list, and what an enemy would send."""
        self.call("PUT", "/v1/types/OrderAttributes", {
            "state": {"properties": {"step": {"type": "string"}, "minutes": {"type": "number"},
                                     "progress": {"type": "number"}}, "required": ["step"]},
            "preview": PREVIEWS["OrderAttributes"]})
        for name in ("RadialWidgetAttributes", "RunnerWidgetAttributes"):
            self.call("PUT", "/v1/types/" + name, {"preview": PREVIEWS[name]})
        self.call("PUT", "/v1/activities/order-17", {
            "type": "OrderAttributes", "audience": {"device": "phone-2"},
            "state": {"step": "In the oven", "minutes": 12, "progress": 0.4},
            "alert": {"title": "In the oven"}})
        for minute in range(5):
            self.call("PATCH", "/v1/activities/order-17", {
                "state": {"minutes": 11 - minute, "progress": 0.5 + minute / 10}, "urgency": "high"})
        self.call("PUT", "/v1/activities/radial-1", {
            "type": "RadialWidgetAttributes", "audience": {"devices": ["phone-1", "phone-3"]},
            "state": {"offset": 0}, "alert": {"title": "Turn"}})
        self.call("POST", "/v1/activities/radial-1/clips", {"tween": {
            "path": "/offset", "from": 0, "to": 3600, "duration": "2m", "easing": "linear",
            "unit": "degrees"}})
        self.call("PUT", "/v1/activities/alone", {"type": "OrderAttributes", "state": {"step": "?"}})
        self.call("PUT", "/v1/activities/hostile", {
            "type": "HostileAttributes", "audience": {"device": "phone-3"}, "state": {
                "title": HOSTILE, "link": LINK, "turned": TURNED, "long": "W" * 2500,
                "image": "iVBORw0KGgoAAAANSUhEUv////////8=", "__proto__": {"polluted": 1},
                "progress": 0.5}, "alert": {"title": HOSTILE}})
        self.call("PUT", "/v1/types/ProfileAttributes", CUTS)
        self.call("PUT", "/v1/timelines/profile", PROFILE)
        self.call("PUT", "/v1/timelines/hostile", {"subject": {"key": "door-7"}, "content": {
            "title": HOSTILE, "turned": TURNED, "image": "iVBORw0KGgoAAAANSUhEUv////////8=",
            "items": [{"name": HOSTILE, "history": [{"who": HOSTILE}]}, {}]}, "url": LINK, "links": [LINK]})
        lines = [json.dumps({"activity": f"row-{number:04}", "do": "start", "type": "OrderAttributes",
                             "state": {"step": "baking"}}) for number in range(1200)]
        self.call("POST", "/v1/events", ("\n".join(lines) + "\n").encode())
        self.call("PUT", "/v1/devices/phone-9", {
            "user": "u-9", "app": "com.example.app", "environment": "sandbox"})
        for name, token in (("activity:refused", UNKNOWN), ("start:OtherAttributes", TOKEN)):
            self.call("PUT", "/v1/devices/phone-9/tokens/" + name, {"token": token})
        self.call("PUT", "/v1/activities/refused", {
            "type": "OrderAttributes", "audience": {"device": "phone-9"}, "state": {"step": "?"}})
        self.runner = subprocess.Popen(
            [self.program, "trigger", "runner", "--for", "120s", "--relay", self.origin,
             "--key", self.key], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            running = self.read("/v1/activities?status=active&type=RunnerWidgetAttributes")
            if any(one["clips"] for one in running["activities"]):
                return running["activities"][-1]["activity"]
            time.sleep(0.1)
        return check(False, "the cat does not run")

    def end(self):
        for process in (getattr(self, "runner", None), self.process):
            if process:
                process.terminate()
                process.communicate(timeout=30)


def until(page, script, arg=None, seconds=WITHIN):
    """Waits until a function in the page is true: the page's policy lets nothing else ask again."""
    deadline = time.monotonic() + seconds
    while not page.evaluate(script, arg):
        check(time.monotonic() < deadline, "not within", seconds, "s:", script, arg)
        page.wait_for_timeout(30)


SAID = """() => [...document.querySelectorAll('*')].flatMap(one => [
    ...[...one.childNodes].filter(child => child.nodeType === Node.TEXT_NODE).map(child => child.data),
    ...[...one.attributes].map(({ name, value }) => `${name}="${value}"`)])"""


class Window:
    """A page whose log is kept."""

    def __init__(self, browser, relay, width=1360, height=900, scheme="light", scale=1):
        self.relay, self.log, self.requests = relay, [], []
        # A page of the test may do what the console may not: axe is put in by it.
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, device_scale_factor=scale)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.log.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.log.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: self.log.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def sign_in(self, key=None):
        self.page.goto(self.relay.console)
        self.page.wait_for_selector("#key")
        api = [url for url in self.requests if "/v1/" in url]
        check(api == [], "asked before sign-in:", api)
        self.page.fill("#key", key or self.relay.key)
        self.page.press("#key", "Enter")
        self.page.wait_for_selector("nav a")

    def open(self, path, title):
        self.page.evaluate("path => { location.hash = '#/' + path }", path)
        until(self.page, "title => document.querySelector('main h1')?.textContent.startsWith(title)",
              title)

    def quiet(self, place):
        check(self.log == [], place, "the browser's log:", self.log[:5])

    def speaks(self, place):
        """The texts and attributes of the page have no word of the language that the page is written in."""
        said = [text for text in self.page.evaluate(SAID)
                if any(word in text for word in ("[object", "undefined", "NaN"))]
        check(not said, place, "says:", said[:3])

    def axe(self, place):
        """What axe finds; what its own script is not allowed to do is none of the console's."""
        before = len(self.log)
        found = Axe().run(self.page)
        del self.log[before:]
        check(found.violations_count == 0, place, found.generate_report())


def screens(relay, runner, order=None):
    order = order or relay.read("/v1/deliveries?activity=order-17&result=accepted")["deliveries"][0]["id"]
    return [
        ("overview", "overview", "Overview"), ("activities", "activities", "Activities"),
        ("runner", "activity/" + runner, runner), ("radial", "activity/radial-1", "radial-1"),
        ("order", "activity/order-17", "order-17"), ("hostile", "activity/hostile", "hostile"),
        ("why", "why", "Why"), ("explained", "activities/order-17/why?device=phone-2&version=3", "order-17"),
        ("phones", "phones", "Phones"), ("deliveries", "deliveries", "Deliveries"), ("delivery", "deliveries/" + order, "Delivery"),
        ("devices", "devices", "Devices"), ("device", "devices/phone-2", "phone-2"),
        ("timelines", "timelines", "Timelines"), ("timeline", "timelines/profile?user=u1", "profile"),
        ("log", "log", "Log"), ("requests", "requests", "Requests"), ("pacing", "pacing", "Pauses"),
        ("types", "types/OrderAttributes", "Types"), ("channels", "channels", "Channels"),
    ]


def walk(window, runner):
    """Each screen once: it says something, axe finds nothing, the log is empty."""
    for name, path, title in screens(window.relay, runner):
        window.open(path, title)
        window.page.wait_for_timeout(350)
        window.axe(name)
        window.quiet(name)
        window.speaks(name)
    links = window.page.eval_on_selector_all("nav a", "all => all.map(a => a.getAttribute('href'))")
    check(len(links) == 12 and all(link.startswith("#/") for link in links), "nav", links)


def moving(window, runner):
    """The flip-book and the turn move, and the scrubber goes back in time."""
    page = window.page
    window.open("activity/" + runner, runner)
    page.wait_for_selector(".producer canvas")
    frames = {page.evaluate(
        "document.querySelector('.producer canvas').toDataURL()") for _ in range(40)
        if page.wait_for_timeout(35) is None}
    check(len(frames) >= 4, "the cat has", len(frames), "pictures")
    window.open("activity/radial-1", "radial-1")
    page.wait_for_selector(".producer .avatar")
    places = {page.evaluate(
        "document.querySelector('.producer .avatar').getAttribute('transform')") for _ in range(10)
        if page.wait_for_timeout(60) is None}
    check(len(places) >= 5, "the turn stands still:", places)
    window.open("activity/order-17", "order-17")
    until(page, "() => document.querySelector('.scrubber').max > 5")
    minutes = "wanted => document.querySelector('.producer .lockcard .subtitle').textContent === wanted"
    until(page, minutes, "7")
    newest = page.text_content("main h1")
    check(newest.endswith("v6"), newest)
    page.fill(".scrubber", "0")
    until(page, minutes, "12")
    # What is said of the card is of then, as its picture is.
    until(page, """() => document.querySelector('main h1').textContent.endsWith('v1then')
        && document.querySelector('.got').textContent.includes('Nothing was sent to it')""")
    check(page.inner_text(".producer > .hint") == "version 1", page.inner_text(".producer > .hint"))
    last = page.evaluate("Number(document.querySelector('.scrubber').max)")
    page.fill(".scrubber", str(last - 1))
    until(page, "() => /then: (draws|has|Apple took) v[3-6]/.test(document.querySelector('.got').textContent)")
    page.press(".scrubber", "ArrowRight")
    page.click("main >> text=Now")
    until(page, "words => document.querySelector('main h1').textContent === words", newest)
    check("v6" in page.inner_text(".got"), page.inner_text(".got"))
    window.quiet("the scrubber")


def looks(window):
    """A card is drawn where its phone has said so, faint where Apple took it, and else there is none."""
    page, relay = window.page, window.relay

    def shown(device, kind, words, version=""):
        until(page, """([device, kind, words, version]) => {
            const one = [...document.querySelectorAll('.got')].find(one => one.querySelector('h3').textContent.startsWith(device));
            const face = one?.querySelector('.face');
            return one?.dataset.look === kind && one.textContent.includes(words)
                && (kind === 'nothing' ? face.hidden : face.textContent.includes(version)); }""",
              [device, kind, words, version])

    relay.call("PUT", "/v1/activities/looks", {
        "type": "OrderAttributes", "audience": {"devices": ["phone-3", "phone-9"]},
        "state": {"step": "one"}, "alert": {"title": "One"}})
    window.open("activity/looks", "looks")
    shown("phone-3", "drawn", "draws v1", "one")
    # It has a token for another type, and has never said a word.
    shown("phone-9", "nothing", "no push-to-start token for this type")
    relay.call("POST", "/v1/phones/phone-3", {"do": "offline"})
    relay.call("PATCH", "/v1/activities/looks", {"state": {"step": "two"}, "urgency": "high"})
    held = "Apple took v2; the phone has said nothing since v1"
    shown("phone-3", "taken", held, "two")
    check("phone differs" not in page.inner_text(".got"), page.inner_text(".got"))
    green = page.locator("main h1 .good, .got .good").all_inner_texts()
    check(not green, "no phone has confirmed it, and it is green:", green)
    window.axe("a faint card")
    relay.call("POST", "/v1/phones/phone-3", {"do": "online"})
    shown("phone-3", "drawn", "draws v2", "two")
    page.locator("td button", has_text="push.accepted v2 · phone-3").click()
    shown("phone-3", "taken", "then: " + held, "two")
    page.fill(".scrubber", "0")
    shown("phone-3", "nothing", "Nothing was sent to it")
    relay.call("POST", "/v1/activities/looks/end", {})
    window.quiet("the three looks")


def searched(window):
    """A key opens the search: the beginning of an id is found, and Enter goes there."""
    page = window.page
    listed = """ids => { const found = [...document.querySelectorAll('dialog li strong')].map(one => one.textContent);
        return ids.every(id => found.includes(id)); }"""

    def opened(key):
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")

    def closed():
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")

    window.open("types", "Types")
    opened("Control+k")
    check(page.evaluate("document.activeElement.id") == "search", "the search has not the focus")
    page.keyboard.type("order-1")
    until(page, listed, ["order-17"])
    window.axe("the search")
    page.keyboard.press("ArrowDown")
    check(page.evaluate("document.activeElement.getAttribute('href')") == "#/activity/order-17", "the first is not reached")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    until(page, "() => document.querySelector('main h1')?.textContent.startsWith('order-17')")
    check(page.locator("dialog").count() == 0, "the search stays open")
    opened("/")
    page.keyboard.type("phone-")
    until(page, listed, ["phone-1", "phone-2"])
    page.fill("#search", "nothing-of-it")
    until(page, "() => document.querySelector('dialog [role=status]').textContent.startsWith('Nothing begins')")
    page.keyboard.type("/?")
    check(page.input_value("#search") == "nothing-of-it/?", "a key is not typed:", page.input_value("#search"))
    closed()
    page.locator("header button", has_text="Search").click()
    page.wait_for_selector("dialog[open] #search")
    closed()
    opened("?")
    check("Ctrl K" in page.inner_text("dialog"), page.inner_text("dialog"))
    window.axe("the keys")
    closed()
    window.open("activities/order-17/why?device=phone-2&version=3", "order-17")
    page.wait_for_selector(".whypanel .answer")
    page.keyboard.press("Escape")
    until(page, "() => document.querySelector('.whypanel').hidden")
    window.quiet("the search")


def sought(window):
    """The devices that an address asks for are listed, each with when it was seen and what is left."""
    page = window.page
    rows = "[...document.querySelectorAll('main tbody tr:not(.spacer)')].map(row => row.textContent)"
    window.open("devices?user=u-9", "Devices")
    until(page, f"() => {{ const all = {rows}; return all.length === 1 && all[0].includes('phone-9') }}")
    check("ago" in page.inner_text("main tbody"), page.inner_text("main tbody"))
    window.axe("devices of a user")
    window.open("devices?silent_for=1h", "Devices")
    until(page, f"() => document.querySelector('#silent_for')?.value === '1h' && "
                f"!{rows}.some(text => text.includes('phone-9'))")
    window.axe("silent devices")
    window.quiet("the filters of devices")


EXPLAINED = """() => {
    const box = [...document.querySelectorAll('main .explanation')].find(one => one.offsetParent);
    const texts = (where) => [...box.querySelectorAll(where)].map(one => one.textContent);
    return box && { question: texts('.question')[0], answer: texts('.answer')[0],
        because: texts('.because .badge'), sentences: texts('.because li > :last-child'),
        suspects: texts('.suspects > li > .badge'), speaks: texts('.speaks li'),
        try: texts('.command code'), copy: texts('.command button').length };
}"""


def same(shown, answer):
    """The page says the relay's explanation, all of it."""
    check(shown == {
        "question": answer["question"], "answer": answer["answer"],
        "because": [one["code"] for one in answer["because"]],
        "sentences": [one["text"] for one in answer["because"]],
        "suspects": [one["code"] for one in answer["suspects"]],
        "speaks": [text for one in answer["suspects"] for text in one["speaks_for"] + one.get("speaks_against", [])],
        "try": answer["try"], "copy": len(answer["try"])}, shown, answer)


def why(window):
    """Why: from a phone's button, from a moment of the past, from an address, and from what one has."""
    page, relay = window.page, window.relay

    def asked(question):
        until(page, "words => document.querySelector('.whypanel .question')?.textContent === words",
              question)
        return page.evaluate(EXPLAINED)

    window.open("activity/order-17", "order-17")
    path = "/v1/activities/order-17/explain?device=phone-2"
    page.get_by_role("button", name="Why? phone-2").click()
    same(asked("Why does phone-2 not show version 6 of order-17?"), relay.read(path))
    check(page.url.endswith("#/activities/order-17/why?device=phone-2"), page.url)
    page.locator(".whypanel").get_by_role("button", name="Close").click()
    check(page.url.endswith("#/activity/order-17"), page.url)
    until(page, "() => document.querySelector('.scrubber').max > 5")
    page.click("td button:has-text('update v2')")
    page.click(".scrub >> text=Why?")
    asked("Why does phone-2 not show version 2 of order-17?")
    page.go_back()
    page.wait_for_selector(".whypanel", state="hidden")
    window.open("activities/order-17/why?device=phone-2&version=3", "order-17")
    same(asked("Why does phone-2 not show version 3 of order-17?"), relay.read(path + "&version=3"))
    moment = relay.read("/v1/log?activity=order-17&kind=all")["events"][-1]["recorded_at"]
    window.open("activities/order-17/why?device=phone-2&at=" + moment, "order-17")
    then = relay.read(path + "&at=" + moment)
    same(asked(then["question"]), then)
    delivery = relay.read("/v1/deliveries?activity=order-17&limit=1")["deliveries"][0]
    pasted = {"apns_id": delivery["push"]["apns_id"], "token": TOKEN, "user": "u-9"}
    for kind, text in (*pasted.items(), ("apns_id", delivery["id"])):
        window.open("overview", "Overview")
        window.open("why", "Why")
        page.select_option("#whykind", "user")
        page.fill("#whywhat", text)
        check(page.input_value("#whykind") == kind, text, "is taken for", page.input_value("#whykind"))
        page.press("#whywhat", "Enter")
        page.wait_for_selector(".explanation")
        answer = json.loads(relay.call("POST", "/v1/explain", {kind: pasted[kind]}))
        same(page.evaluate(EXPLAINED), answer["explanations"][0])
        kept = (page.url, page.evaluate("JSON.stringify([sessionStorage, localStorage])"),
                page.input_value("#whywhat"), *window.requests)
        check(not any(TOKEN in one for one in kept), "the token is kept")
    page.select_option("#whykind", "activity")
    # Neither has a start token for the type, so neither shows it, however slow the machine is.
    relay.call("PUT", "/v1/activities/unshown", {
        "type": "OrderAttributes", "audience": {"devices": ["pad-1", "phone-9"]}, "state": {"step": "?"}})
    page.fill("#whywhat", "unshown")
    page.click("main .primary")
    asked("Who shows version 1 of unshown, and who does not?")
    page.get_by_role("link", name="Why phone-9?").click()
    asked("Why does phone-9 not show version 1 of unshown?")
    relay.call("POST", "/v1/activities/unshown/end", {"dismiss": "now"})
    window.quiet("why")


def filtered(window):
    """Deliveries: each filter is the API's, and in the address; older ones come after the newer."""
    page, relay = window.page, window.relay
    newest = relay.read("/v1/deliveries?activity=order-17")["deliveries"]
    moment = newest[0]["at"][:19]
    for filters in ({"activity": "order-17"}, {"activity": "order-17", "version": str(newest[-1]["version"])},
                    {"user": "u-9"}, {"device": "phone-9", "result": "rejected"},
                    {"device": "phone-9", "reason": "BadDeviceToken"},
                    {"activity": "order-17", "from": moment}, {"activity": "order-17", "until": moment}):
        query = urllib.parse.urlencode({name: value + ".000Z" if name in ("from", "until") else value
                                        for name, value in filters.items()})
        wanted = ["#/deliveries/" + one["id"]
                  for one in relay.read("/v1/deliveries?" + query)["deliveries"]]
        check(wanted, "no delivery is", query, newest)
        window.open("overview", "Overview")
        window.open("deliveries", "Deliveries")
        for name, value in filters.items():
            if name == "result":
                page.select_option("#result", value)
            else:
                page.fill("#" + name, value)
        page.press("#activity", "Enter")
        page.locator("#follow").focus()
        until(page, LISTED, wanted)
        check(page.url.endswith("#/deliveries?" + query), page.url, query)
        window.open("overview", "Overview")
        window.open("deliveries?" + query, "Deliveries")
        until(page, LISTED, wanted)
    window.open("overview", "Overview")
    page.route("**/v1/deliveries?*", lambda route: route.continue_(
        url=route.request.url.replace("limit=100", "limit=1")))
    window.open("deliveries?activity=order-17", "Deliveries")
    for seen in range(1, len(newest) + 1):
        until(page, LISTED, ["#/deliveries/" + one["id"] for one in newest[:seen]])
        page.wait_for_timeout(100)
        if seen < len(newest):
            page.click("text=Show older ones")
    page.unroute("**/v1/deliveries?*")
    window.quiet("the filters")


LISTED = """wanted => JSON.stringify([...document.querySelectorAll(
    'table[aria-label=Deliveries] tbody td:first-child a')].map(a => a.getAttribute('href')))
    === JSON.stringify(wanted)"""


def timed(window):
    """One delivery: its moments are the log's, and each hold is named with its time."""
    page, relay = window.page, window.relay
    row = relay.read("/v1/deliveries?activity=order-17")["deliveries"][0]
    window.open("deliveries/" + row["id"], "Delivery")
    until(page, "() => document.querySelectorAll('.times li').length === 4")
    shown = dict(page.eval_on_selector_all(".times li", """all => all.map(one => [
        one.querySelector('strong').textContent, one.querySelector('time').dateTime])"""))
    events = relay.read("/v1/log?activity=order-17")["events"]
    sent = datetime.datetime.fromisoformat(row["push"]["sent_at"].replace("Z", "+00:00"))
    due = sent - datetime.timedelta(milliseconds=row["waited_ms"])
    check(shown == {
        "recorded": next(one["recorded_at"] for one in events if one["version"] == row.get("merged", [row["version"]])[0]),
        "due": due.strftime("%Y-%m-%dT%H:%M:%S.") + f"{due.microsecond // 1000:03}Z",
        "sent": row["push"]["sent_at"], "answered": row["at"]}, shown, row)
    holds = page.eval_on_selector_all(".holds .badge", "all => all.map(one => one.textContent)")
    check(holds == [one["reason"] for one in row["held"] if one["ms"] > 0], holds, row["held"])
    rects = page.eval_on_selector_all(".timesbar .held", "all => all.map(one => one.width.baseVal.value)")
    whole = [datetime.datetime.fromisoformat(shown[name].replace("Z", "+00:00")).timestamp() * 1000
             for name in ("recorded", "answered")]
    wanted = [max(1, one["ms"] * 240 / (whole[1] - whole[0])) for one in row["held"] if one["ms"] > 0]
    check(len(rects) == len(wanted) and all(abs(is_ - was) < 2 for is_, was in zip(rects, wanted)),
          "the bar", rects, wanted)
    page.wait_for_selector(".explanation .question")
    page.get_by_role("link", name="On the page of the activity").click()
    until(page, "() => document.querySelector('.whypanel .question')")
    window.quiet("one delivery")


def lanes(window):
    """A bucket's level is a line: measured from now on, estimated before; a push lowers it."""
    page, relay = window.page, window.relay

    def left():
        budgets = relay.read("/v1/budgets?activity=order-17")["destinations"]
        return next(one["left"] for one in budgets if one["device"] == "phone-2")

    def pushed():
        return [one for one in relay.read("/v1/deliveries?activity=order-17")["deliveries"] if "push" in one]

    def shows_left():
        """Waits until the page shows what is left, which grows by itself."""
        deadline = time.monotonic() + WITHIN
        while f": {left()} of 20;" not in (words := page.text_content(".lane .bucket")):
            check(time.monotonic() < deadline, "not within", WITHIN, "s:", left(), "left, shown:", words)
            page.wait_for_timeout(100)

    window.open("activity/order-17", "order-17")
    pushes = pushed()
    shows_left()
    places = """() => ['.estimated', '.level'].map(name => [...document.querySelector('.lane ' + name)
        .getAttribute('d').matchAll(/[ML]([\\d.]+) ([\\d.]+)/g)].map(found => found.slice(1).map(Number)))"""
    guess, level = page.evaluate(places)
    steps = [after[1] - then[1] for then, after in zip(guess, guess[1:]) if after[1] > then[1]]
    check(len(steps) == len(pushes) and abs(guess[-1][1] - level[0][1]) < 2, "the estimate", guess, level)
    # Two: the bucket may have one whole token more just after the first, before the page asks again.
    for number in (1, 2):
        relay.call("PATCH", "/v1/activities/order-17", {"state": {"minutes": 4 + number}, "urgency": "high"})
        deadline = time.monotonic() + WITHIN
        while len(pushed()) < len(pushes) + number:
            check(time.monotonic() < deadline, "the push does not go")
            page.wait_for_timeout(100)
    while (level := page.evaluate(places)[1])[-1][1] - level[0][1] <= 1:
        check(time.monotonic() < deadline, "a push does not lower the line:", level)
        page.wait_for_timeout(100)
    shows_left()
    until(page, f"() => document.querySelectorAll('.lane .sent').length === {len(pushes) + 2}")
    window.open("activity/radial-1", "radial-1")
    until(page, "() => document.querySelectorAll('.lane').length === 2")
    until(page, "() => document.querySelectorAll('.lane .asked').length > 2")
    words = page.inner_text(".lanes")
    check("grant: 0s apart, no bucket" in words and " of 4; dashed: estimated" in words, words)
    window.quiet("the lanes")


def attended(window):
    """What needs attention: each line has its commands, and leads to why."""
    page, relay = window.page, window.relay
    window.open("overview", "Overview")
    page.wait_for_selector(".attention li")
    lines = page.eval_on_selector_all(".attention li", """all => all.map(one => [
        [...one.querySelectorAll('code')].map(code => code.textContent),
        one.querySelector('a.why')?.getAttribute('href')])""")
    items = relay.read("/v1/overview")["attention"]
    wanted = [[list(dict.fromkeys([one["command"], *one["try"]])), f"#/activities/{one['activity']}/why" + (
        f"?device={one['device']}" if "device" in one else "")] for one in items if "activity" in one]
    check(len(wanted) > 1 and all(line in lines for line in wanted), "attention", lines, wanted)
    check(all(commands for commands, _ in lines), "a line without a command", lines)
    severe = page.eval_on_selector_all(".attention li", "all => all.map(one => one.className === 'bad')")
    check(severe == sorted(severe, reverse=True), "what is severe comes first", severe)
    titles = page.eval_on_selector_all(".attention .what", "all => all.map(one => one.textContent)")
    check(all(any(one["title"] in title for title in titles) for one in items), "titles", titles)
    check(page.inner_text(".state").startswith(f"Look at this: {len(items)}"), page.inner_text(".state"))
    place = next(one["device"] for one in items if one["code"] == "no_token")
    page.locator(".attention li", has_text=place).get_by_role("link", name="Why?").first.click()
    until(page, "name => document.querySelector('.whypanel .question')?.textContent.includes(name)", place)
    window.quiet("what needs attention")


def deed(page, phone, *words):
    """Presses on the bar of deeds, which is for the phone that was chosen last."""
    bar = page.locator(".deeds")
    bar.get_by_role("button", name=phone, exact=True).press("Enter")
    for one in words:
        bar.get_by_role("button", name=one, exact=True).click()


def touched(window):
    """A swipe on the wall needs attention within a second or two; keys of the keyboard do as well."""
    page = window.page
    window.open("phones", "Phones")
    phone = page.locator("section.phone[aria-label='phone-2']")
    card = phone.locator(".glass .live .cardbox", has_text="order-17")
    card.wait_for(state="attached")
    check(not card.is_visible(), "an unlocked phone shows its Lock Screen")
    bottoms = page.eval_on_selector_all(".phone:not(.pad) .body", "all => all.map(one => one.getBoundingClientRect().bottom)")
    check(len(bottoms) == 3 and max(bottoms) <= 900, "phones are cut:", bottoms)
    deed(page, "phone-2", "Lock")
    card.wait_for()
    check(phone.get_by_role("button", name="Swipe order-17 away").is_hidden(), "a caption is seen")
    window.axe("a locked phone")
    box = card.locator(".lockcard").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 30, box["y"] + 20, steps=6)
    page.mouse.up()
    card.wait_for(state="detached", timeout=3000)
    deed(page, "phone-2", "Unlock", "Open app")
    phone.get_by_text("The app is in front.").wait_for()
    deed(page, "phone-2", "Control Center", "Close the Center", "Leave app", "Go offline", "Go online")
    started = time.monotonic()
    window.open("overview", "Overview")
    page.get_by_text("has swiped these cards away").wait_for()
    check(time.monotonic() - started < 5, "the swipe took", time.monotonic() - started)
    window.quiet("the wall")


OUTSIDE = """() => [...document.querySelectorAll('.phone')].flatMap(phone => {
    const boxes = { '.glass': phone.querySelector('.glass'), '.side': phone };
    return Object.entries(boxes).flatMap(([name, whole]) => {
        const box = whole.getBoundingClientRect();
        return [...phone.querySelectorAll(name + ' *')].filter(one => {
            const { left, right, width } = one.getBoundingClientRect();
            return width > 0 && (left < box.left - 1 || right > box.right + 1);
        }).map(one => name + ' ' + (one.getAttribute('class') ?? one.tagName));
    }); })"""

TOUCHING = """() => [...document.querySelectorAll('.phone .glass')].flatMap(glass => {
    const boxes = name => [...glass.querySelectorAll(name)].map(one => one.getBoundingClientRect());
    return boxes('.island').filter(island => island.width > 0).flatMap(island => boxes('.clock, .signal')
        .filter(word => word.right > island.left && word.left < island.right
            && word.bottom > island.top && word.top < island.bottom));
})"""


def fits(window, place):
    """Nothing of a phone is outside of its glass, and clock and signal do not touch the island."""
    page = window.page
    outside, touching = page.evaluate(OUTSIDE), page.evaluate(TOUCHING)
    check(not outside and not touching, place, "outside:", outside, "on the island:", touching)
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(wide <= 0, place, "is", wide, "pixels too wide")


def wall(window):
    """A press opens the island, a touch has its place, and a pull at the edge opens the Control Center."""
    page, relay, deeds = window.page, window.relay, []

    def kept(request):
        if request.method == "POST" and "/v1/phones/" in request.url:
            deeds.append({"phone": request.url.rsplit("/", 1)[1], **json.loads(request.post_data)})

    def pull(glass, across, down, to):
        """A drag from a part of the glass to a part of its height."""
        box = glass.bounding_box()
        page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * down)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * across, box["y"] + box["height"] * to, steps=4)
        page.mouse.up()

    def did(phone, **wanted):
        """Waits for the next deed, and compares it to a point of the phone."""
        deadline = time.monotonic() + WITHIN
        while not deeds:
            check(time.monotonic() < deadline, "no deed, and not", wanted)
            page.wait_for_timeout(20)
        done = deeds.pop(0)
        near = all(abs(done.get(name, -9) - wanted.pop(name)) <= 2 for name in ("x", "y") if name in wanted)
        check(near and done.items() >= {"phone": phone, **wanted}.items(), done, "and not", phone, wanted)

    long = "A title that is longer than any phone is wide, and then some. " * 3
    relay.call("PUT", "/v1/activities/long-" + "x" * 90, {
        "type": "OrderAttributes", "audience": {"devices": ["phone-3", "phone-2"]},
        "state": {"step": long, "minutes": 7, "progress": 0.5}, "alert": {"title": long}})
    relay.call("PUT", "/v1/activities/half-turn", {
        "type": "RadialWidgetAttributes", "audience": {"device": "phone-1"}, "state": {"offset": 0},
        "alert": {"title": "Turn"}})
    page.on("request", kept)
    window.open("phones", "Phones")
    for name, across, down, to in (("phone-3", 0.5, 0.95, 0.6), ("phone-2", 0.85, 0.05, 0.4)):
        phone = page.locator(f"section.phone[aria-label='{name}']")
        glass = phone.locator(".glass")
        phone.locator(".cardbox .title", has_text=long[:20]).wait_for(state="attached")
        buttons = [phone.locator(one).count() for one in (".islandbutton", ".homebutton")]
        check(buttons == [int(name == "phone-2"), int(name == "phone-3")], "island and home button:", buttons)
        for is_open in (True, False) if name == "phone-2" else ():
            if is_open:
                phone.locator(".islandbutton").click()
            else:
                page.keyboard.press("Escape")
            check(phone.locator(".island.expanded").is_visible() == is_open
                  and phone.locator(".island.compact").is_visible() != is_open, "the island is not", is_open)
            fits(window, "the wall")
        check(deeds == [], "a press on the island is a deed:", deeds)
        pull(glass, 0.5, 0.5, 0.5)
        did(name, do="touch", x=195, y=422)
        deed(page, name, "Open app")
        did(name, do="front")
        phone.get_by_text("The app is in front.").wait_for()
        check(phone.locator(".islandbutton:enabled").count() == 0, "the island shows a card of the app in front")
        pull(glass, across, down, down)
        did(name, do="touch", x=390 * across, y=844 * down)
        pull(glass, across, down, to)
        did(name, do="control-center")
        phone.locator(".controlcenter").wait_for()
        window.axe("the Control Center")
        pull(glass, 0.5, 0.8, 0.8)
        did(name, do="front")
        phone.locator(".controlcenter").wait_for(state="hidden")
        deed(page, name, "Switcher")
        did(name, do="switcher")
        phone.get_by_text("The app is in the switcher.").wait_for()
        window.axe("the switcher")
        phone.locator(".inapp").click()
        did(name, do="front")
        phone.get_by_text("The app is in front.").wait_for()
        phone.get_by_role("button", name="Leave the app").click()
        did(name, do="back")
    phone.locator(".islandbutton:enabled").click()
    phone.locator(".islandbutton[aria-expanded=true]").click()
    did("phone-2", do="tap")
    phone.get_by_text("The app is in front.").wait_for()
    phone.get_by_role("button", name="Leave the app").click()
    did("phone-2", do="back")
    turned(window)
    # The last pull of phone-2 counts for 2.75 s; the turn took 2 s of them.
    page.wait_for_timeout(1000)
    relay.call("POST", "/v1/phones/phone-2", {"do": "status-bar", "on": False})
    deed(page, "phone-2", "Open app")
    phone.get_by_text("The app is in front.").wait_for()
    phone.locator(".statusbar").wait_for(state="hidden")
    pull(glass, across, down, to)
    page.get_by_text("the first pull shows only the handle").wait_for()
    pull(glass, across, down, to)
    phone.locator(".controlcenter").wait_for()
    relay.call("POST", "/v1/phones/phone-2", {"do": "status-bar"})
    phone.get_by_role("button", name="Leave the app").click()
    page.remove_listener("request", kept)
    window.quiet("touches")


def turned(window):
    """Where a type says `moves: "places"`, avatars go to their new places in straight lines."""
    page = window.page
    middle = page.evaluate("""async () => (await import(new URL('picture.js', location.href))).places(
        { items: 3, moves: 'places' }, 0, 180, .5)""")
    check(all(abs(value - 150) < 1e-9 for place in middle for value in place), "the middle is", middle)
    card = page.locator("section.phone[aria-label='phone-1'] .cardbox", has_text="half-turn")
    first = card.locator(".avatar").first
    first.wait_for(state="attached")
    window.relay.call("PATCH", "/v1/activities/half-turn", {"state": {"offset": 180}, "urgency": "high"})
    seen, deadline = [], time.monotonic() + WITHIN
    while not seen or seen[-1][1] > 50:
        check(time.monotonic() < deadline, "the turn does not end:", seen[-5:])
        seen.append([float(one) for one in first.get_attribute("transform")[10:-1].split()])
        page.wait_for_timeout(30)
    between = [y for _, y in seen if 60 < y < 240]
    check(len(between) > 5 and all(x == 150 for x, _ in seen), "the turn goes by", seen)


def widgets(window):
    """A widget is added, drawn, tapped, reloaded and removed on the wall; the gallery shows each family."""
    page, relay = window.page, window.relay

    def seen(name):
        return next(one for one in relay.read("/v1/phones")["phones"] if one["phone"] == name)

    def opened(name, url):
        deadline = time.monotonic() + WITHIN
        while seen(name).get("opened") != url:
            check(time.monotonic() < deadline, name, "does not open", url, seen(name))
            page.wait_for_timeout(50)

    def add(phone, family, kind="profile"):
        if not phone.get_by_label("Kind").is_visible():
            deed(page, phone.get_attribute("aria-label"), "Edit")
            phone.get_by_text("Add a widget").click()
        phone.get_by_label("Kind").fill(kind)
        phone.get_by_label("Family").select_option(family)
        phone.get_by_role("button", name="Add", exact=True).click()
        box = phone.locator(f".widgetframe >> .{family}")
        box.wait_for(state="attached")
        return box

    window.open("phones", "Phones")
    phone, pad = (page.locator(f"section.phone[aria-label='{name}']") for name in ("phone-1", "pad-1"))
    medium = add(phone, "systemMedium")
    medium.get_by_text("name: Ada").wait_for()
    check(phone.locator(".glass .systemMedium").is_visible(), "the widget is not on the Home Screen")
    for family in ("systemSmall", "accessoryInline", "accessoryCircular", "accessoryRectangular"):
        add(phone, family)
        page.locator(f".{family}", has_text="Ada").first.wait_for(state="attached")
    check(phone.locator(".widgetbox figcaption", has_text="fetches left").count() == 5, "the fetches left")
    fits(window, "the wall with widgets")
    window.axe("widgets")
    deed(page, "phone-1", "Done", "Lock")
    phone.locator(".glass .accessoryInline").wait_for()
    check(phone.locator(".accessoryCircular").inner_text().split() == ["Ada", "3"], "the circle")
    check(phone.locator("figcaption:visible, .remove:visible").count() == 0, "captions are seen")
    above, clock = (phone.locator(name).bounding_box()["y"] for name in (".glass .accessoryInline", ".bigclock"))
    check(above < clock, "the inline widget is not above the clock")
    fits(window, "a locked phone with widgets")
    window.axe("a locked phone with widgets")
    deed(page, "phone-1", "Unlock")
    phone.get_by_role("button", name="Tap profile systemMedium, name: Ada, rank: 3").press("Enter")
    opened("phone-1", "app://me")
    phone.get_by_text("The app is in front.").wait_for()
    until(page, "() => document.activeElement.getAttribute('aria-label') === 'Leave the app'")
    phone.locator(".verdict", has_text="app://me: the app is open").wait_for()
    page.keyboard.press("Enter")
    phone.get_by_role("button", name="Tap app://me/rank").click()
    opened("phone-1", "app://me/rank")
    before = [one["fetches"] for one in seen("phone-1")["widgets"]]
    phone.get_by_role("button", name="Reload the widgets").click()
    deadline = time.monotonic() + WITHIN
    while [one["fetches"] for one in seen("phone-1")["widgets"]] <= before:
        check(time.monotonic() < deadline, "no widget is reloaded", before)
        page.wait_for_timeout(50)
    deed(page, "phone-1", "Leave app", "Edit")
    relay.call("PUT", "/v1/timelines/profile", {**PROFILE, "content": {"name": "Bo", "rank": 1}})
    medium.get_by_text("name: Bo").wait_for()
    phone.get_by_role("button", name="Open gallery").click()
    for family in FAMILIES:
        if family != "systemExtraLarge":
            phone.locator(f".gallery .{family}", has_text="Bo").wait_for()
    window.axe("the gallery")
    phone.locator(".gallery").get_by_role("button", name="Close").click()
    phone.locator(".gallery").wait_for(state="hidden")
    phone.get_by_role("button", name="Open gallery").click()
    phone.get_by_role("button", name="Add profile systemLarge").click()
    phone.locator(".glass .systemLarge", has_text="Bo").wait_for()
    for family in ("systemSmall", "systemMedium", "systemLarge"):
        phone.get_by_role("button", name=f"Remove profile {family}").click()
        phone.locator(f".glass .{family}").wait_for(state="detached")
    add(phone, "systemSmall")
    choices = [one.get_by_label("Family").locator("option").all_text_contents() for one in (phone, pad)]
    check(choices == [[one for one in FAMILIES if one != "systemExtraLarge"], FAMILIES], "families", choices)
    add(pad, "systemExtraLarge")
    pad.locator(".systemExtraLarge", has_text="Bo").wait_for()
    check(pad.locator(".island, .cards, .homebutton, .edge").count() == 0, "the pad looks like a phone")
    wide, narrow = (one.locator(".glass").bounding_box()["width"] for one in (pad, phone))
    check(wide > 1.5 * narrow, "the pad is", wide, "wide, the phone", narrow)
    relay.call("PUT", "/v1/timelines/profile", {
        **PROFILE, "type": "ProfileAttributes", "content": {"name": "Dora", "rank": 1}})
    title = phone.locator(".glass .accessoryRectangular .title", has_text="Dora")
    title.wait_for(state="attached")
    check(title.inner_text() == "Dora", "the preview of the widget's type is not used:", title.inner_text())
    relay.call("POST", "/v1/phones/phone-3", {"do": "offline"})
    add(page.locator("section.phone[aria-label='phone-3']"), "systemSmall")
    blank = page.locator("section.phone[aria-label='phone-3'] [data-placeholder=true].systemSmall")
    blank.wait_for()
    check(not blank.inner_text() and "placeholder" in blank.locator(".parts").get_attribute("aria-label"),
          "a placeholder says", blank.inner_text())
    relay.call("POST", "/v1/phones/phone-3", {"do": "online"})
    page.locator("section.phone[aria-label='phone-3'] [data-placeholder=false].systemSmall").wait_for()
    window.quiet("widgets")


DOORS = {"preview": {"title": "/name", "subtitle": "/word", "icon": {"at": "/locked", "true": "lock", "false": "lock.open"}},
         "intents": [{"name": "UnlockDoor", "title": "Unlock", "parameters": {"door": "/id", "by": "hand"}}]}


def pressed(window):
    """Buttons run intents, and the picture follows; each door of a widget is tapped by itself, and the app shows it."""
    page, relay, deeds = window.page, window.relay, []

    def kept(request):
        if request.method == "POST" and "/v1/phones/" in request.url:
            deeds.append(json.loads(request.post_data))

    def did(**wanted):
        deadline = time.monotonic() + WITHIN
        while not deeds:
            check(time.monotonic() < deadline, "no deed, and not", wanted)
            page.wait_for_timeout(20)
        check((done := deeds.pop(0)) == {"do": "tap", **wanted}, done, "and not", wanted)

    relay.call("PUT", "/v1/types/DoorAttributes", DOORS)
    for name in ("7", "8", "9"):
        state = {"id": name, "name": f"Door {name}", "word": "locked", "locked": True, "history": [{"who": "Ada", "what": "in"}]}
        relay.call("PUT", "/v1/activities/door." + name, {
            "type": "DoorAttributes", "audience": {"device": "phone-2"}, "state": state, "alert": {"title": "Door"}})
        # Nobody may see the last one.
        readers = {"readers": {"users": ["nobody" if name == "9" else relay.read("/v1/devices/phone-2")["user"]]}}
        relay.call("PUT", "/v1/timelines/door", {"subject": {"key": "door." + name, **readers},
                                                 "from": {"activity": "door." + name}, "url": "door://" + name})
    for family, config in (("systemLarge", "door.7,door.8"), ("systemMedium", "door.9"), ("systemSmall", None)):
        relay.call("POST", "/v1/phones/phone-2", {"do": "widget-add", "widget": "door", "family": family,
                                                  **({"config": config} if config else {})})
    window.open("phones", "Phones")
    page.on("request", kept)
    phone = page.locator("section.phone[aria-label='phone-2']")
    large = phone.locator(".systemLarge")
    large.locator(".part", has_text="Door 8").wait_for()
    phone.get_by_text("This phone may not see door 9").wait_for()
    phone.get_by_text("Choose a door").wait_for()
    large.get_by_role("button", name="Unlock Door 8").click()
    did(widget="door", family="systemLarge", config="door.8", intent="UnlockDoor", parameters={"door": "8", "by": "hand"})
    phone.locator(".verdict", has_text="Unlock").wait_for()
    check(phone.locator(".glass[data-presence=background]").count() == 1, "a button opens the app")
    relay.call("PATCH", "/v1/activities/door.8", {"state": {"word": "unlocked", "locked": False}, "urgency": "high"})
    large.locator('.part:has-text("Door 8") [data-icon="lock.open"]').wait_for()
    check(large.locator('.part:has-text("Door 7") [data-icon="lock"]').count() == 1, "the other door is not locked")
    phone.get_by_role("button", name="Tap door door.7,door.8 systemLarge, door.8, Door 8").click()
    did(widget="door", family="systemLarge", config="door.8", link="door://8")
    phone.locator(".inapp h3", has_text="Door 8").wait_for()
    words = phone.locator(".inapp").inner_text()
    check("door://8" in words and "unlocked" in words and "Ada · in" in words, "the app says", words)
    window.axe("the app")
    deed(page, "phone-2", "Leave app", "Lock")
    for name in ("7", "9"):
        phone.locator(".glass .live .cardbox", has_text="Door " + name).wait_for()
    relay.call("POST", "/v1/activities/door.9/end", {})
    phone.locator(".over .cardbox", has_text="Door 9").wait_for(state="attached")
    summary = phone.locator(".ended summary")
    check(summary.inner_text().endswith(" ended") and phone.locator(".over .cardbox:visible").count() == 0, "ended cards")
    summary.click()
    phone.locator(".over .cardbox", has_text="Door 9").wait_for()
    check(phone.locator(".over .intent:visible").count() == 0, "an ended card has buttons")
    deeds.clear()
    card = phone.locator(".live .cardbox", has_text="Door 7")
    started = time.monotonic()
    card.get_by_role("button", name="Unlock").click()
    did(activity="door.7", intent="UnlockDoor", parameters={"door": "7", "by": "hand"})
    relay.call("PATCH", "/v1/activities/door.7", {"state": {"word": "unlocked", "locked": False}, "urgency": "high"})
    card.locator('[data-icon="lock.open"]').wait_for()
    check(time.monotonic() - started < 5, "the picture came after", time.monotonic() - started)
    window.axe("ended cards")
    card.locator(".title").click(force=True)
    did(activity="door.7")
    page.remove_listener("request", kept)
    window.open("timelines/door?key=door.7", "door")
    page.locator(".facts", has_text="DoorAttributes").wait_for()
    before = page.locator(".facts dd").all_inner_texts()
    check("Empty" not in page.inner_text(".families"), "families are empty")
    relay.call("PATCH", "/v1/activities/door.7", {"state": {"word": "locked"}})
    until(page, "words => JSON.stringify([...document.querySelectorAll('.facts dd')].map(one => one.innerText)) !== words",
          json.dumps(before, separators=(",", ":"), ensure_ascii=False))
    for family in ("systemLarge", "systemMedium", "systemSmall"):
        relay.call("POST", "/v1/phones/phone-2", {"do": "widget-rm", "widget": "door", "family": family})
    for name in ("7", "8", "9"):
        relay.call("DELETE", "/v1/timelines/door?key=door." + name)
    relay.call("POST", "/v1/activities/end", {"where": {"type": "DoorAttributes"}})
    relay.call("POST", "/v1/phones/phone-2", {"do": "back"})
    window.quiet("buttons")


def apps(window):
    """The runner's app starts, changes and stops; the window's app has its corners, and hides its status bar."""
    page, relay = window.page, window.relay
    relay.call("PUT", "/v1/types/WindowWidgetAttributes", {
        "preview": {"window": {"corner": "/corner"}},
        "presence": {"path": "/corner", "active": 8, "inactive": 0, "duration": "350ms", "easing": "easeOut"}})
    relay.call("PUT", "/v1/activities/window-1", {
        "type": "WindowWidgetAttributes", "audience": {"device": "phone-1"}, "state": {}, "alert": {"title": "Window"}})
    window.open("phones", "Phones")
    phone = page.locator("section.phone[aria-label='phone-1']")
    deed(page, "phone-1", "Open app")
    corner = "wanted => document.querySelector('[aria-label=phone-1] .inapp').dataset.corner === wanted"
    until(page, corner, "8")
    phone.get_by_role("button", name="Hide the status bar").click()
    phone.locator(".statusbar").wait_for(state="hidden")
    phone.get_by_role("button", name="Show the status bar").click()
    phone.locator(".statusbar").wait_for()
    deed(page, "phone-1", "Switcher")
    until(page, corner, "0")
    deed(page, "phone-1", "Close switcher")
    until(page, corner, "8")

    def running():
        found = relay.read("/v1/activities?status=active&type=RunnerWidgetAttributes")["activities"]
        return {one["activity"]: [clip["every"] for clip in one["clips"]] for one in found}

    def becomes(condition, what):
        deadline = time.monotonic() + WITHIN
        while not condition(now := running()):
            check(time.monotonic() < deadline, what, now)
            page.wait_for_timeout(100)

    before = running()
    phone.get_by_role("button", name="Start", exact=True).click()
    becomes(lambda now: len(now) > len(before) and all(not now[one] for one in before)
            and [every for one in now for every in now[one]] == ["100ms"], "a second start")
    phone.get_by_label("Interval").select_option("500ms")
    becomes(lambda now: [every for one in now for every in now[one]] == ["500ms"], "the interval")
    window.axe("the app of the runner")
    phone.get_by_role("button", name="Stop", exact=True).click()
    becomes(lambda now: not now, "stop")
    relay.call("POST", "/v1/activities/window-1/end", {})
    deed(page, "phone-1", "Leave app")
    window.quiet("the apps")


def timelines(window):
    """The list, its pages, and one timeline: its entries, each family, a refusal, and that it goes."""
    page, relay = window.page, window.relay
    relay.call("PUT", "/v1/timelines/profile", PROFILE)

    def refused(*codes):
        """Takes the browser's own lines about answers that were refused out of its log."""
        lines = [line for line in window.log if any(f"a status of {code}" in line for code in codes)]
        check(lines, "no answer was refused")
        window.log[:] = [line for line in window.log if line not in lines]

    page.route("**/v1/timelines?*", lambda route: route.continue_(
        url=route.request.url.replace("limit=200", "limit=1")))
    window.open("timelines", "Timelines")
    rows = page.locator("table[aria-label=Timelines] tbody a")
    until(page, "() => document.querySelectorAll('table[aria-label=Timelines] tbody a').length === 1")
    page.get_by_role("button", name="Show more").click()
    until(page, "() => document.querySelectorAll('table[aria-label=Timelines] tbody a').length === 2")
    check(rows.all_inner_texts() == ["hostile", "profile"], rows.all_inner_texts())
    page.unroute("**/v1/timelines?*")
    rows.nth(1).click()
    until(page, "() => document.querySelectorAll('.entry').length === 4")
    words = page.inner_text("main")
    for one in ("user u1", "atEnd", "each monday at 06:00, UTC", "A widgets push reloads the widgets of all kinds"):
        check(one in words, one, "is not in", words)
    check(page.locator(".entry", has_text="provisional").count() == 3, "the provisional entries")
    check("app://me/rank" in words and '"rank": 3' in words, "url, links or JSON are not in", words)
    drawn = "() => [...document.querySelectorAll('.families .widget')].map(one => one.className.split(' ')[1])"
    check(page.evaluate(drawn) == FAMILIES, "families", page.evaluate(drawn))
    first = page.inner_text(".countdown")
    check(first.startswith("in "), first)
    until(page, "words => document.querySelector('.countdown').textContent !== words", first)
    relay.call("PUT", "/v1/timelines/profile", {**PROFILE, "content": {"name": "Cem"}})
    page.locator(".families .systemSmall", has_text="name: Cem").wait_for()
    relay.call("PUT", "/v1/timelines/profile", {
        **PROFILE, "type": "ProfileAttributes", "content": {"name": "Cem"}})
    page.get_by_text('type "ProfileAttributes" has no cut for accessoryInline').wait_for()
    words = page.inner_text(".families")
    check("/name, /history (first 2)" in words and '"/rank"' in words and page.locator(
        ".families .systemSmall .title").inner_text() == "Cem", "the type's cuts", words)
    window.axe("a timeline with a type")
    refused(422)
    relay.call("DELETE", "/v1/timelines/profile?user=u1")
    page.get_by_text("This timeline is gone.").wait_for()
    check(page.locator(".families").is_hidden(), "a timeline that is gone is shown")
    relay.call("PUT", "/v1/timelines/profile", PROFILE)
    page.locator(".families .systemLarge", has_text="name: Ada").wait_for()
    refused(404)
    window.open("timelines/hostile?key=door-7", "hostile")
    page.locator(".entry").wait_for()
    parts = page.locator(".families .systemLarge .title").all_inner_texts()
    check(parts == ["name: " + HOSTILE, "Empty"], "items are no parts:", parts)
    links = page.eval_on_selector_all("main a", "all => all.map(a => a.getAttribute('href'))")
    check(page.locator("main img, main script").count() == 0 and not [
        one for one in links if not one.startswith("#/")], "the hostile content", links)
    page.route("**/v1/timelines?*", lambda route: route.fulfill(
        status=403, json={"title": "Not allowed", "detail": "The key has no scope observe."}))
    page.evaluate("location.hash = '#/timelines'")
    page.get_by_text("The key has no scope observe.").wait_for()
    refused(403)
    page.unroute("**/v1/timelines?*")
    page.route("**/v1/timelines?*", lambda route: route.fulfill(json={"timelines": [], "next_cursor": None}))
    window.open("types", "Types")
    window.open("timelines", "Timelines")
    page.get_by_text("There is no timeline.").wait_for()
    page.unroute("**/v1/timelines?*")
    window.open("types", "Types")
    asked = len(window.requests)
    page.wait_for_timeout(3500)
    late = [url for url in window.requests[asked:] if "/v1/timelines" in url]
    check(late == [], "a screen that was left asks", late)
    window.quiet("timelines")


def restarted(window):
    """The card of an activity that was started again leads to the activity; its log counts two ways."""
    page, relay = window.page, window.relay
    relay.call("POST", "/v1/activities/order-17/end", {})
    relay.call("PUT", "/v1/activities/order-17?restart=true", {
        "type": "OrderAttributes", "audience": {"device": "phone-2"}, "state": {"step": "Again"},
        "alert": {"title": "Again"}})
    window.open("phones", "Phones")
    phone = page.locator("section.phone[aria-label='phone-2']")
    deed(page, "phone-2", "Lock", "Edit")
    card = phone.get_by_role("link", name="order-17~2")
    card.wait_for()
    check("started 2 times" in card.get_attribute("title"), card.get_attribute("title"))
    card.click()
    until(page, "() => document.querySelector('main h1')?.textContent.startsWith('order-17')")
    until(page, """() => ['event', 'fact'].every(kind => [...document.querySelectorAll('td.number')]
        .some(cell => new RegExp(`^${kind} [0-9,]+$`).test(cell.textContent)))""")
    here = page.eval_on_selector_all("nav a[aria-current]", "all => all.map(a => a.textContent)")
    check(here == ["Activities"], "the screen of one activity is under", here)
    window.quiet("a second start")


def enemy(window):
    """A state's text stays text, its links lead nowhere, and a long list stays small in the page."""
    page = window.page
    window.open("activity/hostile", "hostile")
    page.wait_for_timeout(500)
    check(HOSTILE in page.inner_text("main"), "the hostile text is shown as text")
    counts = page.evaluate("""() => ({
        images: document.querySelectorAll('main img').length,
        scripts: document.querySelectorAll('main script').length,
        links: [...document.querySelectorAll('a')].filter(a => !a.getAttribute('href').startsWith('#/')).length,
        turned: document.body.textContent.includes('\\u202e'), polluted: ({}).polluted,
        wide: document.documentElement.scrollWidth - innerWidth })""")
    check(counts == {"images": 0, "scripts": 0, "links": 0, "turned": False,
                     "polluted": None, "wide": 0}, counts)
    window.open("activities", "Activities")
    page.select_option("#status", "")
    until(page, "() => document.querySelectorAll('tbody tr').length > 20")
    for _ in range(6):
        page.click("text=Show more")
        page.wait_for_timeout(150)
    rows = page.evaluate("""() => [document.querySelectorAll('tbody tr').length,
        Number(document.querySelector('table').getAttribute('aria-rowcount'))]""")
    check(rows[0] < 100 and rows[1] > 1200, "rows in the page, and in all:", rows)
    window.quiet("the long list")


def followed(window):
    """The log's newest entries are on top, whatever is filtered, and new ones come by themselves."""
    page, relay = window.page, window.relay
    first = "() => document.querySelector('tbody tr:not(.spacer) td')?.textContent.replace(/,/g, '')"

    def patch(*names):
        lines = [json.dumps({"activity": name, "do": "update", "state": {"n": index}})
                 for index, name in enumerate(names)]
        answer = relay.call("POST", "/v1/events", ("\n".join(lines) + "\n").encode())
        return json.loads(answer.splitlines()[-1])["seq"]

    relay.call("PUT", "/v1/activities/busy", {"type": "OrderAttributes", "state": {"step": "?"}})
    seq = patch(*["busy"] * 700)
    window.open("log?activity=busy", "Log")
    until(page, f"() => ({first})() === 'event {seq}'")
    until(page, f"() => ({first})() === 'event {patch('busy')}'")
    for kind in ("all", "fact"):
        window.open("types", "Types")
        window.open("log?activity=order-17", "Log")
        page.select_option("#kind", kind)
        relay.call("PATCH", "/v1/activities/order-17", {"state": {"minutes": 1}, "urgency": "high"})
        deadline = time.monotonic() + WITHIN
        while page.evaluate(first) != (newest := "fact {seq}".format(
                **relay.read("/v1/log?activity=order-17&kind=fact&limit=1000")["events"][-1])):
            check(time.monotonic() < deadline, kind, "shows", page.evaluate(first), "and not", newest)
            page.wait_for_timeout(200)
    window.open("activities?status=", "Activities")
    until(page, "() => document.querySelectorAll('tbody tr').length > 20")
    versions = """() => Object.fromEntries([...document.querySelectorAll('tbody tr:not(.spacer)')]
        .map(row => [row.cells[0].textContent, row.cells[6].textContent]))"""
    names = [name for name in page.evaluate(versions) if name.startswith("row-")]
    check(len(names) >= 20, "rows in the page:", names)
    patch(*names)
    until(page, "() => document.querySelector('main [role=status]').textContent.includes('older than now')")
    until(page, f"names => names.every(name => ({versions})()[name] === '2')", names)
    until(page, "() => !document.querySelector('main [role=status]').textContent.includes('older')")
    window.quiet("what follows")


def spelled(window):
    """Numbers are shown as they were sent, now, then and live, and a size is of the relay's own text."""
    page, relay = window.page, window.relay
    states = ['{"big":9007199254740993,"price":12.50,"one":1.0,"zero":-0.0}',
              '{"big":9007199254740995,"price":13.50,"one":2.0,"zero":-0.0}']
    shown = "() => document.querySelector('pre.json')?.textContent.replace(/\\s/g, '')"

    def send(do, state, rest=""):
        line = f'{{"activity":"spelled","do":"{do}"{rest},"state":{state}}}\n'
        check(json.loads(relay.call("POST", "/v1/events", line.encode()))["ok"], "not taken:", line)

    send("start", states[0], ',"type":"SpelledAttributes"')
    window.open("activity/spelled", "spelled")
    until(page, f"state => ({shown})() === state", states[0])
    size = page.locator("pre.json + p.hint").first.text_content()
    check(size.startswith(f"{len(states[0])} bytes"), "the size of", states[0], "is", size)
    window.open("log?activity=spelled", "Log")
    send("update", states[1])
    until(page, """() => ['9007199254740995', '13.50', '2.0', '-0.0'].every(digits =>
        document.querySelector('tbody').textContent.includes(digits))""")
    window.open("activity/spelled", "spelled")
    until(page, f"state => ({shown})() === state", states[1])
    until(page, "() => document.querySelector('.scrubber').max > 0")
    page.fill(".scrubber", "0")
    until(page, f"state => ({shown})() === state", states[0])
    window.quiet("numbers as they were sent")


def broadcast(window):
    """Of a channel nobody knows who listens: no card is drawn, now or of then."""
    page, relay = window.page, window.relay
    relay.call("PUT", "/v1/channels/final", {})
    relay.call("PUT", "/v1/activities/match", {
        "type": "Score", "audience": {"channel": "final"}, "state": {"goals": 0}})
    window.open("activity/match", "match")
    until(page, "() => document.querySelector('.got')?.textContent.includes('Apple took v1')")
    for moment in (None, "0"):
        if moment:
            page.fill(".scrubber", moment)
            until(page, "() => /had nothing then|Apple had taken v/.test(document.querySelector('.got').textContent)")
        page.wait_for_timeout(200)
        words = page.inner_text(".got")
        check("On the channel; who listens is unknown." in words, words)
        check(page.locator(".got .lockcard").is_hidden(), "a card of a channel is drawn")
    window.quiet("a channel")


def observer(browser, relay):
    """A key that only observes is offered nothing else, and signing out forgets it."""
    made = json.loads(relay.call("POST", "/v1/keys", {"scopes": ["observe"]}))
    window = Window(browser, relay)
    window.sign_in(made["key"])
    page = window.page
    names = page.eval_on_selector_all("nav a", "all => all.map(a => a.textContent)")
    check("Phones" not in names, "an observer sees", names)
    for path, title in (("overview", "Overview"), ("pacing", "Pauses"), ("deliveries", "Deliveries"),
                        ("timelines", "Timelines"), ("timelines/profile?user=u1", "profile"),
                        ("types", "Types"), ("activity/order-17", "order-17"), ("why", "Why")):
        window.open(path, title)
        page.wait_for_timeout(300)
        words = page.eval_on_selector_all("main button", "all => all.map(one => one.textContent)")
        offered = {"Pause", "Resume", "Retry", "Check it", "Measure the push"} & set(words)
        check(not offered, path, "offers an observer", offered)
    window.quiet("an observer")
    page.click("header >> text=Sign out")
    page.wait_for_selector("#key")
    check(page.evaluate("sessionStorage.length") == 0, "the key is still there")
    window.context.close()


def handed_over(browser, relay):
    """The key in the fragment signs in, and is gone from the address and the history."""
    window = Window(browser, relay)
    window.page.goto(f"{relay.console}#key={relay.key}")
    window.page.wait_for_selector("nav a")
    check(relay.key not in window.page.url, window.page.url)
    check(not any(relay.key in url for url in window.requests), "a request names the key")
    window.quiet("the key handed over")
    window.context.close()


def eight_tabs(browser, relay):
    """Eight tabs of one key are one stream, and it ends with the last of them."""
    def tails():
        text = relay.call("GET", "/metrics").decode()
        return int(text.split('tombolo_http_requests_total{operation="tail",status="200"} ')[1].split()[0])

    before = tails()
    context = browser.new_context()
    pages = [context.new_page() for _ in range(8)]
    for page in pages:
        page.goto(f"{relay.console}#key={relay.key}")
    for page in pages:
        page.wait_for_selector(".dot[data-state=open]")
    check(tails() - before == 1, "eight tabs opened", tails() - before, "streams")
    name = f"tab-{time.time_ns()}"
    for page in pages:
        page.evaluate("location.hash = '#/log'")
    # At once: an event that comes while the pages open is in them.
    relay.call("PUT", f"/v1/activities/{name}", {"type": "Tab", "state": {"n": 1}})
    for page in pages:
        page.get_by_role("link", name=name).wait_for()
    context.close()


HEALTH = """() => { const dot = document.querySelector('.dot');
    return dot.dataset.health + getComputedStyle(dot).backgroundColor + dot.title }"""


def hour(window):
    """The last hour has axes, and a click on what changed opens the log there."""
    page, relay = window.page, window.relay
    relay.call("POST", "/v1/pauses", {"activity": "order-17"})
    name = relay.read("/v1/pauses")["pauses"][0]["id"]
    window.open("overview", "Overview")
    until(page, "() => document.querySelectorAll('.hour svg').length === 6")
    for path in page.eval_on_selector_all(".hour path", "all => all.map(one => one.getAttribute('d'))"):
        check("NaN" not in path, "a figure is drawn as", path)
    check(page.locator(".hour text").count() >= 36, "the figures have no axis")
    moments = page.eval_on_selector_all(".moments li", "all => all.map(one => one.textContent)")
    check("an operator paused order-17" in moments[0] and "the relay started" in moments[-1], moments)
    check(page.locator(".hour a.mark").count() == 6 * len(moments), "a moment has no mark in a figure")
    window.axe("the last hour")
    page.locator(".moments a").first.click()
    page.wait_for_selector("#kind")
    until(page, "() => [...document.querySelectorAll('tbody tr')].some(row => row.textContent.includes('pause.began'))")
    check(page.input_value("#kind") == "all" and page.input_value("#from"), "the log opens elsewhere")
    relay.call("DELETE", f"/v1/pauses/{name}")
    window.quiet("the last hour")


class Way:
    """The way from the first screen to an answer: each click, and each text with its Enter, is a step of it."""

    STEPS = 3

    def __init__(self, window, question):
        self.page, self.question, self.steps = window.page, question, 0
        window.open("overview", "Overview")

    def click(self, place, words=None):
        self.steps += 1
        self.page.locator(place, has_text=words).first.click()
        return self

    def find(self, words):
        """Opens the search by its key, and takes the first that it finds."""
        self.page.keyboard.press("/")
        self.page.wait_for_selector("#search")
        self.page.keyboard.type(words)
        self.page.keyboard.press("Enter")
        self.steps += 2
        self.page.wait_for_selector("dialog", state="detached")
        return self

    def says(self, place, *words):
        """Waits until a text of the page has all of the words, and says how far it was."""
        until(self.page, """([place, words]) => [...document.querySelectorAll(place)].some(
            (one) => one.checkVisibility() && words.every((word) => one.textContent.includes(word)))""", [place, words])
        check(self.steps <= self.STEPS, self.question, "takes", self.steps, "steps")


def answered(window):
    """Six questions of an operator, each answered at most three steps from the first screen."""
    relay = window.relay
    relay.call("PUT", "/v1/devices/ada-phone", {"user": "ada", "app": "com.example.app", "environment": "sandbox"})
    relay.call("PUT", "/v1/devices/ada-phone/tokens/start:OrderAttributes", {"token": TOKEN[::-1]})
    relay.call("PUT", "/v1/activities/adas", {
        "type": "HostileAttributes", "audience": {"device": "ada-phone"}, "state": {"step": "?"}})
    try:
        relay.call("PATCH", "/v1/activities/order-17", {"stat": {}})
    except urllib.error.HTTPError as refusal:
        check(refusal.code == 422, refusal.code)
    relay.call("POST", "/v1/pauses", {"activity": "order-17"})
    pause = relay.read("/v1/pauses")["pauses"][0]["id"]
    silent = [one["device"] for one in relay.read("/v1/devices?silent_for=1h")["devices"]]
    Way(window, "Is anything wrong, since when?").says(".state", "Look at this", "since")
    Way(window, "Why does Ada's phone not show it?").find("ada-phone").click(".why").says(
        ".explanation", "ada-phone", "no push-to-start token")
    Way(window, "What did my backend send that was refused?").click("nav a", "Requests").says(
        "tbody tr", "order-17", "/stat")
    Way(window, "What changed before now?").click(".moments a").says("tbody tr", "pause.began")
    Way(window, "Which phones have been silent for an hour?").click("nav a", "Devices").click(
        "main a", "silent for an hour").says("main", *silent or ["No device is like this."])
    Way(window, "How much budget has Ada's phone left?").find("ada").says("tbody tr", "ada-phone", "left now")
    relay.call("DELETE", f"/v1/pauses/{pause}")
    window.quiet("the six answers")


def healthy(browser, relay):
    """The dot is green where all is well, and red where Apple is away, pushes are refused or the clock is behind.

    What Apple has taken is told from what phones have said.
    """
    window = Window(browser, relay)
    page, attention, cards = window.page, [], {}

    def answer(route):
        overview = relay.read("/v1/overview")
        route.fulfill(json={**overview, "attention": attention, "cards": cards})

    page.route("**/v1/overview", answer)
    window.sign_in()
    page.wait_for_selector(".dot[data-state=open]")
    until(page, "() => document.querySelector('.dot').title === 'Live'")
    green = page.evaluate(HEALTH)
    window.open("types", "Types")
    for code in ("upstream_closed", "refused", "not_ready", "clock_behind"):
        words = f"Something is wrong: {code}"
        attention[:] = [{"code": "unreached", "title": "?", "severe": False, "text": "?", "count": 1, "try": []},
                        {"code": code, "title": "!", "severe": True, "text": words, "count": 1, "try": []}]
        until(page, "words => document.querySelector('.dot').title === words", words)
        check(page.get_attribute(".dot", "aria-label") == words, page.get_attribute(".dot", "aria-label"))
        red = page.evaluate(HEALTH)
        check(red != green and red.startswith("badrgb"), code, "is", red)
        window.axe("the dot")
    attention.clear()
    until(page, "() => document.querySelector('.dot').title === 'Live'")
    check(page.evaluate(HEALTH) == green, "the dot stays red")
    window.open("overview", "Overview")
    for more, words in (
            ({"running": 14, "accepted": 12, "shown": 8, "older": 1, "silent": 3, "unreachable": 1},
             "12 of 14 cards: 8 shown, 1 older on the phone, 3 silent; 1 out of reach, for Apple refused the token."),
            ({"running": 1, "accepted": 1, "by_channel": 1}, "1 of 1 cards: 1 by channel."),
            ({"running": 2, "accepted": 0, "refused": 1}, "0 of 2 cards; 1 refused."), ({}, "")):
        cards.clear()
        cards.update({"running": 0, "accepted": 0}, **more)
        until(page, "words => document.querySelector('[aria-label=\"Furthest behind\"] p').textContent === words",
              words and "Apple has taken the newest version for " + words)
    window.quiet("the dot")
    window.context.close()


TICKS = "() => [...document.querySelectorAll('.steps li')].map(one => one.dataset.done === 'true').join()"


def begins(browser, program, folder):
    """The first screen of a new relay is its first step; later its rows can be acted on."""
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data:
        relay = Relay(program, data, folder)
        try:
            window = Window(browser, relay)
            window.sign_in()
            page = window.page
            state = "state => document.querySelector('.state')?.dataset.state === state"
            until(page, state, "nothing")
            check(page.inner_text(".state").startswith("Nothing yet"), page.inner_text(".state"))
            until(page, "() => document.querySelectorAll('.first button').length === 5")
            window.axe("a new dev")
            # As a relay without simulated phones would answer.
            fake = {"phones": False, "last_seq": 0, "attention": []}
            counts, cards = {"devices": 0, "pushes_accepted": 0}, {"running": 0, "accepted": 0, "shown": 0}

            def answer(route):
                overview = relay.read("/v1/overview")
                route.fulfill(json={**overview, **fake, "cards": cards, "counters": {**overview["counters"], **counts}})

            page.route("**/v1/overview", answer)
            for change, ticks in ((lambda: None, "false,false,false"), (lambda: counts.update(devices=1), "true,false,false"),
                                  (lambda: counts.update(pushes_accepted=1), "true,true,false")):
                change()
                until(page, f"wanted => ({TICKS})() === wanted", ticks)
            lines = page.eval_on_selector_all(".steps code", "all => all.map(one => one.textContent)")
            check(len(lines) == 3 and all(f"--relay {relay.origin}" in line for line in lines), lines)
            window.axe("a new relay")
            fake["last_seq"] = cards["shown"] = cards["running"] = cards["accepted"] = 1
            until(page, state, "well")
            check(not page.is_visible(".steps"), "the first steps stay")
            page.unroute("**/v1/overview")
            page.reload()
            page.locator(".first button", has_text="runner").click()
            until(page, "() => location.hash === '#/phones'")
            check(any(one["runs"] for one in relay.read("/v1/phones")["scenarios"]), "no scenario runs")
            window.quiet("the first step")
            acted(window)
            window.context.close()
        finally:
            relay.end()


def acted(window):
    """A pause is a row with its moment, its command and its button; a button that fails says so."""
    page, relay = window.page, window.relay
    relay.call("PUT", "/v1/activities/order-17", {
        "type": "OrderAttributes", "audience": {"device": "phone-2"}, "state": {"step": "?"}})
    relay.call("POST", "/v1/pauses", {"activity": "order-17"})
    window.open("overview", "Overview")
    button = page.locator(".attention button[data-code=paused]")
    button.wait_for()
    row = page.locator(".attention li", has=page.locator("button[data-code=paused]"))
    name = relay.read("/v1/pauses")["pauses"][0]["id"]
    check(f"tombolo resume {name}" in row.inner_text() and row.locator("time").count() == 1, row.inner_text())
    check(row.locator("a.look").get_attribute("href") == "#/pacing", "a pause leads elsewhere")
    window.axe("a row with a button")
    page.route("**/v1/pauses/*", lambda route: route.fulfill(status=503, json={"detail": "Not now."}))
    button.click()
    page.get_by_text("did not work. Not now.").wait_for()
    page.unroute("**/v1/pauses/*")
    check(all("Failed to load resource" in line for line in window.log), window.log[:5])
    window.log.clear()
    button.click()
    until(page, "() => !document.querySelector('.attention button[data-code=paused]')")
    check(relay.read("/v1/pauses")["pauses"] == [], "the pause is still there")
    window.quiet("a button")


def states(browser, program, folder):
    """Each screen has words of its own in each state: empty or full, and with the network, Apple or the clock wrong."""
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data:
        relay = Relay(program, data, folder)
        try:
            window = Window(browser, relay)
            window.sign_in()

            def read(state, window=window, answers=True):
                for name, path, _ in shown:
                    window.page.evaluate("path => { main.replaceChildren(); location.hash = '#/' + path }", path)
                    if answers:
                        until(window.page, "() => document.querySelector('main h1, main .notice')")
                    window.page.wait_for_timeout(150)
                    window.speaks(f"{state}, {name}")

            def send(verb, names, step, **more):
                lines = [json.dumps({"activity": name, "do": verb, "state": {"step": step}, **more}) for name in names]
                relay.call("POST", "/v1/events", ("\n".join(lines) + "\n").encode())

            shown = screens(relay, "order-17", "none")
            read("empty")
            card = {"type": "OrderAttributes", "alert": {"title": "Order"},
                    "audience": {"devices": ["phone-1", "phone-2"]}}
            send("start", ["order-17"], "baking", **card)
            window.open("activity/order-17", "order-17")
            until(window.page, "() => document.querySelector('.got')?.dataset.look === 'drawn'")
            shown = screens(relay, "order-17")
            read("one card")
            rows = [f"row-{number}" for number in range(199)]
            send("start", rows, "baking", **card)
            read("200 cards")
            window.context.set_offline(True)
            read("offline", answers=False)
            window.context.set_offline(False)
            relay.process.send_signal(signal.SIGSTOP)
            read("frozen", answers=False)
            relay.process.send_signal(signal.SIGCONT)
            for state, rule, code in (("refused", {"status": 400, "reason": "BadTopic"}, "refused"),
                                      ("dead", {"abort": True}, "upstream_closed")):
                relay.fault(**rule)
                send("update", ["order-17", *rows], state, urgency="high")
                deadline = time.monotonic() + WITHIN
                while code not in [one["code"] for one in relay.read("/v1/overview")["attention"]]:
                    check(time.monotonic() < deadline, "Apple is not", state)
                    time.sleep(0.05)
                read(state)
            other = Window(browser, relay)
            # The browser is a year ahead.
            other.page.clock.install(time=time.time() + 31_536_000)
            overview = {**relay.read("/v1/overview"), "attention": [
                {"code": "clock_behind", "title": "The clock is behind.", "severe": True, "text": "By a year.",
                 "count": 1, "try": ["timedatectl status"]}]}
            other.page.route("**/v1/overview", lambda route: route.fulfill(json=overview))
            other.sign_in()
            read("clock", other)
            for line in window.log + other.log:
                check("Failed to load resource" in line, "the browser's log:", line)
            for one in (window, other):
                one.context.close()
        finally:
            relay.process.kill()
            relay.process.communicate(timeout=30)


PIXELS = """async pictures => {
    const [home, app] = await Promise.all(pictures.map(async picture => {
        const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + picture)).blob());
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    }));
    const count = home.width * home.height, black = {};
    let differ = 0;
    for (let index = 0; index < count; index += 1) {
        const [one, other] = [home, app].map(({ data }) => data.slice(4 * index, 4 * index + 3));
        if (one.some((value, part) => value !== other[part])) differ += 1;
        const [x, y] = [index % home.width, Math.floor(index / home.width)];
        const halves = [x < home.width / 2 ? 'left' : 'right', y < home.height / 2 ? 'top' : 'bottom'];
        for (const [name, pixel] of [['home', one], ['app', other]]) {
            if (Math.max(...pixel) > 24) continue;
            for (const half of halves) black[`${name} ${half}`] = (black[`${name} ${half}`] ?? 0) + 2 / count;
        }
    }
    return { differ: differ / count, black };
}"""


def framed(browser, program, folder):
    """Where the app is a window, the Home Screen is another picture, and no half of a glass is black."""
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data:
        relay = Relay(program, data, folder, ["--scenario", "window"])
        try:
            window = Window(browser, relay)
            window.sign_in()
            window.open("phones", "Phones")

            def pictures(presence):
                until(window.page, """presence => document.querySelectorAll(
                    `[data-presence=${presence}] .inapp[data-window=true]`).length === 3""", presence)
                window.page.wait_for_timeout(400)
                return [base64.b64encode(one.screenshot()).decode()
                        for one in window.page.locator(".phone:not(.pad) .glass").all()]

            homes = pictures("background")
            for number in (1, 2, 3):
                relay.call("POST", f"/v1/phones/phone-{number}", {"do": "front"})
            reader = browser.new_page()
            for number, pair in enumerate(zip(homes, pictures("active")), start=1):
                pixels = reader.evaluate(PIXELS, pair)
                check(pixels["differ"] >= 0.05, f"phone-{number}: Home Screen and app are one picture", pixels)
                check(max(pixels["black"].values(), default=0) < 0.5, f"phone-{number}: black", pixels["black"])
            reader.close()
            window.quiet("the scenario window")
            window.context.close()
        finally:
            relay.end()


CUT = """() => {
    const box = document.querySelector('#cut'), main = getComputedStyle(document.querySelector('main'));
    return { seen: Boolean(box.offsetParent), wide: box.offsetWidth === document.documentElement.clientWidth,
        words: box.textContent, age: parseFloat((/is ([0-9.]+) s old/.exec(box.textContent) ?? [])[1]),
        grey: main.filter, marked: document.title.startsWith('⚠ Cut off · '),
        icon: document.querySelector('link[rel=icon]').href.startsWith('data:image/svg+xml,') }
}"""


def cut_off(browser, program, folder):
    """Of a relay that hangs or is dead the console says so, and how old is what it shows."""
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data:
        relay = Relay(program, data, folder)
        try:
            for width in (1360, 390):
                window = Window(browser, relay, width)
                window.sign_in()
                # A screen that asks for nothing by itself.
                window.open("types", "Types")
                page = window.page
                check(not page.evaluate(CUT)["seen"], "cut off from a relay that answers")
                relay.process.send_signal(signal.SIGSTOP)
                until(page, "() => !document.querySelector('#cut').hidden")
                window.axe("cut off")
                relay.process.send_signal(signal.SIGCONT)
                until(page, "() => document.querySelector('#cut').hidden")
                shown = page.evaluate(CUT)
                check(not shown["marked"] and not shown["icon"] and shown["grey"] == "none", shown)
                window.quiet("a relay that hung")
                if width == 1360:
                    window.context.close()
            relay.process.kill()
            until(page, "() => !document.querySelector('#cut').hidden")
            shown = page.evaluate(CUT)
            check(shown["seen"] and shown["wide"] and shown["marked"] and shown["icon"]
                  and shown["grey"] != "none" and "has not answered since" in shown["words"], shown)
            until(page, "age => parseFloat(/is ([0-9.]+) s old/.exec(document.querySelector('#cut').textContent)[1]) > age",
                  shown["age"])
            window.open("overview", "Overview")
            check(page.evaluate(CUT)["marked"], "the title of another screen is not marked")
            page.get_by_role("button", name="Sign out").click()
            page.wait_for_selector("#key")
            check(page.title() == "Sign in · Tombolo", page.title())
            window.context.close()
        finally:
            relay.process.kill()
            relay.process.communicate(timeout=30)


def opened_away(browser, relay):
    """A screen that is opened while the relay is away is read when it answers again."""
    window = Window(browser, relay)
    window.sign_in()
    page = window.page
    for path, title in (("types", "Types"), ("overview", "Overview"), ("activity/order-17", "order-17")):
        window.open("pacing", "Pauses")
        window.context.set_offline(True)
        page.evaluate("path => { location.hash = '#/' + path }", path)
        if path == "overview":
            until(page, "() => document.querySelector('main h1').textContent === 'Overview'")
            page.wait_for_timeout(1500)
            check(not page.is_visible(".state"), "nothing needs attention of a relay that is away")
        else:
            page.wait_for_selector("main .notice.bad")
        window.context.set_offline(False)
        until(page, """title => document.querySelector('main h1')?.textContent.startsWith(title)
            && !document.querySelector('main .notice.bad')
            && (title !== 'Overview' || [...document.querySelectorAll('.state')].some(one => one.offsetParent))""",
              title)
    check(all("ERR_INTERNET_DISCONNECTED" in line for line in window.log), window.log[:5])
    window.context.close()


def photographs(browser, relay, runner, folder):
    for name, width, height, scheme in (
            ("light", 1360, 900, "light"), ("dark", 1360, 900, "dark"), ("narrow", 390, 844, "light")):
        window = Window(browser, relay, width, height, scheme)
        window.page.goto(relay.console)
        window.page.wait_for_selector("#key")
        window.page.screenshot(path=os.path.join(folder, f"signin-{name}.png"))
        window.sign_in()
        for screen, path, title in screens(relay, runner):
            window.open(path, title)
            window.page.wait_for_timeout(2500 if screen == "overview" else 1200)
            wide = window.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, screen, name, "is", wide, "pixels too wide")
            window.page.screenshot(
                path=os.path.join(folder, f"{screen}-{name}.png"), full_page=True)
            if screen == "phones":
                deed(window.page, "phone-1", "Lock")
                window.page.wait_for_timeout(700)
                window.page.screenshot(
                    path=os.path.join(folder, f"locked-{name}.png"), full_page=True)
                deed(window.page, "phone-1", "Unlock")
        window.context.close()


def small():
    """All files of the console, each under gzip, are small."""
    folder = os.path.join(os.path.dirname(__file__), "../../Sources/CConsoleAssets/console")
    sizes = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            sizes[name] = len(gzip.compress(file.read()))
    check(sum(sizes.values()) <= GZIP_MAX, "the files are too large:", sum(sizes.values()), sizes)


def first_screen(browser, relay):
    """The files that go over the wire until somebody who signs in sees what needs attention."""
    window = Window(browser, relay)
    urls, sizes = {}, []
    wire = window.context.new_cdp_session(window.page)
    wire.send("Network.enable")
    wire.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
    wire.on("Network.loadingFinished", lambda event: sizes.append(
        event["encodedDataLength"] if "/console/" in urls.get(event["requestId"], "") else 0))
    window.sign_in()
    window.page.wait_for_timeout(1000)
    check(len(sizes) > 9 and sum(sizes) <= FIRST_SCREEN_MAX, "the first screen is too large:", sum(sizes))
    window.context.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--photographs", metavar="DIR")
    parser.add_argument("--console-dir", metavar="DIR", help="the console's files, while working on them")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    check(chromium, "there is no chromium on the path")
    small()
    with tempfile.TemporaryDirectory(prefix="tombolo-console.") as data, sync_playwright() as player:
        relay = Relay(options.program, data, options.console_dir)
        try:
            runner = relay.fill()
            # Its sandbox needs rights that a build machine does not give.
            browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            window = Window(browser, relay)
            window.page.goto(relay.console)
            window.page.wait_for_selector("#key")
            window.axe("sign-in")
            window.sign_in()
            walk(window, runner)
            moving(window, runner)
            why(window)
            filtered(window)
            timed(window)
            lanes(window)
            attended(window)
            enemy(window)
            followed(window)
            spelled(window)
            broadcast(window)
            touched(window)
            wall(window)
            widgets(window)
            timelines(window)
            pressed(window)
            apps(window)
            looks(window)
            hour(window)
            searched(window)
            sought(window)
            answered(window)
            restarted(window)
            window.context.close()
            for width, scheme in ((1360, "dark"), (390, "light")):
                other = Window(browser, relay, width, 844, scheme)
                other.sign_in()
                walk(other, runner)
                wide = other.page.evaluate("document.documentElement.scrollWidth - innerWidth")
                check(wide <= 0, "at", width, "pixels it is", wide, "too wide")
                other.open("phones", "Phones")
                other.page.locator(".glass .cardbox").first.wait_for(state="attached")
                fits(other, f"the wall at {width} pixels")
                other.context.close()
            observer(browser, relay)
            handed_over(browser, relay)
            eight_tabs(browser, relay)
            healthy(browser, relay)
            if not options.console_dir:
                first_screen(browser, relay)
            opened_away(browser, relay)
            cut_off(browser, options.program, options.console_dir)
            states(browser, options.program, options.console_dir)
            begins(browser, options.program, options.console_dir)
            framed(browser, options.program, options.console_dir)
            if options.photographs:
                os.makedirs(options.photographs, exist_ok=True)
                photographs(browser, relay, runner, options.photographs)
            browser.close()
        finally:
            relay.end()
        check(relay.process.returncode == 0, "dev ended with", relay.process.returncode)
    print("console: each screen, light, dark and 390 pixels wide; the log is empty, axe finds nothing")


if __name__ == "__main__":
    main()
