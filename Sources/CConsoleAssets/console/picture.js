// What a phone draws of a state: what the `preview` of its type says, else the first members as text.

import { get } from "./api.js";
import { at, between } from "./clips.js";
import { plain, s } from "./dom.js";
import { members } from "./source.js";

const PNG_BYTES_MAX = 65536;
const PNG_SIDE_MAX = 1024;

/** Reads all registered types, and learns how their states are drawn. */
export async function readTypes(signal) {
    const types = [];
    let cursor;
    do {
        const page = await get("/v1/types", { cursor }, signal);
        types.push(...page.types);
        cursor = page.next_cursor;
    } while (cursor);
    previews.learn(types);
    return types;
}

const NONE = [];

/** How the states of the registered types are drawn. */
export const previews = {
    /** Types by name; null until the relay has answered. */
    types: null,

    /** Takes the rows of GET /v1/types. Where two apps have a type of one name, the first counts. */
    learn(types) {
        this.types = new Map(types.toReversed().map((row) => [row.type, row]));
        this.buttons = new Map([...this.types.values()].map((row) => [row.type, buttonsOf(row)]));
    },

    /** The buttons of a type: [{ name, title, parameters, when }], with a state only those that it has. */
    buttonsOf(type, state) {
        const all = this.buttons?.get(type) ?? NONE;
        if (!state || !all.some(({ when }) => when)) return all;
        const shown = all.filter(({ when }) => !when || at(state, when.at) === when.is);
        return shown.length === all.length ? all : shown;
    },

    /**
     * { art, icon, title, subtitle, lines, progress, until, tint } of a state; `until` in milliseconds.
     * A member that is missing or of the wrong kind draws nothing. Only widgets have room for `lines`.
     */
    model(state, type) {
        const drawn = {
            art: null, icon: null, title: "", subtitle: "", lines: [], progress: null, until: null, tint: "",
        };
        if (!this.types || state === null || typeof state !== "object") return drawn;
        const { preview, dates } = this.types.get(type) ?? {};
        if (!preview) {
            [drawn.title = "", drawn.subtitle = "", ...drawn.lines] = listed(state);
            return drawn;
        }
        const value = (path) => isPointer(path) ? at(state, path) : undefined;
        const [done, tint] = [value(preview.progress), value(preview.tint)];
        drawn.art = artOf(preview, value);
        drawn.icon = iconOf(preview, value);
        drawn.title = text(value(preview.title)) || (drawn.art?.kind === "radial" ? ways[drawn.art.radial.moves ?? "steps"] : "");
        drawn.subtitle = text(value(preview.subtitle), preview.unit);
        if (isNumber(done) && done >= 0 && done <= 1) drawn.progress = done;
        drawn.until = moment(value(preview.timer), dates);
        if (typeof tint === "string" && /^#[0-9a-f]{6}$/i.test(tint)) drawn.tint = tint;
        return drawn;
    },
};

/** How avatars go from one angle to the next, in a word. */
const ways = { angle: "Circle", places: "Straight", steps: "Steps" };

const isPointer = (path) => typeof path === "string" && /^(\/|$)/.test(path);
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
/** A number may have a unit. */
const text = (value, unit) => isNumber(value) && typeof unit === "string"
    ? plain(unit.includes("{}") ? unit.replace("{}", value) : `${value} ${unit}`, 80)
    : typeof value === "string" || isNumber(value) ? plain(value, 80) : "";

/** An intent is a name, or an object that says the word on its button and what goes with a press. */
function buttonsOf({ intents }) {
    return (Array.isArray(intents) ? intents : []).map((one) => typeof one === "string" ? { name: one } : one)
        .filter((one) => typeof one?.name === "string")
        .map(({ name, title, parameters, when }) => ({ name, title: plain(title ?? name, 24), parameters, when }));
}

/** What goes with a press: a text that begins with "/" is a place in the drawn state. */
export const parametersOf = ({ parameters }, state) => parameters && Object.fromEntries(
    Object.entries(parameters).map(([name, value]) =>
        [name, typeof value === "string" && value.startsWith("/") ? at(state, value) : value]));

/** "name: value" of the first members; `clip` is the relay's. */
function listed(state) {
    return members(state).filter(([name]) => name !== "clip").slice(0, 8)
        .map(([name, text]) => plain(`${name}: ${text}`, 80));
}

function artOf({ image, radial, window }, value) {
    const [picture, angle, corner] = [value(image), value(radial?.angle), value(window?.corner)];
    if (typeof picture === "string" && !bitmap(picture).isBroken) {
        return { kind: "image", value: picture };
    }
    if (isNumber(angle)) return { kind: "radial", value: angle, radial };
    return isNumber(corner) ? { kind: "window", value: corner } : null;
}

/** The icon of a state: the preview names it, or a member of the state chooses it. */
function iconOf({ icon }, value) {
    const name = icon && typeof icon === "object" ? icon[typeof value(icon.at) === "boolean" ? value(icon.at) : ""] : icon;
    return typeof name === "string" && Object.hasOwn(icons, name) ? { kind: "icon", value: name } : null;
}

/** What is filled, and what is a line, in a box of 24 × 24. */
const icons = {
    lock: ["M5 11h14v10H5z", "M8 11V8a4 4 0 0 1 8 0v3"],
    "lock.open": ["M3 11h14v10H3z", "M13 11V8a4 4 0 0 1 8 0v2"],
    person: ["M12 3a4 4 0 1 1 0 9a4 4 0 0 1 0-9zM4 21a8 7 0 0 1 16 0z", ""],
    star: ["M12 2l3 7h7l-6 4 3 8-7-5-7 5 3-8-6-4h7z", ""],
    bell: ["M12 3a6 6 0 0 1 6 6v5l2 4H4l2-4V9a6 6 0 0 1 6-6zM9 20h6a3 3 0 0 1-6 0z", ""],
    car: ["M5 5h14l3 7v6h-3v2h-3v-2H8v2H5v-2H2v-6zM7 7l-2 4h14l-2-4z", ""],
    box: ["M12 3l8 4-8 4-8-4z", "M4 8v9l8 4 8-4V8M12 12v9"],
};

/** Seconds from Unix' first moment to Swift's: 1970 to 2001. */
const SWIFT_EPOCH = 978307200;

/**
 * A date, in milliseconds. On a phone it is encoded as the type's `dates` says; in the state of a
 * producer it is RFC 3339 text.
 */
function moment(value, dates = "swift-reference") {
    let milliseconds = NaN;
    if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) {
        milliseconds = Date.parse(value);
    } else if (isNumber(value) && dates !== "iso8601") {
        milliseconds = (value + (dates === "unix" ? 0 : SWIFT_EPOCH)) * 1000;
    }
    return Math.abs(milliseconds) <= 8.64e15 ? milliseconds : null;
}

