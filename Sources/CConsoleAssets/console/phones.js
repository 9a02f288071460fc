// The phone wall of `tombolo dev`: simulated phones that one can touch. Each is a client of the API.

import { get, poll, post, put, segment, session } from "./api.js";
import {
    badge, brief, count, empty, fill, h, link, say, setText, toCard, toDevice,
} from "./dom.js";
import { AppPage, Gallery, WidgetView, isLive, keyed } from "./board.js";
import { timelines as known } from "./page.js";
import { Face, Intents, Movement, frames } from "./island.js";
import { previews, readTypes } from "./picture.js";
import { sample, setting } from "./clips.js";
import { pictures } from "./first.js";
import { waiting } from "./overview.js";
import { isOnLockScreen } from "./widget.js";

export async function phones(root, { signal }) {
    const wall = h("div.wall");
    const kinds = h("datalist", { id: "kinds" });
    const views = new Map();
    const deeds = new Deeds(views);
    const stage = new Stage(views, () => again());
    fill(root, h("div.wallhead", {}, h("h1", {}, "Phones"), deeds.element), stage.element, kinds, wall,
        h("p.hint", {}, "Simulated phones, on a strict simulator of Apple's service. Press an island, swipe "
            + "a card, tap a widget or its button, lock a phone, open its app: the relay learns of it as it "
            + "would of a real one. ",
        link("#/overview", "See what needs attention"), "."));
    const hear = ({ phones: all, scenarios = [] }) => {
        stage.hear(scenarios);
        if (all.length === 0) fill(wall, empty("There are no phones: tombolo dev --phones 3"));
        for (const phone of all) {
            let view = views.get(phone.phone);
            if (!view) {
                view = new PhoneView(phone, again, (one) => deeds.choose(one));
                views.set(phone.phone, view);
                wall.append(view.element);
            }
            view.hear(phone);
        }
        deeds.show();
    };
    const again = poll(80, signal, async () => hear(await get("/v1/phones", {}, signal)));
    poll(3000, signal, readTypes);
    known.again = poll(5000, signal, async () => {
        const { timelines } = await get("/v1/timelines", { limit: 100 }, signal);
        known.rows = timelines;
        const names = [...new Set(timelines.map((row) => row.kind))];
        fill(kinds, names.map((name) => h("option", { value: brief(name, 128) })));
        keyed.clear();
        for (const { kind, subject } of timelines) if ("key" in subject) keyed.add(kind);
    });
    poll(1000, signal, async () => {
        const [budgets, { activities }] = await Promise.all([get("/v1/budgets", { limit: 200 }, signal),
            get("/v1/activities", { status: "active", limit: 100 }, signal)]);
        const lab = [...views.values()].find(({ phone }) => phone.class === "lab");
        for (const [name, view] of views) {
            view.budget(budgets.destinations.filter((row) => row.device === name));
            view.pace(budgets.classes, activities, lab && lab !== view ? () => deeds.go(lab) : null);
        }
    });
    frames(signal, (now) => { for (const view of views.values()) view.draw(now); });
}

/** The scenarios of `dev`: a press starts or stops one. Its words say what one sees, and what to press. */
class Stage {
    constructor(views, again) {
        [this.views, this.again] = [views, again];
        this.buttons = h("div.scenarios", { role: "group", "aria-label": "Scenarios" });
        this.words = h("p.hint", { role: "status" });
        this.element = h("div.stage", { hidden: true }, this.buttons, this.words);
    }

