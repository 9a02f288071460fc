// The phone wall of `tombolo dev`: simulated phones that one can touch. Each is a client of the API.

import { get, poll, post, segment } from "./api.js";
import {
    badge, brief, count, empty, fill, h, link, say, setText, toCard, toDevice,
} from "./dom.js";
import { Gallery, WidgetView } from "./board.js";
import { Face, Movement, frames } from "./island.js";
import { Art, readTypes } from "./picture.js";
import { sample, setting } from "./clips.js";
import { waiting } from "./overview.js";
import { isOnLockScreen } from "./widget.js";

export async function phones(root, { signal }) {
    const wall = h("div.wall");
    const kinds = h("datalist", { id: "kinds" });
    fill(root, h("h1", {}, "Phones"), kinds,
        h("p.hint", {}, "Simulated phones, on a strict simulator of Apple's service. Press an island, swipe "
            + "a card, tap a widget, lock a phone, open its app: the relay learns of it as it would of a "
            + "real one. ",
        link("#/overview", "See what needs attention"), "."), wall);
    const views = new Map();
    const hear = ({ phones: all }) => {
        if (all.length === 0) fill(wall, empty("There are no phones: tombolo dev --phones 3"));
        for (const phone of all) {
            let view = views.get(phone.phone);
            if (!view) {
                view = new PhoneView(phone, again);
                views.set(phone.phone, view);
                wall.append(view.element);
            }
            view.hear(phone);
        }
    };
    const again = poll(80, signal, async () => hear(await get("/v1/phones", {}, signal)));
    poll(3000, signal, readTypes);
    poll(5000, signal, async () => {
        const { timelines } = await get("/v1/timelines", { limit: 100 }, signal);
        const names = [...new Set(timelines.map((row) => row.kind))];
        fill(kinds, names.map((name) => h("option", { value: brief(name, 128) })));
    });
    poll(1000, signal, async () => {
        const budgets = await get("/v1/budgets", { limit: 200 }, signal);
        for (const [name, view] of views) {
            view.budget(budgets.destinations.filter((row) => row.device === name));
        }
    });
    frames(signal, (now) => { for (const view of views.values()) view.draw(now); });
}

/** A pull at the edge of the Control Center opens it after so many pixels. */
const PULL = 40;
const EDGE_TITLE = "Control Center: with the app in front, pull it from here";

/** Whether a place of the glass, in points, is at the edge of the Control Center. */
const isAtEdge = (phone, { x, y }) => phone.control_center === "bottom" ? y >= 0.9 * phone.height
    : y <= 0.1 * phone.height && x >= 0.5 * phone.width;
const isLive = (card) => card.phase === "active" || card.phase === "stale";

class PhoneView {
    constructor(phone, again) {
        this.phone = phone;
        this.name = phone.phone;
        this.again = again;
        this.isPad = phone.idiom === "pad";
        this.cards = new Map();
        this.widgets = new Map();
        this.isOpen = false;
        this.badges = h("span.badges");
        this.face = new Face(["compact"]);
        this.big = new Face(["expanded"]);
        this.island = h("button.islandbutton", { type: "button", onclick: () => this.expand() },
            this.face.element, this.big.element);
        this.clock = h("span.clock");
        this.signal = h("span.signal");
        this.list = h("div.cards");
        this.bigClock = h("div.bigclock", { "aria-hidden": "true" });
        this.app = h("button.appicon", { type: "button", onclick: () => this.do("front"),
            "aria-label": "Open the app" }, h("img", { src: "icon.svg", alt: "", width: 52, height: 52 }),
        h("span", {}, "Example"));
        this.where = h("p");
        this.window = new Art();
        this.inApp = h("div.inapp", {}, this.where, this.window.element,
            h("p.hint", {}, this.isPad ? "A pad shows widgets, and no cards."
                : "Frames wait until it is left; the state still comes."));
        this.center = h("div.controlcenter", {}, h("span"), h("span"), h("span"), h("span"));
        // A phone whose Control Center is at the bottom has a home button instead of the bar there.
        const hasButton = !this.isPad && phone.control_center === "bottom";
        this.home = h(hasButton ? "button.homebutton" : "button.homebar", { type: "button",
            "aria-label": "Leave the app", onclick: () => this.do("back") });
        this.statusBar = h("div.statusbar", {}, this.clock, this.signal);
        this.inline = h("div.accessories");
        this.accessories = h("div.accessories");
        this.lockScreen = h("div.lockscreen", {}, this.inline, this.bigClock, this.accessories);
        this.homeScreen = h("div.widgets");
        this.glass = h("div.glass", { "data-edge": this.isPad ? null : phone.control_center },
            this.statusBar, !this.isPad && this.island, this.lockScreen, this.app, this.homeScreen,
            this.inApp, this.center, !this.isPad && h("div.edge", { title: EDGE_TITLE }),
            !hasButton && this.home);
        if (!this.isPad) this.hearTouches();
        this.buttons = {};
        const button = (name, words) => {
            this.buttons[name] = h("button", { type: "button" }, words);
            return this.buttons[name];
        };
        this.meter = h("meter", { min: 0, max: 1, low: 0.2, value: 1, hidden: true,
            "aria-label": `Pushes left this hour on ${this.name}`,
            title: "Pushes left this hour, estimated" });
        this.words = h("p.hint");
        this.counts = h("p.hint");
        this.below = h("div.below", {}, h("h3", {}, "On the Lock Screen"));
        this.belowHome = h("div.belowhome", {}, h("h3", {}, "On the Home Screen"));
        this.gallery = new Gallery(this);
        this.element = h(`section.phone${this.isPad ? ".pad" : ""}`, { "aria-label": this.name },
            h("h2", {}, toDevice(this.name), " ", this.badges),
            h("div.body", {}, this.glass, hasButton && this.home),
            h("div.side", {}, h("div.controls", {}, button("lock", "Lock"), button("front", "Open app"),
                button("center", "Control Center"), button("switcher", "Switcher"),
                button("online", "Go offline"), button("app", "Close app")),
            this.below, this.belowHome, this.gallery.form, this.gallery.element,
            this.meter, !this.isPad && this.words, this.counts));
        this.buttons.center.hidden = this.isPad;
        const on = (name, deed) => this.buttons[name].addEventListener("click", () =>
            this.do(deed(this.phone)));
        on("lock", (now) => now.locked ? "unlock" : "lock");
        on("front", (now) => now.presence === "background" ? "front" : "back");
        on("center", (now) => now.presence === "covered" ? "front" : "control-center");
        on("switcher", (now) => now.presence === "inactive" ? "front" : "switcher");
        on("online", (now) => now.online ? "offline" : "online");
        on("app", (now) => now.terminated ? "launch" : "terminate");
    }

