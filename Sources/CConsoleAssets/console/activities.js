// All activities, live.

import { get, poll, segment } from "./api.js";
import { badge, brief, count, fill, filtersOf, h, keepFilters, setText, time, timeTitle, toActivity } from "./dom.js";
import { onEvents } from "./live.js";
import { members } from "./source.js";
import { Table } from "./table.js";

const PAGE = 200;
/** So many are asked for again within a second. */
const AGAIN_MAX = 8;

export const tones = { waiting: "warn", damaged: "bad" };

/** A small state in one line: pictures by their size. */
export function summary(state) {
    return brief(members(state).slice(0, 6).map(([name, text]) => {
        if (text.startsWith("iVBORw0KGgo")) return `${name}: picture of ${count(Math.round(text.length * 3 / 4))} B`;
        return `${name}: ${brief(text, 40)}`;
    }).join(" · "), 160);
}

export async function activities(root, { query, signal }) {
    const table = new Table("Activities", [
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Status", cell: (row) => h("span.badges", {}, badge(row.status, tones[row.status]),
            late.has(row.activity) && badge("older", "warn",
                "It has changed since; the newest is read in a moment.")) },
        { title: "Type", cell: (row) => brief(row.type) },
        { title: timeTitle("Started"), cell: (row) => time(row.started_at) },
        { title: timeTitle("Changed"), cell: (row) => time(row.changed_at) },
        { title: timeTitle("Ended"), cell: (row) => time(row.ended_at) },
        { title: "Version", cell: (row) => count(row.version), number: true },
        { title: "Taken by Apple", hint: "Phones for which Apple has taken the newest version",
            cell: haveNewest, number: true },
        { title: "State", cell: (row) => summary(row.state) },
    ], {
        key: (row) => row.activity,
        stamp: (row) => `${row.version} ${row.status} ${haveNewest(row)} ${row.clips.length} `
            + late.has(row.activity),
        none: "No activity is like this.",
    });
    const status = h("select", { id: "status" },
        ["", "active", "waiting", "ended", "damaged"].map((name) =>
            h("option", { value: name, selected: name === (query.get("status") ?? "active") },
                name || "any")));
    const type = h("input", { id: "type", value: query.get("type") ?? "", placeholder: "any type" });
    const user = h("input", { id: "user", value: query.get("user") ?? "", placeholder: "any user" });
    const order = h("select", { id: "sort" }, [["", "id"], ["started", "newest start"],
        ["changed", "newest change"], ["ended", "newest end"]].map(([value, words]) =>
        h("option", { value, selected: value === query.get("sort") }, words)));
    const more = h("button", { type: "button", hidden: true }, "Show more");
    const fresh = h("button", { type: "button", hidden: true });
    const total = h("span.hint", { role: "status" });
    fill(root, h("h1", {}, "Activities"),
        h("form.filters", { onsubmit: (event) => event.preventDefault() },
            h("label", { for: "status" }, "Status", status),
            h("label", { for: "type" }, "Type", type),
            h("label", { for: "user" }, "User", user), h("label", { for: "sort" }, "Sorted by", order),
            fresh, total),
        table.element, more);
    let rows = new Map();
    let cursor = null;
    const news = new Set();
    /** Rows that have changed since they were read. */
    const late = new Set();
    /** Events that nobody has seen, so that nobody knows which rows they have changed. */
    let missed = 0;
    const filters = () => ({ status: status.value, type: type.value.trim(), user: user.value.trim() });
    /** The relay's order is by id: the page sorts what it has read. */
    const sorted = () => {
        const name = `${order.value}_at`;
        const at = (row) => Date.parse(row[name]) || 0;
        return order.value ? [...rows.values()].sort((one, other) => at(other) - at(one)) : [...rows.values()];
    };
    const draw = () => {
        table.update(sorted());
        more.hidden = cursor === null;
        fresh.hidden = news.size === 0 && missed === 0;
        setText(fresh, missed > 0 ? "Events came too fast: read the list again"
            : `${count(news.size)} new: show`);
        setText(total, `${count(rows.size)}${cursor === null ? "" : " of more"}`
            + (order.value && cursor !== null ? ", only these are sorted" : "")
            + (late.size > 0 ? `, ${count(late.size)} of them older than now` : ""));
    };
    const load = async (from) => {
        const asked = JSON.stringify(filters());
        // What comes from here on may be in the page or not.
        if (!from) {
            news.clear();
            late.clear();
            missed = 0;
        }
        const page = await get("/v1/activities", { ...filters(), limit: PAGE, cursor: from }, signal);
        if (asked !== JSON.stringify(filters())) return;
        if (!from) rows = new Map();
        for (const row of page.activities) rows.set(row.activity, row);
        cursor = page.next_cursor;
        draw();
    };
    const reload = () => load(null).catch(quiet);
    const keep = () => keepFilters("activities", { status: status.value, ...filtersOf([type, user, order]) });
    for (const field of [status, type, user]) {
        field.addEventListener("change", () => {
            keep();
            reload();
        });
    }
    order.addEventListener("change", () => {
        keep();
        draw();
    });
    fresh.addEventListener("click", reload);
    more.addEventListener("click", () => load(cursor).catch(quiet));
    onEvents(signal, (batch) => {
        for (const { activity: id } of batch.events) if (id) (rows.has(id) ? late : news).add(id);
        missed += batch.missed;
    });
    /** A short list is read again as a whole; of a long one, what has changed. */
    let turns = 0;
    const turn = async () => {
        turns += 1;
        // Apple's answers are no events: who is behind is asked for again and again.
        const isDue = turns % 4 === 0;
        if (cursor === null && rows.size < PAGE / 2) {
            return isDue || late.size + news.size + missed > 0 ? load(null) : null;
        }
        const behind = isDue && late.size === 0 ? [...rows.values()].filter(isBehind) : [];
        const first = behind.length > AGAIN_MAX ? turns * AGAIN_MAX / 4 % behind.length : 0;
        draw();
        for (const id of [...late, ...behind.slice(first).map((row) => row.activity)].slice(0, AGAIN_MAX)) {
            let row = null;
            const isLate = late.delete(id);
            try {
                row = await get(`/v1/activities/${segment(id)}`, {}, signal);
            } catch (error) {
                if (isLate) late.add(id);
                if (error.status !== 404) throw error;
                late.delete(id);
            }
            if (row && rows.has(id)) rows.set(id, row);
            else rows.delete(id);
        }
        draw();
    };
    await load(null);
    poll(1000, signal, turn);
}

const quiet = (error) => { if (error.name !== "AbortError") throw error; };

const has = (row) => row.destinations.filter((one) => one.acknowledged_version >= row.version).length;
const isBehind = (row) => has(row) < row.destinations.length;
const haveNewest = (row) => `${count(has(row))} of ${count(row.destinations.length)}`;