const bitmaps = new Map();
const BITMAPS_MAX = 300;

/**
 * A decoded PNG: { image, isBroken }, whose image comes later. Nothing else than a PNG of sensible
 * size is ever decoded.
 */
export function bitmap(text) {
    let known = bitmaps.get(text);
    if (known === undefined) {
        known = { image: null };
        bitmaps.set(text, known);
        if (bitmaps.size > BITMAPS_MAX) bitmaps.delete(bitmaps.keys().next().value);
        const bytes = pngBytes(text);
        known.isBroken = !bytes;
        // One bit a pixel: black is the glass.
        known.isMask = bytes?.[24] === 1;
        if (bytes) {
            createImageBitmap(new Blob([bytes], { type: "image/png" })).then(
                (image) => { known.image = image; }, () => { known.isBroken = true; });
        }
    }
    return known;
}

function pngBytes(text) {
    if (text.length > PNG_BYTES_MAX * 4 / 3) return null;
    let binary;
    try {
        binary = atob(text);
    } catch {
        return null;
    }
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    if (bytes.length < 33) return null;
    const signature = [137, 80, 78, 71, 13, 10, 26, 10];
    if (signature.some((byte, index) => bytes[index] !== byte)) return null;
    const view = new DataView(bytes.buffer);
    const sides = [view.getUint32(16), view.getUint32(20)];
    return sides.every((side) => side > 0 && side <= PNG_SIDE_MAX) ? bytes : null;
}

/** One picture of a state: a canvas for images, SVG for what is drawn. */
export class Art {
    constructor() {
        this.element = document.createElement("span");
        this.element.className = "art";
        this.element.setAttribute("aria-hidden", "true");
        this.element.hidden = true;
        this.form = "";
    }