    /** `more`: other members of the deed. */
    async do(deed, more = {}) {
        try {
            const phone = await post(`/v1/phones/${segment(this.name)}`, { do: deed, ...more });
            if (deed === "control-center" && phone.presence === "active") {
                say("The status bar is hidden: the first pull shows only the handle. Pull again.");
            }
            this.again();
        } catch (error) {
            say(error.message, "bad");
        }
    }

    /**
     * A touch goes to the phone with its place. At the edge of the Control Center it waits until the
     * finger has pulled or let off: the pull itself is a touch there.
     */
    hearTouches() {
        const { glass } = this;
        let start = null;
        glass.addEventListener("pointerdown", (event) => {
            if (event.button !== 0 || event.target.closest("button, a, .cardbox, .widgetbox")) return;
            const { presence, locked } = this.phone;
            if (locked) return;
            const place = this.placeOf(event);
            if (presence === "covered" || (presence === "inactive" && event.target.closest(".inapp"))) {
                this.do("front");
            } else if (presence === "active" && isAtEdge(this.phone, place)) {
                start = { place, top: event.clientY };
                glass.setPointerCapture(event.pointerId);
            } else {
                this.do("touch", place);
            }
        });
        glass.addEventListener("pointermove", (event) => {
            if (!start) return;
            const way = event.clientY - start.top;
            if ((this.phone.control_center === "bottom" ? -way : way) < PULL) return;
            start = null;
            this.do("control-center");
        });
        const end = () => {
            if (start) this.do("touch", start.place);
            start = null;
        };
        glass.addEventListener("pointerup", end);
        glass.addEventListener("pointercancel", end);
    }

    /** Where a pointer is, in points of the phone, to a tenth; a mark shows it for a moment. */
    placeOf({ clientX, clientY }) {
        const box = this.glass.getBoundingClientRect();
        const part = (value) => Math.min(1, Math.max(0, value));
        const across = part((clientX - box.left) / box.width);
        const down = part((clientY - box.top) / box.height);
        const mark = h("span.finger");
        mark.style.left = `${across * 100}%`;
        mark.style.top = `${down * 100}%`;
        this.glass.append(mark);
        setTimeout(() => mark.remove(), 400);
        const tenths = (value) => Math.round(value * 10) / 10;
        return { x: tenths(across * this.phone.width), y: tenths(down * this.phone.height) };
    }

    expand() {
        this.isOpen = !this.isOpen;
        this.show();
    }

    hear(phone) {
        this.phone = phone;
        for (const card of phone.cards) {
            let view = this.cards.get(card.card);
            if (!view) {
                view = new CardView(this, card);
                this.cards.set(card.card, view);
            }
            view.hear(card);
        }
        const there = new Set(phone.cards.map((card) => card.card));
        for (const [number, view] of this.cards) {
            if (there.has(number)) continue;
            view.element.remove();
            this.cards.delete(number);
        }
        this.sort();
        this.hearWidgets(phone.widgets);
        this.gallery.hear(phone);
        this.top = phone.cards.findLast(isLive) ?? null;
        this.show();
    }

