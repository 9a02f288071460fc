"""The README's pictures, from the console of a real `tombolo dev`: pictures.py TOMBOLO [NAME…] [--out DIR]

A scene is a story that a producer tells, and parts of the console's screens that show it, side by side; or
it is the wall of phones with a scenario, as a window shows it. Without names it makes first-look, which the
README shows, and the five scenarios, which Protocol/scenarios.md shows. The browser draws all of it; nothing is drawn by hand. TOMBOLO_CONSOLE_DIR has other files of the console. Needs what console.py needs, and the font Inter.
"""
import argparse
import base64
import os
import shutil
import subprocess
import tempfile
import time
from typing import Callable, NamedTuple

from playwright.sync_api import sync_playwright

from console import Relay, Window, until

BYTES_MAX, WIDTH_MAX, SCALE = 300_000, 1440, 1.35
CONSOLE = os.environ.get("TOMBOLO_CONSOLE_DIR")
README = os.path.join(os.path.dirname(__file__), "../../README.md")
# The console takes the system's font; this is the system's font, here.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><include>/etc/fonts/fonts.conf</include><match target="pattern">
<test name="family" compare="not_contains"><string>mono</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match></fontconfig>"""
# The elements side by side, down to the bottom of the last one, with so many pixels around them.
BOX = """({ places, around, below }) => {
    const boxes = places.map(place => document.querySelector(place).getBoundingClientRect());
    const [x, y] = [Math.min(...boxes.map(box => box.left)), Math.min(...boxes.map(box => box.top))];
    return { x: x - around, y: y + scrollY - around,
        width: Math.max(...boxes.map(box => box.right)) - x + 2 * around,
        height: boxes.at(-1).bottom - y + around + below };
}"""
PAGE = """<style>
    body { margin: 0; background: #f4f6f8; }
    main { display: inline-flex; align-items: end; padding-right: 20px; }
    img { display: block; }
    .panel { align-self: center; margin: 20px 0; padding: 18px 20px; background: white; border: 1px solid #d5dde4; border-radius: 14px; }
</style><main>%s</main>"""


def check(condition, *words):
    if not condition:
        raise SystemExit("pictures: " + " ".join(str(word) for word in words))


class Part(NamedTuple):
    """What is cut out of a screen of so many pixels: these elements, and what is between them."""
    screen: str
    title: str
    width: int
    places: list
    around: int = 0
    below: int = 0
    frame: str = ""
    height: int = 900


class Scene(NamedTuple):
    flags: list
    play: Callable
    parts: list


class Wall(NamedTuple):
    """The whole wall with a scenario whose producer answers: what is done on the phones, and at last."""
    scenario: str
    play: Callable
    last: Callable = lambda relay: 0
    width: int = 1440
    phone: str = "phone-1"


def order(relay):
    """The README's first block, and then a change. The user of phone-1 did not tap Allow, so its card has no token."""
    do(relay, "phone-1", "lock")
    with open(README) as file:
        block = file.read().split("```sh\n")[1].split("```\n")[0]
    folder = os.path.dirname(os.path.abspath(relay.program))
    subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True, timeout=60, stdout=subprocess.DEVNULL,
                   env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "TOMBOLO_RELAY": relay.origin,
                        "TOMBOLO_KEY": relay.key})
    relay.call("PATCH", "/v1/activities/order-7", {
        "state": {"step": "On its way", "minutes": 5, "progress": 0.7}, "urgency": "high"})


def do(relay, phone, deed, **more):
    relay.call("POST", "/v1/phones/" + phone, {"do": deed, **more})


def there(relay, what, condition):
    """Waits until the phones, by name, are as the scene needs them."""
    deadline = time.monotonic() + 40
    while not condition({one["phone"]: one for one in relay.read("/v1/phones")["phones"]}):
        check(time.monotonic() < deadline, "not there:", what)
        time.sleep(0.1)


PHONES = ("phone-1", "phone-2", "phone-3")


def locked(*names):
    """These phones show their cards on the Lock Screen, and phone-1 has what its widgets show."""
    def play(relay):
        there(relay, names, lambda phones: all(phones[one]["cards"] for one in names)
              and not any(one["placeholder"] for one in phones["phone-1"]["widgets"]))
        for one in names:
            do(relay, one, "lock")
    return play


def turn(relay):
    """Every card is turned, and the picture is taken on the way."""
    time.sleep(1)
    for phone in PHONES:
        for card in relay.read("/v1/phones/" + phone)["cards"]:
            do(relay, phone, "tap", activity=card["activity"], intent="turn")
    time.sleep(0.4)


def window(relay):
    """The app in front, under the Control Center, and in the switcher."""
    there(relay, "the window", lambda phones: all(phones[one]["cards"] for one in PHONES))
    for phone in PHONES:
        do(relay, phone, "front")
    do(relay, "phone-2", "control-center")
    do(relay, "phone-3", "switcher")
    there(relay, "the app", lambda phones: [phones[one]["presence"] for one in PHONES] == ["active", "covered", "inactive"])