    hear(rows) {
        const shown = JSON.stringify(rows);
        if (this.shown === shown) return;
        this.shown = shown;
        this.element.hidden = rows.length === 0;
        if (this.buttons.children.length !== rows.length) {
            fill(this.buttons, rows.map(({ scenario }) => h("button", { type: "button", "data-scenario": scenario,
                onclick: (event) => this.set(scenario, event.currentTarget.getAttribute("aria-pressed") !== "true") },
            h("span", { "aria-hidden": "true" }, pictures[scenario] ?? "▶"), ` ${brief(scenario)}`)));
        }
        for (const [index, { runs }] of rows.entries()) this.buttons.children[index].setAttribute("aria-pressed", runs);
        setText(this.words, rows.filter(({ runs, trouble }) => runs || trouble).map(({ scenario, words, trouble }) =>
            `${scenario}: ${trouble ?? words.join(" ")}`).join(" · ") || "Press a scenario: its producer starts on these phones.");
    }

    async set(scenario, runs) {
        try {
            await put(`/v1/scenarios/${segment(scenario)}`, { runs });
            // A phone without an island shows its card on the Lock Screen only.
            const isOfCards = ["runner", "radial"].includes(scenario);
            for (const view of this.views.values()) {
                if (runs && isOfCards && !view.isPad && !view.hasIsland) view.do("lock");
            }
            this.again();
        } catch (error) {
            say(error.message, "bad");
        }
    }
}

/** Deeds and their ways back: whether it is done, the words, and when it can be done. */
const bar = [
    { is: (now) => now.locked, words: ["Lock", "Unlock"], deeds: ["lock", "unlock"] },
    { is: (now) => now.presence !== "background", words: ["Open app", "Leave app"],
        deeds: ["front", "back"], can: (now) => !now.locked },
    { is: (now) => now.presence === "covered", words: ["Control Center", "Close the Center"],
        deeds: ["control-center", "front"], can: (now) => ["active", "covered"].includes(now.presence) },
    { is: (now) => now.presence === "inactive", words: ["Switcher", "Close switcher"],
        deeds: ["switcher", "front"], can: (now) => ["active", "inactive"].includes(now.presence) },
    { is: (now) => !now.online, words: ["Go offline", "Go online"], deeds: ["offline", "online"] },
    { is: (now) => now.terminated, words: ["Close app", "Launch app"], deeds: ["terminate", "launch"] },
];

/** One bar for the phone that was touched last: what a user does to all of a phone. */
class Deeds {
    constructor(views) {
        this.views = views;
        this.names = h("div.names");
        this.buttons = bar.map(({ is, deeds }) => h("button", { type: "button",
            onclick: () => this.chosen.do(deeds[Number(is(this.chosen.phone))]) }));
        this.edit = h("button", { type: "button", onclick: () => this.chosen.edit(!this.chosen.isEditing) });
        this.all = h("button", { type: "button", hidden: true, onclick: () => this.turnAll() }, "Turn all");
        this.element = h("div.deeds", { role: "group" }, this.names, this.all, this.buttons, this.edit);
    }

    choose(view) {
        if (this.chosen === view) return;
        this.chosen?.element.removeAttribute("data-chosen");
        this.chosen = view;
        view.element.dataset.chosen = true;
        this.show();
    }

    /** The live cards with avatars, of all phones: [view, card]. */
    get circles() {
        return [...this.views.values()].flatMap((view) => view.phone.cards.filter((card) => isLive(card)
            && previews.types?.get(card.type)?.preview?.radial && previews.buttonsOf(card.type).length > 0)
            .map((card) => [view, card]));
    }

    turnAll() {
        for (const [view, card] of this.circles) {
            view.tapCard(card, { intent: previews.buttonsOf(card.type)[0].name });
        }
    }

    go(view) {
        this.choose(view);
        view.glass.parentElement.scrollIntoView({ block: "nearest" });
    }

    show() {
        const names = [...this.views.keys()];
        if (names.length === 0) return;
        if (!this.chosen) this.choose(this.views.get(names[0]));
        const { phone, name, isPad, isEditing } = this.chosen;
        if (this.names.children.length !== names.length) {
            fill(this.names, names.map((one) => h("button", { type: "button", onclick: () => {
                this.go(this.views.get(one));
            } }, one)));
        }
        for (const one of this.names.children) one.setAttribute("aria-pressed", one.textContent === name);
        this.element.setAttribute("aria-label", name);
        for (const [index, { is, words, can }] of bar.entries()) {
            setText(this.buttons[index], words[Number(is(phone))]);
            this.buttons[index].disabled = can?.(phone) === false;
        }
        this.buttons[2].hidden = isPad;
        this.all.hidden = this.circles.length < 2;
        setText(this.edit, isEditing ? "Done" : "Edit");
    }
}