    hearWidgets(widgets) {
        const there = new Set();
        for (const widget of widgets) {
            const key = JSON.stringify([widget.kind, widget.family, widget.config]);
            there.add(key);
            let view = this.widgets.get(key);
            if (!view) {
                view = new WidgetView(this, widget);
                this.widgets.set(key, view);
                (!isOnLockScreen(widget.family) ? this.homeScreen
                    : widget.family === "accessoryInline" ? this.inline : this.accessories)
                    .append(view.element);
            }
            view.hear(widget);
        }
        for (const [key, view] of this.widgets) {
            if (there.has(key)) continue;
            view.element.remove();
            this.widgets.delete(key);
        }
    }

    /** Live cards first, and the newest of them. A card moves only where it must, so that it keeps the focus. */
    sort() {
        const views = [...this.cards.values()].sort((one, other) =>
            isLive(other.card) - isLive(one.card) || other.card.card - one.card.card);
        for (const [index, { element }] of views.entries()) {
            const there = this.list.children[index] ?? null;
            if (there !== element) this.list.insertBefore(element, there);
        }
    }

    show() {
        const { phone } = this;
        const stamp = [phone.locked, phone.presence, phone.online, phone.terminated, this.isOpen,
            phone.status_bar, this.top?.card, phone.cards.length, phone.class, phone.budget?.holds,
            phone.trouble, phone.tap?.result, phone.tap?.at, [...this.widgets.keys()]].join();
        setText(this.counts, `drawn ${count(phone.drawn)} · ignored ${count(phone.ignored)} · widgets `
            + `reloaded ${count(phone.reloads.widget ?? 0)}${phone.budget && !this.isPad
                ? ` · the phone's own budget: ${phone.budget.left} of ${phone.budget.of}` : ""}`);
        if (this.stamp === stamp) return;
        this.stamp = stamp;
        this.glass.dataset.locked = phone.locked;
        this.glass.dataset.presence = phone.presence;
        this.glass.dataset.open = this.isOpen && this.top !== null;
        this.element.dataset.offline = !phone.online;
        this.island.disabled = this.top === null;
        this.island.setAttribute("aria-expanded", this.isOpen);
        this.big.element.hidden = !this.isOpen || !this.top;
        this.face.element.hidden = this.isOpen && this.top !== null;
        this.statusBar.hidden = !phone.status_bar;
        const isHome = !phone.locked && phone.presence === "background";
        const has = (isLock) => phone.widgets.some(({ family }) => isOnLockScreen(family) === isLock);
        this.below.hidden = phone.locked || (phone.cards.length === 0 && !has(true));
        this.belowHome.hidden = isHome || !has(false);
        move(this.lockScreen, phone.locked ? this.glass.children[this.isPad ? 0 : 1]
            : this.below.firstChild);
        if (!this.isPad) move(this.list, this.lockScreen);
        move(this.homeScreen, isHome ? this.app : this.belowHome.firstChild);
        setText(this.where, phone.presence === "inactive" ? "The app is in the switcher."
            : "The app is in front.");
        setText(this.signal, phone.online ? "5G" : "offline");
        fill(this.badges, badge(phone.class), badge(`iOS ${phone.os}`),
            !phone.online && badge("offline", "warn"), phone.terminated && badge("app closed", "warn"),
            phone.budget?.holds && badge("over budget", "warn"),
            phone.tap?.result === "not sent" && badge(`tap not sent: ${phone.tap.reason}`, "warn"),
            ...phone.trouble.map((kind) => badge(kind, "warn")));
        setText(this.buttons.lock, phone.locked ? "Unlock" : "Lock");
        setText(this.buttons.front, phone.presence === "background" ? "Open app" : "Leave app");
        this.buttons.front.disabled = phone.locked;
        setText(this.buttons.center, phone.presence === "covered" ? "Close the Center" : "Control Center");
        this.buttons.center.disabled = !["active", "covered"].includes(phone.presence);
        setText(this.buttons.switcher, phone.presence === "inactive" ? "Close switcher" : "Switcher");
        this.buttons.switcher.disabled = !["active", "inactive"].includes(phone.presence);
        this.home.disabled = phone.presence === "background";
        setText(this.buttons.online, phone.online ? "Go offline" : "Go online");
        setText(this.buttons.app, phone.terminated ? "Launch app" : "Close app");
    }

    budget(rows) {
        const row = rows.find((one) => one.activity === this.top?.activity) ?? rows[0];
        this.meter.hidden = !row?.phone;
        if (row?.phone) {
            this.meter.max = row.phone.per_hour;
            this.meter.low = row.phone.per_hour / 5;
            this.meter.value = row.phone.left;
        }
        const left = !row ? "no activity" : row.left === null ? "no limit"
            : `now: ${count(row.left)}${row.phone ? `; this hour: ${count(row.phone.left)} of `
                + `${count(row.phone.per_hour)} left (estimated)` : ""}`;
        setText(this.words, `budget: ${left}${row?.waiting ? ` · ${waiting(row.waiting)}` : ""}`);
    }

    draw(now) {
        for (const view of this.cards.values()) view.draw(now);
        const state = this.top ? playing(this.top.drawn_state, now) : {};
        const how = { now, type: this.top?.type, movement: this.cards.get(this.top?.card)?.movement };
        this.face.draw(state, { ...how, label: `${this.name}, Dynamic Island` });
        if (this.isOpen) this.big.draw(state, { ...how, label: `${this.name}, expanded` });
        for (const view of this.widgets.values()) view.draw();
        this.gallery.draw();
        this.drawWindow();
        const minute = Math.floor(now / 60000);
        if (this.minute !== minute) {
            this.minute = minute;
            const words = new Intl.DateTimeFormat(undefined, { timeStyle: "short", hour12: false }).format(now);
            setText(this.clock, words);
            setText(this.bigClock, words);
        }
    }

    /** The app has the window of its newest live card that draws one. */
    drawWindow() {
        const views = [...this.cards.values()].filter((view) =>
            isLive(view.card) && view.face.art?.kind === "window");
        this.window.draw(views.at(-1)?.face.art ?? null);
    }
}

/** Puts an element after another one. What has the focus in it keeps it. */
function move(element, before) {
    if (before.nextSibling === element) return;
    const active = element.contains(document.activeElement) ? document.activeElement : null;
    before.after(element);
    active?.focus({ preventScroll: true });
}

/** A bundle is played by the app itself: all frames are in the state, in its member `clip`. */
function playing(state, now) {
    const clip = state?.clip;
    if (!Array.isArray(clip?.frames) || clip.frames.length === 0 || !(clip.every >= 0.001)) return state;
    const flipbook = { frames: clip.frames, every: `${clip.every}s`, loop: clip.loop };
    return setting(state, clip.path, sample({ flipbook, began: clip.began * 1000 }, now).value);
}

const SWIPE = 70;
/** A finger that moves less than this taps. */
const TOUCH = 8;

/** A card on the Lock Screen: it can be swiped away, and "Allow" gives the app its token. */
class CardView {
    constructor(phone, card) {
        this.phone = phone;
        this.movement = new Movement();
        this.face = new Face(["lock"]);
        this.alert = h("p.alert");
        this.allow = h("button", { type: "button", onclick: () => this.act("allow") }, "Allow");
        const swipe = h("button", { type: "button", onclick: () => this.act("swipe"),
            "aria-label": `Swipe ${card.activity ?? "the card"} away` }, "Swipe away");
        const tap = h("button", { type: "button", onclick: () => this.act("tap"),
            "aria-label": `Tap ${card.activity ?? "the card"}` }, "Tap");
        this.element = h("div.cardbox", {}, this.alert, this.face.element,
            h("div.cardbuttons", {}, card.activity ? toCard(card.activity) : "no id", this.allow,
                tap, swipe));
        this.drag();
    }