def profile(relay):
    """Two phones with the widget, and what its tap opens."""
    there(relay, "the widget", lambda phones: all(
        phones[one]["widgets"] and phones[one]["widgets"][0]["state"] for one in PHONES[:2]))
    kind = relay.read("/v1/phones/phone-1")["widgets"][0]["kind"]
    do(relay, "phone-2", "tap", widget=kind, family="systemMedium")


# Those that Protocol/scenarios.md shows.
FIVE = ("runner", "window", "profile", "radial", "door")
SCENES = {
    "runner": Wall("runner", locked("phone-1", "phone-3")), "runner-390": Wall("runner", locked("phone-3"), width=390, phone="phone-2"),
    "window": Wall("window", window), "window-390": Wall("window", window, width=390),
    "profile": Wall("profile", profile), "profile-390": Wall("profile", profile, width=390, phone="phone-2"),
    "radial": Wall("radial", locked(*PHONES), turn), "radial-390": Wall("radial", locked(*PHONES), turn, width=390),
    "door": Wall("door", locked("phone-2")), "door-390": Wall("door", locked("phone-1"), width=390),
    "first-look": Scene(["--phones", "1", "--phone", "phone-1.allow=never"], order, [
        Part("phones", "Phones", 660, ["[aria-label=phone-1] h2", "[aria-label=phone-1] .body"], 10, 20, height=760),
        Part("activities/order-7/why?device=phone-1", "order-7", 418,
             [".explanation .question", ".because li:nth-child(2)"], frame="panel"),
    ]),
}


def cut(browser, relay, part):
    """The part as an element of the page that shows all of them."""
    window = Window(browser, relay, part.width, part.height, scale=SCALE)
    window.sign_in()
    window.open(part.screen, part.title)
    until(window.page, "places => places.every(place => document.querySelector(place)?.offsetParent)", part.places)
    window.page.wait_for_timeout(1500)
    box = window.page.evaluate(BOX, part._asdict())
    picture = base64.b64encode(window.page.screenshot(clip=box, full_page=True)).decode()
    window.quiet(part.screen)
    window.context.close()
    return f'<div class="{part.frame}"><img width="{box["width"]}" src="data:image/png;base64,{picture}"></div>'


def photograph(program, browser, wall, file):
    """The wall as a window of this width shows it."""
    with tempfile.TemporaryDirectory(prefix="tombolo-pictures.") as data:
        relay = Relay(program, data, CONSOLE, ["--scenario", wall.scenario])
        try:
            wall.play(relay)
            small = wall.width < 600
            window = Window(browser, relay, wall.width, 844 if small else 900, scale=2 if small else 1)
            window.sign_in()
            window.open("phones", "Phones")
            until(window.page, "name => document.querySelector(`section[aria-label=${name}] .body`)?.offsetParent", wall.phone)
            if small:
                window.page.locator(f".names >> text={wall.phone}").click()
            window.page.wait_for_timeout(1500)
            wall.last(relay)
            window.page.screenshot(path=file)
            window.quiet(wall.scenario)
            window.context.close()
        finally:
            relay.end()
    weigh(file, wall.width * (2 if small else 1))


def weigh(file, width):
    if os.path.getsize(file) > BYTES_MAX:
        subprocess.run(["pngquant", "--force", "--strip", "--output", file, file], check=True)
    size = os.path.getsize(file)
    check(size <= BYTES_MAX, file, "has", size, "bytes")
    print(f"{file}: {round(width)} pixels wide, {round(size / 1000)} kB")


def make(program, browser, scene, file):
    if isinstance(scene, Wall):
        return photograph(program, browser, scene, file)
    with tempfile.TemporaryDirectory(prefix="tombolo-pictures.") as data:
        relay = Relay(program, data, CONSOLE, scene.flags)
        try:
            scene.play(relay)
            parts = [cut(browser, relay, part) for part in scene.parts]
        finally:
            relay.end()
    page = browser.new_page(device_scale_factor=SCALE, viewport={"width": 1800, "height": 900})
    page.set_content(PAGE % "".join(parts))
    page.wait_for_timeout(300)
    width = page.evaluate("document.querySelector('main').offsetWidth") * SCALE
    page.locator("main").screenshot(path=file)
    page.close()
    check(width <= WIDTH_MAX, file, "is", width, "pixels wide")
    return weigh(file, width)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", metavar="NAME", nargs="*", help="one of: " + ", ".join(SCENES))
    parser.add_argument("--out", metavar="DIR", default="Protocol/pictures")
    options = parser.parse_args()
    for name in options.names:
        check(name in SCENES, "there is no scene", name + "; there are:", *SCENES)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    check(chromium, "there is no chromium on the path")
    os.makedirs(options.out, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as fonts, sync_playwright() as player:
        fonts.write(FONTS)
        fonts.flush()
        browser = player.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], env={**os.environ, "FONTCONFIG_FILE": fonts.name})
        for name in options.names or ["first-look", *FIVE]:
            make(options.program, browser, SCENES[name], os.path.join(options.out, name + ".png"))
        browser.close()


if __name__ == "__main__":
    main()
