// The log: from a time on, or live.

import { get, poll, session } from "./api.js";
import { badge, brief, copy, count, fill, h, json, setText, time, timeTitle, toActivity, zone } from "./dom.js";
import { onEvents } from "./live.js";
import { summary } from "./activities.js";
import { members, textOf } from "./source.js";
import { Table } from "./table.js";

const PAGE = 500;
const KEPT_MAX = 5000;

/** Times back from now, in milliseconds, and at last the whole log. */
const BACK = [5e3, 6e4, 1e6, 1.5e7, 2.5e8, Infinity];
const PAGES_MAX = 10;

/** Pages of the log, up to its end; `isWhole` is false where there are more than are read. */
async function pages(query, signal) {
    const found = { rows: [], damaged: [], isWhole: false };
    let cursor;
    for (let page = 0; page < PAGES_MAX && !found.isWhole; page += 1) {
        const answer = await get("/v1/log", { ...query, limit: 1000, cursor }, signal);
        found.rows.push(...answer.events);
        found.damaged = [...found.damaged, ...answer.damaged ?? []];
        cursor = answer.next_cursor;
        found.isWhole = cursor === null;
    }
    return found;
}

/**
 * The newest entries, of `oldest` or later. The log is read from old to new: from as long ago as
 * there are enough.
 */
async function newestOf(query, oldest, signal) {
    let found = null;
    for (const back of BACK) {
        const from = Math.max(oldest, session.now() - back);
        const next = await pages({ ...query, from: from > 0 ? new Date(from).toISOString() : null },
            signal);
        if (!next.isWhole && found) return found;
        found = next;
        if (!next.isWhole || next.rows.length >= PAGE || from === oldest) return found;
    }
    return found;
}

/** Events and facts are counted apart: "event 7", "fact 13". */
export const numberOf = (entry) => `${entry.kind === "fact" ? "fact" : "event"} ${count(entry.seq)}`;

/** One line of an entry's body. */
export function entryRow(entry) {
    if (entry.erased) return badge("erased");
    if (entry.damaged) return badge("damaged", "bad");
    const body = entry.body ?? {};
    const said = body.state ?? body.replace;
    const words = [
        body.flipbook && `flip-book of ${body.flipbook.frames.length}, every ${body.flipbook.every}`,
        body.tween && `tween of ${body.tween.path} to ${
            brief(members(body.tween).find(([name]) => name === "to")?.[1], 30)}`,
        said && summary(said), !said && !body.flipbook && !body.tween && summary(body),
    ];
    return brief(words.filter(Boolean).join(" · "), 200);
}

/** A text as a word of a shell. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** The request that would send an event again. The key is a variable: none is ever copied. */
function curl(row) {
    const line = textOf({ activity: row.activity, do: row.do, ...row.body });
    return `curl -X POST ${quoted(`${location.origin}/v1/events`)} -H "Authorization: Bearer $TOMBOLO_KEY" `
        + `-H 'Content-Type: application/x-ndjson' --data-binary ${quoted(line)}`;
}