/** A pull at the edge of the Control Center opens it after so many pixels. */
const PULL = 40;
const EDGE_TITLE = "Control Center: with the app in front, pull it from here";

/** Whether a place of the glass, in points, is at the edge of the Control Center. */
const isAtEdge = (phone, { x, y }) => phone.control_center === "bottom" ? y >= 0.9 * phone.height
    : y <= 0.1 * phone.height && x >= 0.5 * phone.width;

/** What was touched last, and what became of it, are seen for so long, in milliseconds. */
const VERDICT = 10000;

class PhoneView {
    constructor(phone, again, choose) {
        this.phone = phone;
        this.name = phone.phone;
        this.again = again;
        this.isPad = phone.idiom === "pad";
        this.cards = new Map();
        this.widgets = new Map();
        this.isOpen = false;
        this.badges = h("span.badges");
        // A phone whose Control Center is at the bottom has a home button, and no island.
        const hasButton = !this.isPad && phone.control_center === "bottom";
        this.hasIsland = !this.isPad && !hasButton;
        this.face = new Face(["compact"]);
        this.big = new Face(["expanded"]);
        this.island = h("button.islandbutton", { type: "button", onclick: () => this.pressIsland() },
            this.face.element, this.big.element);
        this.intents = new Intents((intent, parameters) => this.tapCard(this.top, { intent, parameters }));
        this.islandBox = h("div.islandbox", {}, this.island, this.intents.element);
        this.clock = h("span.clock");
        this.signal = h("span.signal");
        this.list = h("div.live");
        this.ended = h("summary");
        this.over = h("div.over");
        this.overBox = h("details.ended", {}, this.ended, this.over);
        this.bigClock = h("div.bigclock", { "aria-hidden": "true" });
        this.app = h("button.appicon", { type: "button", onclick: () => this.do("front"),
            "aria-label": "Open the app" }, h("img", { src: "icon.svg", alt: "", width: 52, height: 52 }),
        h("span", {}, "Example"));
        this.appPage = new AppPage(this);
        this.center = h("div.controlcenter", {}, h("span"), h("span"), h("span"), h("span"));
        this.home = h(hasButton ? "button.homebutton" : "button.homebar", { type: "button",
            "aria-label": "Leave the app", onclick: () => this.do("back") });
        this.statusBar = h("div.statusbar", {}, this.clock, this.signal);
        this.inline = h("div.accessories");
        this.accessories = h("div.accessories");
        this.lockScreen = h("div.lockscreen", {}, this.inline, this.bigClock, this.accessories,
            !this.isPad && h("div.cards", {}, this.list, this.overBox));
        this.homeScreen = h("div.widgets", {}, this.app);
        this.glass = h("div.glass", { "data-edge": this.isPad ? null : phone.control_center },
            this.statusBar, this.hasIsland && this.islandBox, this.lockScreen, this.homeScreen,
            this.appPage.element, this.center, !this.isPad && h("div.edge", { title: EDGE_TITLE }),
            !hasButton && this.home);
        if (!this.isPad) this.hearTouches();
        this.meter = h("meter", { min: 0, max: 1, low: 0.2, value: 1, hidden: true,
            "aria-label": `Pushes left this hour on ${this.name}, estimated` });
        this.verdict = h("p.verdict", { role: "status" });
        this.slow = h("span");
        this.toLab = h("button.small", { type: "button", onclick: () => this.goToLab() }, "See it in lab");
        this.samples = [];
        this.words = h("p.hint");
        this.counts = h("p.hint");
        this.gallery = new Gallery(this);
        this.element = h(`section.phone${this.isPad ? ".pad" : ""}`, { "aria-label": this.name,
            onpointerdown: () => choose(this), onfocusin: () => choose(this),
            onkeydown: (event) => { if (event.key === "Escape" && this.isOpen) this.open(false); } },
        h("h2", {}, toDevice(this.name), " ", h("span.kind", {}, `${phone.class} · iOS ${phone.os}`), " ", this.badges),
        h("div.body", {}, this.glass, hasButton && this.home), this.verdict,
        h("div.side", {}, this.gallery.form, this.gallery.element, this.meter,
            !this.isPad && h("p.hint.pace", {}, this.slow, " ", this.toLab), !this.isPad && this.words, this.counts));
        this.edit(false);
    }

