// All activities, live.

import { get, segment } from "./api.js";
import { badge, brief, count, fill, h, setText, toActivity } from "./dom.js";
import { onEvents } from "./live.js";
import { Table } from "./table.js";

const PAGE = 200;
/** So many are asked for again within a second. */
const AGAIN_MAX = 8;

export const tones = { active: "good", ended: "", waiting: "warn", damaged: "bad" };

/** A small state in one line: pictures by their size. */
export function summary(state) {
    return brief(Object.entries(state ?? {}).slice(0, 6).map(([name, value]) => {
        if (typeof value === "string" && value.startsWith("iVBORw0KGgo")) {
            return `${name}: picture of ${count(Math.round(value.length * 3 / 4))} B`;
        }
        return `${name}: ${typeof value === "string" ? brief(value, 40) : brief(JSON.stringify(value), 40)}`;
    }).join(" · "), 160);
}

export async function activities(root, { query, signal }) {
    const table = new Table("Activities", [
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Status", cell: (row) => badge(row.status, tones[row.status]) },
        { title: "Type", cell: (row) => brief(row.type), wide: true },
        { title: "Version", cell: (row) => count(row.version), number: true },
        { title: "Have the newest", hint: "Phones whose push of the newest version Apple has accepted",
            cell: haveNewest, number: true },
        { title: "State", cell: (row) => summary(row.state), wide: true },
    ], {
        key: (row) => row.activity,
        stamp: (row) => `${row.version} ${row.status} ${haveNewest(row)} ${row.clips.length}`,
        none: "No activity is like this.",
    });
    const status = h("select", { id: "status" },
        ["", "active", "waiting", "ended", "damaged"].map((name) =>
            h("option", { value: name, selected: name === (query.get("status") ?? "active") },
                name || "any")));
    const type = h("input", { id: "type", value: query.get("type") ?? "", placeholder: "any type" });
    const user = h("input", { id: "user", value: query.get("user") ?? "", placeholder: "any user" });
    const more = h("button", { type: "button", hidden: true }, "Show more");
    const fresh = h("button", { type: "button", hidden: true });
    const total = h("span.hint", { role: "status" });
    fill(root, h("h1", {}, "Activities"),
        h("form.filters", { onsubmit: (event) => event.preventDefault() },
            h("label", { for: "status" }, "Status", status),
            h("label", { for: "type" }, "Type", type),
            h("label", { for: "user" }, "User", user), fresh, total),
        table.element, more);
    let rows = new Map();
    let cursor = null;
    let news = new Set();
    const filters = () => ({ status: status.value, type: type.value.trim(), user: user.value.trim() });
    const draw = () => {
        table.update([...rows.values()]);
        more.hidden = cursor === null;
        fresh.hidden = news.size === 0;
        setText(fresh, `${count(news.size)} new: show`);
        setText(total, `${count(rows.size)}${cursor === null ? "" : " of more"}`);
    };
    const load = async (from) => {
        const page = await get("/v1/activities", { ...filters(), limit: PAGE, cursor: from }, signal);
        if (!from) {
            rows = new Map();
            news = new Set();
        }
        for (const row of page.activities) rows.set(row.activity, row);
        cursor = page.next_cursor;
        draw();
    };
    const reload = () => load(null).catch(quiet);
    for (const field of [status, type, user]) field.addEventListener("change", reload);
    fresh.addEventListener("click", reload);
    more.addEventListener("click", () => load(cursor).catch(quiet));
    follow(signal, async (changed) => {
        // A short list is read again as a whole; of a long one, what is in it and has changed.
        if (cursor === null && rows.size < PAGE / 2) return load(null);
        const known = [...changed].filter((id) => rows.has(id)).slice(0, AGAIN_MAX);
        for (const id of changed) if (!rows.has(id)) news.add(id);
        for (const id of known) rows.set(id, await get(`/v1/activities/${segment(id)}`, {}, signal));
        draw();
    });
    await load(null);
}

const quiet = (error) => { if (error.name !== "AbortError") throw error; };

function haveNewest(row) {
    const has = row.destinations.filter((one) => one.acknowledged_version >= row.version).length;
    return `${count(has)} of ${count(row.destinations.length)}`;
}

/** Calls back about once a second with the ids of activities that had events. */
export function follow(signal, act) {
    let changed = new Set();
    let timer = 0;
    let isBusy = false;
    const turn = async () => {
        timer = 0;
        if (isBusy || signal.aborted) return;
        const now = changed;
        changed = new Set();
        isBusy = true;
        try {
            await act(now);
        } catch (error) {
            quiet(error.status === undefined ? error : { name: "AbortError" });
        }
        isBusy = false;
        if (changed.size > 0) timer ||= setTimeout(turn, 1000);
    };
    onEvents(signal, ({ events }) => {
        for (const event of events) if (event.activity) changed.add(event.activity);
        if (changed.size > 0) timer ||= setTimeout(turn, 700);
    });
    signal.addEventListener("abort", () => clearTimeout(timer));
}