    hear(card) {
        this.card = card;
        setText(this.alert, card.alert ? brief(card.alert, 120) : "");
        this.alert.title = this.alert.textContent;
        this.allow.hidden = !card.waits_for_allow;
        this.element.dataset.phase = card.phase;
    }

    act(deed) {
        if (this.card?.activity) this.phone.do(deed, { activity: this.card.activity });
        else say("This card has no id of the relay, so nothing can be done to it by name.", "bad");
    }

    draw(now) {
        this.face.draw(playing(this.card.drawn_state, now), { now, type: this.card.type,
            movement: this.movement, label: `${this.phone.name}, Lock Screen` });
    }

    drag() {
        const surface = this.face.element;
        let start = null;
        surface.addEventListener("pointerdown", (event) => {
            start = event.clientX;
            surface.setPointerCapture(event.pointerId);
        });
        surface.addEventListener("pointermove", (event) => {
            if (start === null) return;
            surface.style.transform = `translateX(${Math.min(0, event.clientX - start)}px)`;
        });
        const end = (event) => {
            if (start === null) return;
            const way = event.clientX - start;
            start = null;
            surface.style.transform = "";
            if (way < -SWIPE) this.act("swipe");
            else if (event.type === "pointerup" && Math.abs(way) < TOUCH) this.act("tap");
        };
        surface.addEventListener("pointerup", end);
        surface.addEventListener("pointercancel", end);
    }
}