    /** While one edits, widgets and cards have their captions, and widgets are added and removed. */
    edit(isEditing) {
        this.isEditing = isEditing;
        this.element.dataset.editing = isEditing;
        this.gallery.form.hidden = !isEditing;
        this.again?.();
    }

    /** This phone's clock may be ahead of the relay's: a page of its app has let it go on. */
    now() {
        return session.now() + (this.ahead ?? 0);
    }

    /** What a widget of a kind shows by this phone's clock; null while it is not ahead. */
    entryOf(kind) {
        if (this.entries?.kind !== kind) return null;
        return this.entries.all.findLast(({ date }) => date <= this.now())?.content ?? null;
    }

    /** `more`: other members of the deed. */
    async do(deed, more = {}) {
        try {
            const phone = await post(`/v1/phones/${segment(this.name)}`, { do: deed, ...more });
            this.hear(phone);
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
            if (event.button !== 0
                || event.target.closest("button, a, select, label, summary, .cardbox, .widgetbox")) return;
            if (this.isOpen) this.open(false);
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

    /** A press opens the island; one on the open island is a tap on its card, which opens the app. */
    pressIsland() {
        if (this.isOpen) this.tapCard(this.top);
        else this.open(true);
    }

    open(isOpen) {
        this.isOpen = isOpen;
        this.show();
    }

    tapCard(card, more) {
        if (card?.activity) this.do("tap", { activity: card.activity, ...more });
        else say("This card has no id of the relay, so nothing can be done to it by name.", "bad");
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
        const second = Math.floor(session.now() / 1000);
        if (this.samples.at(-1)?.second !== second) this.samples.push({ second, drawn: phone.drawn });
        while (this.samples[0].second < second - 60) this.samples.shift();
        // All cards are of one app. The island does not show them while it is in front, or the phone is locked.
        const isInFront = ["active", "covered"].includes(phone.presence);
        this.top = this.hasIsland && !isInFront && !phone.locked ? phone.cards.findLast(isLive) ?? null : null;
        if (!this.top) this.isOpen = false;
        this.appPage.hear(phone);
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
                if (!isOnLockScreen(widget.family)) this.app.before(view.element);
                else (widget.family === "accessoryInline" ? this.inline : this.accessories).append(view.element);
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
        const views = [...this.cards.values()].sort((one, other) => other.card.card - one.card.card);
        for (const [list, isHere] of [[this.list, true], [this.over, false]]) {
            for (const [index, { element }] of views.filter(({ card }) => isLive(card) === isHere).entries()) {
                const there = list.children[index] ?? null;
                if (there !== element) list.insertBefore(element, there);
            }
        }
        this.overBox.hidden = this.over.children.length === 0;
        setText(this.ended, `${this.over.children.length} ended`);
    }

    show() {
        const { phone } = this;
        const isFresh = phone.tap && session.now() - Date.parse(phone.tap.at) < VERDICT;
        const stamp = [phone.locked, phone.presence, phone.online, phone.terminated, this.isOpen,
            phone.status_bar, this.top?.card, phone.class, phone.budget?.holds, isFresh,
            phone.trouble, phone.tap?.result, phone.tap?.at, Boolean(previews.types)].join();
        setText(this.counts, `drawn ${count(phone.drawn)} · ignored ${count(phone.ignored)} · widgets `
            + `reloaded ${count(phone.reloads.widget ?? 0)}${phone.budget && !this.isPad
                ? ` · the phone's own budget: ${phone.budget.left} of ${phone.budget.of}` : ""}`);
        if (this.stamp === stamp) return;
        this.stamp = stamp;
        this.glass.dataset.locked = phone.locked;
        this.glass.dataset.presence = phone.presence;
        this.glass.dataset.open = this.isOpen;
        this.element.dataset.offline = !phone.online;
        this.island.disabled = this.top === null;
        this.island.setAttribute("aria-expanded", this.isOpen);
        this.big.element.hidden = !this.isOpen;
        this.face.element.hidden = this.isOpen;
        this.statusBar.hidden = !phone.status_bar && phone.presence !== "background";
        setText(this.signal, phone.online ? "5G" : "offline");
        fill(this.badges, !phone.online && badge("offline", "warn"), phone.terminated && badge("app closed", "warn"),
            phone.budget?.holds && badge("over budget", "warn"),
            ...phone.trouble.map((kind) => badge(kind, "warn")));
        setText(this.verdict, isFresh ? verdictOf(phone.tap, phone) : "");
        this.verdict.dataset.result = isFresh ? phone.tap.result : "";
        const { activeElement: focus } = document;
        this.home.disabled = phone.presence === "background";
        // What had the focus may be gone from the glass.
        if (this.element.contains(focus) && (focus.disabled || focus.offsetParent === null)) {
            (this.home.disabled ? this.app : this.home).focus({ preventScroll: true });
        }
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
        const waits = this.phone.cards.filter(isLive).length;
        setText(this.words, `${waits > 0 && !this.hasIsland && !this.phone.locked
            ? `${waits === 1 ? "a card is" : `${waits} cards are`} on its Lock Screen · ` : ""}budget: ${left}${row?.waiting ? ` · ${waiting(row.waiting)}` : ""}`);
    }

    /** What the phone's class allows, what it draws now, and who slows it. */
    pace(classes, activities, goToLab) {
        const { low_priority_spacing: spacing } = classes.find((one) => one.class === this.phone.class) ?? {};
        const ways = activities.filter(({ clips }) => clips.some(({ playing }) => playing))
            .flatMap(({ destinations }) => destinations).filter(({ device, phase }) => device === this.name && phase === "live");
        const last = this.samples.at(-1);
        const isQuick = spacing === "0s";
        const isSlowed = !isQuick && ways.some(({ frames }) => frames.skipped_by?.slowed > 0);
        const first = this.samples.find(({ second }) => second >= last.second - (isQuick ? 10 : 60)) ?? last;
        const time = Math.max(1, last.second - first.second);
        const drawn = last.drawn - first.drawn;
        const now = ways.length === 0 ? "" : drawn > time ? `; ${Math.round(drawn / time)} a second now`
            : `; ${drawn} in the last ${time < 60 ? `${time} s` : "minute"}`;
        setText(this.slow, !spacing ? "" : `${this.phone.class}: ${spacing === "0s" ? "every picture" : `1 picture each ${spacing}`}${
            now}${isSlowed ? "; the relay slows the animation" : ""}`);
        this.goToLab = goToLab;
        this.toLab.hidden = !isSlowed || !goToLab;
    }

    draw(now) {
        for (const view of this.cards.values()) view.draw(now);
        const state = this.top ? playing(this.top.drawn_state, now) : {};
        const how = { now, type: this.top?.type, movement: this.cards.get(this.top?.card)?.movement };
        this.face.draw(state, { ...how, label: `${this.name}, Dynamic Island` });
        if (this.isOpen) this.big.draw(state, { ...how, label: `${this.name}, expanded` });
        this.intents.draw(state, this.isOpen ? this.top?.type : null);
        for (const view of this.widgets.values()) view.draw();
        this.gallery.draw();
        this.appPage.draw(now);
        const here = now + (this.ahead ?? 0);
        const minute = Math.floor(here / 60000);
        if (this.minute !== minute) {
            this.minute = minute;
            const words = new Intl.DateTimeFormat(undefined, { timeStyle: "short", hour12: false,
                ...this.ahead && { dateStyle: "short", timeZone: this.zone } }).format(here);
            setText(this.clock, words);
            setText(this.bigClock, words);
        }
    }
}

/** What was touched last, and what the relay said to it. */
function verdictOf({ result, reason, intent, link, activity, widget }, { presence }) {
    const button = intent && [...previews.buttons?.values() ?? []].flat().find(({ name }) => name === intent);
    const what = intent ? brief(button?.title ?? intent) : `Tap on ${brief(link ?? activity ?? widget, 40)}`;
    if (result === "waiting") return `${what}: on its way to the relay`;
    if (result !== "sent") return `${what}: not sent, ${brief(reason ?? "no reason", 80)}`;
    return `${what}: ${intent || presence !== "active" ? "the relay has it" : "the app is open"}`;
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

/** A card on the Lock Screen: a tap opens the app, a swipe to the left dismisses it, "Allow" gives the token. */
class CardView {
    constructor(phone, card) {
        this.phone = phone;
        this.movement = new Movement();
        this.face = new Face(["lock"]);
        this.alert = h("p.alert");
        const name = card.activity ?? "the card";
        this.allow = h("button", { type: "button", onclick: () => this.act("allow") }, "Allow");
        // A pointer taps by itself: one that has moved swipes.
        this.tap = h("button.cardtap", { type: "button", "aria-label": `Tap ${name}`,
            onclick: (event) => { if (event.detail === 0) this.act("tap"); } });
        this.intents = new Intents((intent, parameters) =>
            this.phone.tapCard(this.card, { intent, parameters }));
        this.surface = h("div.cardface", {}, this.face.element, this.tap, this.intents.element);
        this.element = h("div.cardbox", {}, this.alert, this.surface,
            h("div.cardbuttons", {}, card.activity ? toCard(card.activity) : "no id", this.allow,
                h("button.swipe", { type: "button", onclick: () => this.act("swipe"),
                    "aria-label": `Swipe ${name} away` }, "Swipe away")));
        this.drag();
    }

    hear(card) {
        this.card = card;
        setText(this.alert, card.alert ? brief(card.alert, 120) : "");
        this.alert.title = this.alert.textContent;
        this.allow.hidden = !card.waits_for_allow;
        this.element.dataset.waits = card.waits_for_allow;
        this.element.dataset.phase = card.phase;
    }

    act(deed) {
        const turn = previews.types?.get(this.card?.type)?.preview?.radial && isLive(this.card)
            && previews.buttonsOf(this.card.type)[0];
        if (deed === "tap") this.phone.tapCard(this.card, turn ? { intent: turn.name } : undefined);
        else if (this.card?.activity) this.phone.do(deed, { activity: this.card.activity });
        else say("This card has no id of the relay, so nothing can be done to it by name.", "bad");
    }

    draw(now) {
        const state = playing(this.card.drawn_state, now);
        this.face.draw(state, { now, type: this.card.type, movement: this.movement,
            label: `${this.phone.name}, Lock Screen` });
        this.intents.draw(state, isLive(this.card) ? this.card.type : null);
    }

    drag() {
        const { surface } = this;
        let start = null;
        this.tap.addEventListener("pointerdown", (event) => {
            start = event.clientX;
            this.tap.setPointerCapture(event.pointerId);
        });
        this.tap.addEventListener("pointermove", (event) => {
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
        this.tap.addEventListener("pointerup", end);
        this.tap.addEventListener("pointercancel", end);
    }
}
