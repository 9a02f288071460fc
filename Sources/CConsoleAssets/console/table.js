// Tables that stay calm: rows keep their elements, cells change only where they differ, and of a
// thousand rows only those that are seen are in the page.

import { fill, h } from "./dom.js";

const ROW_HEIGHT = 36;
const MARGIN = 12;

/** On a narrow page a row is a card, and each of its cells a line of it. */
const narrow = matchMedia("(max-width: 40rem)");
const LINE_HEIGHT = 24;
const CARD_PADDING = 17;

/**
 * columns: [{ title, hint, cell(row) → text, Node or a list of them, number, wraps }]. Rows whose text `wraps` have no common height, so that all are in
 * the page. key(row) names a row; its cells are made again only where stamp(row) has changed.
 */
export class Table {
    constructor(label, columns, { key, stamp = JSON.stringify, none = "Nothing here." }) {
        Object.assign(this, { columns, key, stamp, isWhole: columns.some((column) => column.wraps) });
        this.rows = [];
        this.elements = new Map();
        this.before = h("tr.spacer", { "aria-hidden": "true" });
        this.after = h("tr.spacer", { "aria-hidden": "true" });
        this.body = h("tbody", {}, this.before, this.after);
        const heads = columns.map((column) =>
            h("th", { scope: "col", class: this.classes(column), title: column.hint }, column.title));
        this.table = h("table", { "aria-label": label },
            h("thead", {}, h("tr", {}, heads)), this.body);
        this.none = h("p.empty", {}, none);
        this.scroller = h("div.scroller", { tabindex: "0", role: "region", "aria-label": label },
            this.table);
        this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
        this.element = h("div.tablebox", {}, this.scroller, this.none);
        this.none.hidden = true;
    }

    classes(column) {
        return ["number", "wraps"].filter((name) => column[name]).join(" ") || undefined;
    }

    update(rows) {
        this.rows = rows;
        this.none.hidden = rows.length > 0;
        this.scroller.hidden = rows.length === 0;
        this.table.setAttribute("aria-rowcount", rows.length + 1);
        this.draw();
    }

    draw() {
        const row = narrow.matches ? this.columns.length * LINE_HEIGHT + CARD_PADDING : ROW_HEIGHT;
        const height = this.isWhole ? Infinity : this.scroller.clientHeight || 600;
        const first = this.isWhole ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / row) - MARGIN);
        const last = Math.min(this.rows.length, first + Math.ceil(height / row) + 2 * MARGIN);
        this.before.style.height = `${first * row}px`;
        this.after.style.height = `${(this.rows.length - last) * row}px`;
        const seen = new Set();
        let place = this.before;
        for (let index = first; index < last; index += 1) {
            const key = this.key(this.rows[index]);
            seen.add(key);
            const element = this.rowElement(key, this.rows[index], index);
            if (place.nextSibling !== element) place.after(element);
            place = element;
        }
        for (const [key, entry] of this.elements) {
            if (seen.has(key)) continue;
            entry.element.remove();
            this.elements.delete(key);
        }
    }

    rowElement(key, row, index) {
        const stamp = this.stamp(row);
        let entry = this.elements.get(key);
        if (!entry) {
            const cells = this.columns.map((column) => h("td", {
                class: this.classes(column), "data-title": column.title,
            }));
            entry = { element: h("tr", {}, cells), cells, stamp: undefined };
            this.elements.set(key, entry);
        }
        entry.element.setAttribute("aria-rowindex", index + 2);
        if (entry.stamp !== stamp) {
            entry.stamp = stamp;
            this.columns.forEach((column, place) => fill(entry.cells[place], column.cell(row)));
        }
        return entry.element;
    }
}
