// What became of events at each phone, and pushes that Apple refused permanently.

import { get, poll, post, segment, session } from "./api.js";
import {
    badge, brief, count, fill, h, link, panel, recipient, say, setText, time, timeTitle, toActivity,
    toDevice, toRecipient, zone,
} from "./dom.js";
import { delivery, resultOf, versionsOf } from "./delivery.js";
import { onEvents } from "./live.js";
import { reasons } from "./overview.js";
import { Table } from "./table.js";
import { toWhy } from "./why.js";

const PAGE = 100;
/** Of a page that a filter left empty, the next is asked for so many times. */
const EMPTY_MAX = 5;

const results = ["accepted", "rejected", "not_sent", "unknown", "sent", "merged", "skipped", "expired",
    "refused"];

export async function deliveries(root, { id, query, signal }) {
    if (id) return delivery(root, id, signal);
    const table = new Table("Deliveries", [
        { title: timeTitle(), cell: (row) => link(`#/deliveries/${segment(row.id)}`,
            time(row.at)) },
        { title: "Activity", cell: (row) => row.activity ? toActivity(row.activity) : "–" },
        { title: "To", cell: toRecipient },
        { title: "Version", cell: versionsOf, number: true },
        { title: "Result", cell: resultOf },
        { title: "Reason", cell: reason },
        { title: "Waited", cell: (row) => row.waited_ms === undefined ? "" : `${count(row.waited_ms)} ms`,
            number: true },
        { title: "Apple took", cell: (row) => row.push ? `${row.push.took_ms ?? 0} ms` : "", number: true },
        { title: "Why", cell: (row) => toWhy(row.activity,
            { device: recipient(row), version: row.version }) ?? "" },
    ], { key: (row) => row.number, stamp: (row) => row.number,
        none: "No delivery is like this, as long as the log goes back." });
    const filters = new Filters(query);
    const following = h("input", { type: "checkbox", id: "follow", checked: true });
    const older = h("button", { type: "button", hidden: true }, "Show older ones");
    const total = h("span.hint", { role: "status" });
    const trouble = h("p.trouble", { role: "status" });
    const letters = h("div");
    fill(root, h("h1", {}, "Deliveries"), deadLetters(letters),
        panel("Deliveries, newest first", h("form.filters", {
            onsubmit: (event) => event.preventDefault(),
        }, filters.labels, h("label.check", { for: "follow" }, following, "Follow"), total),
        trouble, table.element, older));
    let rows = [];
    let cursor = null;
    let asked = null;
    let leftOut = 0;
    const draw = () => {
        table.update(rows);
        older.hidden = cursor === null;
        setText(total, `${count(rows.length)}${cursor === null ? "" : " of more"}${leftOut
            ? `; ${count(leftOut)} of this time were left out` : ""}`);
    };
    /** A page, and so many more as filters left empty; null where the filters changed meanwhile. */
    const read = async (from) => {
        const ask = filters.asked();
        for (let turn = 1; ; turn += 1) {
            const page = await get("/v1/deliveries", { ...ask, limit: PAGE, cursor: from }, signal);
            if (JSON.stringify(ask) !== JSON.stringify(filters.asked())) return null;
            if (page.deliveries.length > 0 || !page.next_cursor || turn === EMPTY_MAX) return page;
            from = page.next_cursor;
        }
    };
    const newest = async () => {
        const ask = JSON.stringify(filters.asked());
        if (ask === asked && !following.checked) return;
        try {
            const page = await read();
            if (!page) return;
            const last = page.deliveries[page.deliveries.length - 1]?.number;
            // What is known already goes on below, where there is no gap between.
            const isJoined = ask === asked && last !== undefined && rows[0]?.number >= last;
            if (!isJoined) cursor = page.next_cursor;
            rows = isJoined ? [...page.deliveries, ...rows.filter((row) => row.number < last)]
                : page.deliveries;
            [asked, leftOut] = [ask, page.left_out ?? 0];
            setText(trouble, "");
        } catch (error) {
            if (!error.status) throw error;
            [rows, cursor, asked, leftOut] = [[], null, ask, 0];
            setText(trouble, error.message);
        }
        draw();
    };
    older.addEventListener("click", async () => {
        older.disabled = true;
        try {
            const page = await read(cursor);
            if (page) {
                rows = [...rows, ...page.deliveries];
                cursor = page.next_cursor;
                draw();
            }
        } catch (error) {
            if (error.name !== "AbortError") setText(trouble, error.message);
        } finally {
            older.disabled = false;
        }
    });
    const again = poll(2000, signal, newest);
    filters.changed(() => again());
    following.addEventListener("change", again);
    let timer = 0;
    onEvents(signal, () => { timer ||= setTimeout(() => { timer = 0; again(); }, 700); });
    await refreshLetters(letters, signal);
    poll(10000, signal, () => refreshLetters(letters, signal));
}

