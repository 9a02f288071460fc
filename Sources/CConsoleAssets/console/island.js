// A Live Activity as a phone draws it: Dynamic Island compact, minimal and expanded, Lock Screen.

import { duration, fill, h, setText } from "./dom.js";
import { spring } from "./clips.js";
import { Art, parametersOf, places, previews } from "./picture.js";

/** The surfaces of one state, drawn again whenever the state is another. */
export class Face {
    /** surfaces: some of "compact", "minimal", "expanded", "lock". */
    constructor(surfaces = ["compact", "minimal", "expanded", "lock"]) {
        this.parts = surfaces.map((name) => new parts[name]());
        this.element = h("div.face", {}, this.parts.map((part) => part.element));
        this.element.setAttribute("role", "img");
    }

    /** With a `movement` avatars move from state to state. */
    draw(state, { type, now = Date.now(), label = "", movement } = {}) {
        const drawn = previews.model(state, type);
        if (movement) drawn.art = movement.at(drawn.art, state, now);
        this.art = drawn.art;
        if (drawn.until) drawn.timer = timer(drawn.until - now);
        for (const part of this.parts) part.draw(drawn);
        if (this.tint !== drawn.tint) {
            this.tint = drawn.tint;
            this.element.style.setProperty("--tint", drawn.tint);
        }
        const words = [label, drawn.title, drawn.subtitle, drawn.timer,
            drawn.icon?.value, drawn.art && { image: "a picture", radial: "avatars on a circle", window: "a window" }[
                drawn.art.kind]].filter(Boolean).join(", ") || "an empty card";
        if (this.words !== words) {
            this.words = words;
            this.element.setAttribute("aria-label", words);
        }
    }
}