    draw(art) {
        const form = art ? [art.kind, art.radial?.items, art.radial?.dash].join() : "";
        if (form !== this.form) this.build(form, art);
        if (!art) return;
        const value = String(art.places ?? art.value);
        if (value === this.shown) return;
        if (art.kind === "image") {
            const { image } = bitmap(art.value);
            if (!image) return;
            if (this.canvas.width !== image.width) this.canvas.width = image.width;
            if (this.canvas.height !== image.height) this.canvas.height = image.height;
            const context = this.canvas.getContext("2d", { willReadFrequently: true });
            context.clearRect(0, 0, image.width, image.height);
            context.drawImage(image, 0, 0);
            this.canvas.dataset.fine = image.width > 64;
            this.canvas.dataset.mask = bitmap(art.value).isMask;
            if (!bitmap(art.value).isMask) {
                // What is beside a picture that is not as wide as its place.
                const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
                this.element.style.setProperty("--edge", `rgb(${red} ${green} ${blue} / ${alpha / 255})`);
            }
        } else if (art.kind === "radial") {
            const all = art.places ?? places(art.radial, art.value, art.value, 1);
            all.forEach(([x, y], index) => this.avatars[index].setAttribute("transform",
                `translate(${x.toFixed(2)} ${y.toFixed(2)})`));
        } else if (art.kind === "icon") {
            icons[art.value].forEach((d, index) => this.icon.children[index].setAttribute("d", d));
            this.element.dataset.icon = art.value;
        } else {
            this.frame.setAttribute("rx", Math.min(40, Math.max(0, art.value) * 2));
        }
        this.shown = value;
    }

    build(form, art) {
        this.form = form;
        this.shown = undefined;
        this.element.replaceChildren();
        this.element.hidden = !art;
        this.element.dataset.kind = art?.kind ?? "";
        if (art?.kind === "image") this.canvas = this.add(document.createElement("canvas"));
        if (art?.kind === "radial") this.avatars = radial(this.add(svg("0 0 300 300")), art.radial);
        if (art?.kind === "icon") {
            this.icon = this.add(svg("0 0 24 24"));
            this.icon.append(s("path", { "fill-rule": "evenodd" }), s("path", { class: "iconline" }));
        }
        if (art?.kind === "window") this.frame = windowFrame(this.add(svg("0 0 120 84")));
    }

    add(element) {
        this.element.append(element);
        return element;
    }
}

const svg = (viewBox) => s("svg", { viewBox, focusable: "false" });

/** From 1 to 12, 3 where a preview says nothing; a list has a text for each. */
function countOf({ items }) {
    const count = Array.isArray(items) ? items.length : items;
    return Number.isInteger(count) && count >= 1 && count <= 12 ? count : 3;
}

/** Avatars on a dashed circle, which do not overlap. */
function radial(root, preview) {
    const items = countOf(preview);
    const dash = isNumber(preview.dash) && preview.dash > 0 ? preview.dash : 11;
    const circle = s("circle", { cx: 150, cy: 150, r: 100, class: "dashes" });
    circle.style.strokeDasharray = dash;
    root.append(circle);
    const size = items < 3 ? 1 : Math.min(1, Math.sin(Math.PI / items) * 2.2);
    return Array.from({ length: items }, (_, index) => {
        const body = s("circle", { r: 40 });
        body.style.fill = `hsl(${(42 + 360 * index / items) % 360} 85% 66%)`;
        const word = Array.isArray(preview.items) ? plain(preview.items[index], 8) : "";
        const avatar = s("g", { class: "avatar" }, s("g", { transform: `scale(${size.toFixed(2)})` },
            body, word ? s("text", { y: 3, class: "emoji" }, word) : [
                s("circle", { r: 13, cy: -9, class: "head" }),
                s("path", { d: "M-21 24a21 18 0 0 1 42 0z", class: "head" })]));
        root.append(avatar);
        return avatar;
    });
}

/**
 * The avatars' places, [[x, y], …] in a box of 300 × 300, at a part (0 to 1) of the way between two
 * angles in degrees. With `moves: "places"` an end may be a list of places instead of an angle.
 */
export function places(preview, from, to, part) {
    const layout = (end) => Array.isArray(end) ? end : circleOf(countOf(preview), end);
    switch (preview.moves) {
    case "angle": return layout(from + (to - from) * part);
    case "places": return between(layout(from), layout(to), part);
    default: return layout(to);
    }
}

/** Item i of n is at 2π·i/n + angle; y points down, and item 0 is at the bottom. */
function circleOf(items, degrees) {
    return Array.from({ length: items }, (_, index) => {
        const angle = 2 * Math.PI * index / items + degrees * Math.PI / 180;
        return [150 - 100 * Math.sin(angle), 150 + 100 * Math.cos(angle)];
    });
}

function windowFrame(root) {
    const frame = s("rect", { x: 8, y: 8, width: 104, height: 68, class: "windowframe" });
    root.append(frame, s("path", { d: "M20 28h80M20 42h56M20 56h66", class: "windowlines" }));
    return frame;
}