export async function log(root, { query, signal }) {
    const detail = h("aside.detail", { "aria-live": "off", hidden: true });
    const show = (row) => {
        detail.hidden = false;
        fill(detail, h("h2", {}, `${row.do ?? row.fact}, ${numberOf(row)}`),
            h("p", {}, time(row.recorded_at, true), ` ${zone}`, row.activity ? " · " : "",
                row.activity && toActivity(row.activity)),
            json(row.body ?? {}),
            row.do && row.activity && row.body && h("button", { type: "button",
                onclick: () => copy(curl(row)) }, "Copy as curl"), " ",
            h("button", { type: "button", onclick: () => { detail.hidden = true; } }, "Close"));
    };
    const table = new Table("Log", [
        { title: "Number", cell: numberOf, number: true },
        { title: timeTitle(), cell: (row) => time(row.recorded_at, true) },
        { title: "What", cell: (row) => h("button.linklike", {
            type: "button", onclick: () => show(row),
            "aria-label": `Show ${row.do ?? row.fact} ${row.seq}`,
        }, badge(row.do ?? row.fact, row.do ? "good" : "")) },
        { title: "Activity", cell: (row) => row.activity ? toActivity(row.activity) : "" },
        { title: "Version", cell: (row) => count(row.version ?? row.body?.version), number: true },
        { title: "Body", cell: entryRow },
    ], { key: (row) => `${row.kind} ${row.seq}`, stamp: (row) => row.seq,
        none: "The log has nothing like this." });
    const from = h("input", { type: "datetime-local", id: "from", step: 0.001,
        value: query.get("from") ?? "" });
    const kind = h("select", { id: "kind" }, [["command", "events"], ["fact", "facts"],
        ["all", "both"]].map(([value, words]) => h("option", { value, selected: value === query.get("kind") }, words)));
    const activity = h("input", { id: "activity", value: query.get("activity") ?? "",
        placeholder: "any activity" });
    const following = h("input", { type: "checkbox", id: "follow", checked: !query.get("from") });
    const more = h("button", { type: "button", hidden: true }, "Show later ones");
    const trouble = h("p.trouble", { role: "status" });
    fill(root, h("h1", {}, "Log"),
        h("form.filters", { onsubmit: (event) => event.preventDefault() },
            h("label", { for: "from" }, timeTitle("From"), from), h("label", { for: "kind" }, "Kind", kind),
            h("label", { for: "activity" }, "Activity", activity),
            h("label.check", { for: "follow" }, following, "Follow, newest first")),
        trouble, h("div.withdetail", {}, h("div", {}, table.element, more), detail));
    let rows = [];
    let cursor = null;
    let missed = 0;
    let damage = "";
    const draw = () => {
        table.update(following.checked ? [...rows].reverse() : rows);
        more.hidden = following.checked || cursor === null;
        setText(trouble, damage ? damage : missed ? `${count(missed)} events came too fast to be listed here.` : "");
    };
    const read = async (next) => {
        const asked = turn;
        const ask = { kind: kind.value, activity: activity.value.trim() };
        const oldest = from.value ? new Date(from.value).getTime() : 0;
        let page;
        try {
            if (following.checked && !next) {
                const { rows: events, damaged } = await newestOf(ask, oldest, signal);
                page = { events: events.slice(-PAGE), next_cursor: null, damaged };
            } else {
                page = await get("/v1/log", { ...ask, limit: PAGE, cursor: next,
                    from: oldest && !next ? new Date(oldest).toISOString() : null }, signal);
            }
            if (asked !== turn) return;
        } catch (error) {
            if (!error.status || asked !== turn) throw error;
            rows = [];
            draw();
            setText(trouble, error.message);
            return;
        }
        rows = next ? [...rows, ...page.events] : page.events;
        cursor = page.next_cursor;
        damage = (page.damaged ?? []).map((places) => places.detail).join(" ");
        missed = 0;
        draw();
    };
    const take = (batch) => {
        if (!following.checked || kind.value === "fact") return;
        const wanted = activity.value.trim();
        const newest = rows.findLast((row) => row.kind === "command")?.seq ?? 0;
        const fresh = batch.events.filter((event) =>
            event.seq > newest && (!wanted || event.activity === wanted));
        missed += batch.missed;
        if (fresh.length === 0 && !batch.missed) return;
        add(fresh);
    };
    const add = (fresh) => {
        rows = [...rows, ...fresh].slice(-KEPT_MAX);
        if (kind.value === "all") {
            rows.sort((one, other) => Date.parse(one.recorded_at) - Date.parse(other.recorded_at));
        }
        draw();
    };
    /** Facts are not in the live stream. */
    const takeFacts = async () => {
        if (!following.checked || kind.value === "command" || reading > 0) return;
        const since = rows.reduce((most, row) => row.kind === "fact" ? Math.max(most, row.seq) : most, 0);
        const asked = turn;
        const found = await pages({ kind: "fact", activity: activity.value.trim(),
            ...since ? { since } : { from: began } }, signal);
        if (asked === turn && found.rows.length > 0) add(found.rows);
    };
    // An event that comes while a page is read may be in the page or not.
    let reading = 0;
    /** Counts the reads: what was asked for before one is of another list. */
    let turn = 0;
    let began = null;
    const early = [];
    const load = async (next) => {
        reading += 1;
        turn += 1;
        if (!next) began = new Date(session.now() - BACK[0]).toISOString();
        try {
            await read(next);
        } finally {
            reading -= 1;
            if (reading === 0) early.splice(0).forEach(take);
        }
    };
    const again = () => load(null).catch((error) => {
        if (error.name !== "AbortError") throw error;
    });
    from.addEventListener("change", () => {
        following.checked = !from.value;
        again();
    });
    for (const field of [kind, activity, following]) field.addEventListener("change", again);
    more.addEventListener("click", () => load(cursor));
    onEvents(signal, (batch) => reading > 0 ? early.push(batch) : take(batch));
    await load(null);
    poll(2000, signal, takeFacts);
}
