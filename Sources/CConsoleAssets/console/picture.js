// What an app would draw of a state: a picture, a turn, corners, or the texts that make most sense.

import { plain, s } from "./dom.js";

const PNG_START = "iVBORw0KGgo";
const PNG_BYTES_MAX = 65536;
const PNG_SIDE_MAX = 1024;

/** { art, title, subtitle, trailing, progress, until } of a state. */
export function model(state, type = "") {
    const result = { art: null, title: "", subtitle: "", trailing: "", progress: null, until: null };
    if (!state || typeof state !== "object") return result;
    const texts = [];
    for (const [name, value] of Object.entries(state).slice(0, 64)) {
        if (name === "clip") continue;
        if (typeof value === "string" && value.startsWith(PNG_START)) {
            if (!bitmap(value).isBroken) result.art ??= { kind: "image", value };
        } else if (typeof value === "number" && name === "offset") {
            result.art ??= { kind: "radial", value };
        } else if (typeof value === "number" && name === "radius") {
            result.art ??= { kind: "window", value };
        } else if (typeof value === "number" && value >= 0 && value <= 1
            && /progress|fraction|part/i.test(name)) {
            result.progress = value;
        } else if (/(^|_)(ends?|until|eta|due|arrival|deadline)(_at)?$/i.test(name)
            && moment(value)) {
            result.until = moment(value);
        } else if (["string", "number", "boolean"].includes(typeof value)) {
            texts.push([name, value]);
        }
    }
    const rank = ([name]) => {
        const found = ["title", "name", "headline", "step", "status", "subtitle", "message"]
            .indexOf(name);
        return found < 0 ? 99 : found;
    };
    texts.sort((one, other) => rank(one) - rank(other));
    const said = (pair) => {
        if (!pair) return "";
        const [name, value] = pair;
        return typeof value === "string" ? plain(value, 80) : `${plain(name, 30)} ${plain(value, 30)}`;
    };
    result.title = said(texts[0]);
    result.subtitle = texts.slice(1, 3).map(said).join(" · ");
    const number = texts.find(([, value]) => typeof value === "number");
    result.trailing = number ? plain(number[1], 8) : result.title.slice(0, 12);
    result.type = type;
    return result;
}

/** A date of a state: RFC 3339, Unix seconds, or Swift's seconds since 2001; in milliseconds. */
function moment(value) {
    if (typeof value === "string") {
        const parsed = Date.parse(value);
        return Number.isNaN(parsed) ? null : parsed;
    }
    if (typeof value !== "number") return null;
    if (value > 1.5e9 && value < 4e9) return value * 1000;
    if (value > 6e8 && value < 1.2e9) return (value + 978307200) * 1000;
    return null;
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
        this.kind = null;
    }

    draw(art) {
        const kind = art?.kind ?? null;
        if (kind !== this.kind) {
            this.kind = kind;
            this.shown = undefined;
            this.element.replaceChildren();
            this.element.hidden = kind === null;
            this.element.dataset.kind = kind ?? "";
            if (kind === "image") this.canvas = this.add(document.createElement("canvas"));
            if (kind === "radial") this.avatars = radial(this.add(svg("0 0 300 300")));
            if (kind === "window") this.frame = windowFrame(this.add(svg("0 0 120 84")));
        }
        if (kind === null || art.value === this.shown) return;
        if (kind === "image") {
            const { image } = bitmap(art.value);
            if (!image) return;
            if (this.canvas.width !== image.width) this.canvas.width = image.width;
            if (this.canvas.height !== image.height) this.canvas.height = image.height;
            const context = this.canvas.getContext("2d");
            context.clearRect(0, 0, image.width, image.height);
            context.drawImage(image, 0, 0);
        } else if (kind === "radial") {
            turn(this.avatars, art.value);
        } else {
            this.frame.setAttribute("rx", Math.min(40, Math.max(0, art.value) * 2));
        }
        this.shown = art.value;
    }

    add(element) {
        this.element.append(element);
        return element;
    }
}

const svg = (viewBox) => s("svg", { viewBox, focusable: "false" });

/** Three avatars on a dashed circle: item i at 2π·i/n + offset, item 0 at the bottom. */
function radial(root) {
    root.append(s("circle", { cx: 150, cy: 150, r: 100, class: "dashes" }));
    return [0, 1, 2].map((index) => {
        const avatar = s("g", { class: `avatar a${index}` },
            s("circle", { r: 40 }), s("circle", { r: 13, cy: -9, class: "head" }),
            s("path", { d: "M-21 24a21 18 0 0 1 42 0z", class: "head" }));
        root.append(avatar);
        return avatar;
    });
}

function turn(avatars, degrees) {
    avatars.forEach((avatar, index) => {
        const angle = 2 * Math.PI * index / avatars.length + degrees * Math.PI / 180;
        const [x, y] = [150 - 100 * Math.sin(angle), 150 + 100 * Math.cos(angle)];
        avatar.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    });
}

function windowFrame(root) {
    const frame = s("rect", { x: 8, y: 8, width: 104, height: 68, class: "windowframe" });
    root.append(frame, s("path", { d: "M20 28h80M20 42h56M20 56h66", class: "windowlines" }));
    return frame;
}