/** What is asked for; it is in the address as well. */
class Filters {
    constructor(query) {
        const named = (id, title, more = {}) => [id, title, h("input", {
            id, value: query.get(id) ?? "", placeholder: `any ${title.toLowerCase()}`, ...more,
        })];
        const moment = (id, title) => [id, `${title} (${zone})`, h("input", {
            id, type: "datetime-local", step: 1, value: local(query.get(id)),
        })];
        const list = h("datalist", { id: "reasons" }, Object.keys(reasons).map((value) =>
            h("option", { value })));
        const result = h("select", { id: "result" }, ["", ...results].map((value) =>
            h("option", { value, selected: value === query.get("result") },
                value.replaceAll("_", " ") || "any")));
        this.fields = [
            named("activity", "Activity"), named("device", "Device"), named("user", "User"),
            named("version", "Version", { type: "number", min: 1 }), ["result", "Result", result],
            named("reason", "Reason", { list: "reasons" }), moment("from", "From"),
            moment("until", "Until"),
        ];
        this.labels = [this.fields.map(([id, title, field]) => h("label", { for: id }, title, field)),
            list];
    }

    asked() {
        return Object.fromEntries(this.fields.map(([id, , field]) => [id,
            field.value && field.type === "datetime-local" ? new Date(field.value).toISOString()
                : field.value.trim()]).filter(([, value]) => value));
    }

    changed(act) {
        for (const [, , field] of this.fields) {
            field.addEventListener("change", () => {
                const query = new URLSearchParams(this.asked());
                history.replaceState(null, "", `#/deliveries${query.size ? `?${query}` : ""}`);
                act();
            });
        }
    }
}

/** A time for a field of the browser's own zone. */
function local(text) {
    const date = new Date(text ?? "");
    if (Number.isNaN(date.getTime())) return "";
    return new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

function reason(row) {
    if (row.push) {
        return h("span", { title: row.push.apns_id }, `${row.push.route.replaceAll("_", " ")}, `
            + `priority ${row.push.priority}`);
    }
    const words = reasons[row.reason] ?? row.reason_text ?? (row.reason ?? "").replaceAll("_", " ");
    return h("span", { title: row.reason_text }, brief(words, 120));
}

function deadLetters(box) {
    return panel("Refused permanently", box);
}

async function refreshLetters(box, signal) {
    const page = await get("/v1/dead-letters", { limit: 100 }, signal);
    const stamp = JSON.stringify(page);
    if (box.dataset.stamp === stamp) return;
    box.dataset.stamp = stamp;
    if (page.dead_letters.length === 0) {
        fill(box, h("p.calm", {}, "Apple has refused nothing permanently."));
        return;
    }
    const may = session.may("operate");
    const retry = async (where, words) => {
        try {
            const answer = await post("/v1/dead-letters/retry", { where });
            say(`${words}: ${count(answer.retried ?? 0)} go again.`);
            delete box.dataset.stamp;
            await refreshLetters(box, signal);
        } catch (error) {
            say(error.message, "bad");
        }
    };
    const table = new Table("Pushes that Apple refused permanently", [
        { title: timeTitle(), cell: (row) => time(row.at) },
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Apple's word", cell: (row) => badge(`${row.status} ${row.reason}`, "bad") },
        { title: "What", cell: (row) => `${row.do} v${row.version}` },
        { title: "Why", cell: (row) => toWhy(row.activity,
            { device: row.device, version: row.version }) ?? "" },
        ...(may ? [{ title: "Again", cell: (row) => h("button", {
            type: "button", "aria-label": `Retry ${row.activity} on ${row.device}`,
            onclick: () => retry({ activity: row.activity, device: row.device }, "Retried"),
        }, "Retry") }] : []),
    ], { key: (row) => row.id });
    fill(box, table.element);
    table.update(page.dead_letters);
}