function timer(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    if (seconds >= 7200) return duration(seconds);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const SHORT = 9;

class Compact {
    constructor() {
        this.art = new Art();
        this.lead = h("span.lead", {}, this.art.element);
        this.trail = h("span.trail");
        this.element = h("div.island.compact", { title: "Dynamic Island, compact" },
            this.lead, h("span.camera"), this.trail);
    }

    draw(drawn) {
        this.art.draw(drawn.icon ?? drawn.art);
        const { title, subtitle, timer } = drawn;
        // The side has room for a short word.
        const word = [subtitle, title].find((text) => text && text.length <= SHORT) ?? title;
        setText(this.trail, timer ?? (drawn.art && !drawn.icon ? "" : word));
        this.lead.classList.toggle("plainlead", !drawn.art && !drawn.icon && Boolean(title || subtitle || timer));
    }
}

class Minimal {
    constructor() {
        this.art = new Art();
        this.text = h("span.glyph");
        this.element = h("div.island.minimal", { title: "Dynamic Island, minimal" },
            this.art.element, this.text);
    }

    draw(drawn) {
        this.art.draw(drawn.icon ?? drawn.art);
        setText(this.text, drawn.icon || drawn.art ? "" : /^\d{1,3}|./su.exec(drawn.title)?.[0] ?? "");
    }
}

/** A picture, two texts and a bar. */
export class Card {
    constructor(kind, title) {
        this.art = new Art();
        this.mark = new Art();
        this.title = h("strong.title");
        this.subtitle = h("span.subtitle");
        this.timer = h("span.timer");
        this.bar = h("span.bar", {}, h("span.done"));
        this.text = h("span.text", {}, h("span.heading", {}, this.mark.element, this.title), this.subtitle, this.bar);
        this.element = h(`div.${kind}`, { title }, this.art.element, this.text, this.timer);
    }

    /** The icon is the picture where there is no other. */
    draw(drawn) {
        this.art.draw(drawn.art ?? drawn.icon);
        this.mark.draw(drawn.art && drawn.art !== drawn.icon ? drawn.icon : null);
        setText(this.title, drawn.title);
        setText(this.subtitle, drawn.subtitle);
        setText(this.timer, drawn.timer ?? "");
        this.bar.hidden = drawn.progress === null;
        this.bar.firstChild.style.width = `${Math.round((drawn.progress ?? 0) * 100)}%`;
        this.text.hidden = !drawn.title && !drawn.subtitle && drawn.progress === null;
    }
}

const parts = {
    compact: Compact,
    minimal: Minimal,
    expanded: class extends Card {
        constructor() { super("island.expanded", "Dynamic Island, expanded"); }
    },
    lock: class extends Card {
        constructor() { super("lockcard", "Lock Screen"); }
    },
};

/** The buttons of a card or a widget. `press(intent, parameters)` is called with the state that is drawn. */
export class Intents {
    constructor(press) {
        this.press = press;
        this.element = h("div.intents", { hidden: true });
    }

    draw(state, type, label = "") {
        this.state = state;
        const all = previews.buttonsOf(type, state);
        if (this.all === all && this.label === label) return;
        [this.all, this.label] = [all, label];
        const shown = JSON.stringify([all, label]);
        if (this.shown === shown) return;
        this.shown = shown;
        fill(this.element, all.map((one) => h("button.intent", { type: "button",
            "aria-label": [one.title, label].filter(Boolean).join(" "),
            onclick: () => this.press(one.name, parametersOf(one, this.state)) }, one.title)));
        this.element.hidden = all.length === 0;
    }
}

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** A phone animates a change for no longer than this, in milliseconds (Apple, "Animating state changes"). */
const MOVE_MAX = 2000;

/** A movement that takes longer than this, in milliseconds, is the only one of its turn. */
const EASED = 400;

/** The way of a card's avatars from one angle to the next, as the app of the type's `preview` draws it. */
export class Movement {
    /** The art of a state at a moment; avatars have their `places` of then. */
    at(art, state, now) {
        if (art?.kind !== "radial") {
            this.form = null;
            return art;
        }
        const form = `${art.radial.items} ${art.radial.moves}`;
        if (this.form !== form) this.begin(form, art.value, art.value, now, 0);
        if (this.to !== art.value) {
            const time = moveTime(state, art.radial, now, now - this.since);
            this.begin(form, this.shown(art.radial, now), art.value, now, time);
        }
        return { ...art, places: places(art.radial, this.from, this.to, this.part(now)) };
    }

    begin(form, from, to, now, time) {
        Object.assign(this, { form, from, to, since: now, time });
    }

    /** SwiftUI's default spring; pictures that come one after the other are on it already. */
    part(now) {
        const part = this.time > 0 ? Math.min(1, (now - this.since) / this.time) : 1;
        return part < 1 && this.time > EASED ? spring([1, 0], part) : part;
    }

    /** Where the next movement begins: an angle, or a list of places. */
    shown(radial, now) {
        return radial.moves === "places" ? places(radial, this.from, this.to, this.part(now))
            : this.from + (this.to - this.from) * this.part(now);
    }
}

/** How long a movement takes; `since`: how long ago the last one began. In milliseconds. */
function moveTime({ clip }, { moves }, now, since) {
    // A bundle says every frame itself.
    if (stillness.matches || Array.isArray(clip?.frames)) return 0;
    const time = typeof clip?.reached === "number" ? clip.reached * 1000 - now
        : moves === "places" ? MOVE_MAX : since;
    return Math.min(MOVE_MAX, Math.max(0, time));
}

/** Calls back with each frame while the signal lives; twice a second where motion is not wanted. */
export function frames(signal, act) {
    let handle = 0;
    let last = 0;
    const step = (now) => {
        if (signal.aborted) return;
        handle = requestAnimationFrame(step);
        if (now - last < (stillness.matches ? 500 : 30)) return;
        last = now;
        act(Date.now());
    };
    handle = requestAnimationFrame(step);
    signal.addEventListener("abort", () => cancelAnimationFrame(handle));
}
