// A widget as a phone or a pad draws it: each family has its own form.

import { clock, h, plain, setText } from "./dom.js";
import { Card } from "./island.js";
import { bitmap, previews } from "./picture.js";

/** The families that are drawn, by WidgetKit's names: how many parts (such as doors) and lines have room. */
const room = {
    systemSmall: { parts: 1, lines: 1 }, systemMedium: { parts: 2, lines: 2 },
    systemLarge: { parts: 4, lines: 6 }, systemExtraLarge: { parts: 8, lines: 6, columns: 2 },
    accessoryInline: { parts: 1, lines: 0 }, accessoryCircular: { parts: 1, lines: 0 },
    accessoryRectangular: { parts: 1, lines: 1 },
};

export const families = Object.keys(room);
/** Those that a device has: a phone has no systemExtraLarge. */
export const familiesOf = (idiom) =>
    families.filter((family) => idiom === "pad" || family !== "systemExtraLarge");
export const isOnLockScreen = (family) => family.startsWith("accessory");

export class WidgetFace {
    constructor(family) {
        this.family = family;
        this.parts = [];
        this.list = h("div.parts", { role: "img" });
        this.element = h(`div.widget.${family}`, {}, this.list);
    }

    /**
     * Draws the content of an entry; a picture in it comes with one of the next calls. `empty`: what a
     * part without content says, a text, or a function of the part's index.
     */
    draw(state, { type, isPlaceholder = false, label = "", empty = "Empty" } = {}) {
        const now = [state, type, isPlaceholder, label, previews.types];
        if (!this.isWaiting && this.drawn?.every((value, index) => value === now[index])) return;
        this.drawn = now;
        const { parts, lines, columns = 1 } = room[this.family];
        const all = isPlaceholder ? [{}] : partsOf(state).slice(0, parts);
        this.contents = all;
        while (this.parts.length > all.length) this.parts.pop().element.remove();
        while (this.parts.length < all.length) this.add();
        const rows = Math.ceil(all.length / columns);
        const models = all.map((part, index) =>
            model(part, type, this.family, typeof empty === "function" ? empty(index) : empty));
        this.titles = models.map(({ title, subtitle }) => [title, subtitle].filter(Boolean).join(", "));
        for (const [index, part] of this.parts.entries()) {
            part.draw(models[index], isPlaceholder ? -1 : Math.floor(lines / rows));
        }
        this.isWaiting = models.some(({ art }) =>
            art?.kind === "image" && !bitmap(art.value).image && !bitmap(art.value).isBroken);
        this.element.dataset.parts = all.length;
        this.element.dataset.placeholder = isPlaceholder;
        this.words = [label, ...isPlaceholder ? ["placeholder"]
            : this.titles].filter(Boolean).join(", ");
        this.list.setAttribute("aria-label", this.words);
    }

    add() {
        const part = new Part();
        this.parts.push(part);
        this.list.append(part.element);
    }
}

class Part extends Card {
    constructor() {
        super("part");
        this.lines = h("span.lines");
        this.text.append(this.lines);
        this.standIn = h("span.standin");
        this.art.element.after(this.standIn);
    }

    /** `most` lines; -1: the bars of a placeholder. */
    draw(drawn, most) {
        super.draw(most < 0 ? { ...drawn, title: "" } : drawn);
        this.text.hidden = false;
        this.standIn.hidden = drawn.art !== null || drawn.icon !== null || drawn.isEmpty === true;
        this.element.dataset.empty = drawn.isEmpty === true;
        // The letters of a circle are as small as its longest word asks for.
        this.element.style.setProperty("--longest", Math.max(6, drawn.title.length, drawn.subtitle.length));
        this.element.style.setProperty("--tint", drawn.tint);
        setText(this.lines, drawn.lines.slice(0, Math.max(0, most)).join("\n"));
    }
}

/** Where a content has `items`, such as several doors, each is a part. */
export function partsOf({ items, ...rest }) {
    const isList = Array.isArray(items) && items.length > 0 && items.every(isObject);
    return isList ? items : [rest];
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isText = (value) => ["string", "number", "boolean"].includes(typeof value)
    && !String(value).startsWith("iVBORw0KGgo");

/** What the preview of the type says, else the first members; then a line for each element of a list. */
function model(part, type, family, empty) {
    const texts = Object.entries(part).filter(([, value]) => isText(value));
    let drawn = previews.types?.get(type)?.preview ? previews.model(part, type) : null;
    if (!drawn || !(drawn.art || drawn.icon || drawn.title || drawn.subtitle)) {
        drawn = previews.model(Object.fromEntries(texts));
        // A circle has no room for names.
        if (family === "accessoryCircular" && drawn.title) {
            [drawn.title, drawn.subtitle = ""] = texts.map(([, value]) => plain(value, 20));
        }
    }
    drawn.lines = [...drawn.lines, ...Object.values(part).filter(Array.isArray).flat().map(line)];
    if (!drawn.art && !drawn.icon && !drawn.title && !drawn.subtitle) Object.assign(drawn, { title: empty, isEmpty: true });
    if (isOnLockScreen(family)) Object.assign(drawn, accessory(drawn));
    return drawn;
}

/** A place on the Lock Screen has the icon before the words, and a picture only where there is no icon. */
const accessory = ({ art, icon }) => icon ? { art: icon } : { art };

/** "Ada · in · 07:02" */
export const line = (value) => (isObject(value) ? Object.values(value) : [value]).filter(isText)
    .map((text) => /^\d{4}-\d\d-\d\dT/.test(text) ? clock(Date.parse(text)).slice(0, 5) : plain(text, 40))
    .join(" · ");
