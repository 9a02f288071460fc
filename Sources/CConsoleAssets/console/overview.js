// What an on-call person looks at first.

import { get, poll, session } from "./api.js";
import {
    count, distance, fill, h, panel, setText, toActivity, toDevice,
} from "./dom.js";
import { Sentence } from "./first.js";
import { Table } from "./table.js";
import { toWhy } from "./why.js";

/** A rate is of so many seconds. */
const RATE_SECONDS = 5;

/** Words for what holds a push, by the API's own. */
export const reasons = {
    spacing: "too soon after the last push", low_priority_spacing: "next frame",
    bucket: "the budget is spent", device_bucket: "the phone's budget is spent",
    device_spacing: "too soon for this phone", device_low_priority_spacing: "next frame",
    in_flight: "a push is on its way", stream_limit: "waits for a stream",
    reserving: "its budget is written", no_start_token: "no start token",
    no_update_token: "no update token", start_unknown: "outcome of the start unknown",
    token_back_off: "Apple says wait", upstream_closed: "the way to Apple is closed",
    apple_error: "Apple is unwell", no_answer: "Apple did not answer",
    token_doubted: "the token is doubted",
    timestamp_ahead: "the clock is behind", next_second: "the next second", paused: "paused",
    start_budget: "the start budget is spent", stranded: "new card has no token",
    no_channel: "no channel",
};

/** "the budget is spent · in 4 s". */
export function waiting(decision) {
    if (!decision) return "";
    // The relay knows the cause, and its sentence says it.
    const known = decision.reason !== "upstream_closed" || !decision.reason_text;
    const reason = (known && reasons[decision.reason]) || (decision.reason_text ?? decision.reason ?? decision.action ?? "about to go");
    return decision.until ? `${reason} · ${distance(decision.until)}` : reason;
}

const tiles = [
    ["activities", "Activities", ({ counters }) => counters.activities],
    ["devices", "Devices", ({ counters }) => counters.devices],
    ["destinations", "Cards on devices", ({ counters }) => counters.destinations],
    ["behind", "Cards behind", ({ behind }) => behind],
    ["events", "Events a second", ({ counters }) => counters.events, true],
    ["pushes", "Pushes a second", ({ counters }) => counters.pushes, true],
    ["frames", "Frames a second", ({ counters }) => counters.frames, true],
];

export async function overview(root, { signal }) {
    const sentence = new Sentence(() => {
        turns = 0;
        again();
    });
    let turns = 0;
    /** Of very many cards the relay counts each time that it has: it is asked less often then. */
    let isOld = false;
    const values = Object.fromEntries(tiles.map(([name]) => [name, h("strong", {}, "–")]));
    const results = h("dl.facts");
    const taken = h("p");
    const hour = h("div");
    const slowest = new Table("Destinations that are behind", [
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Class", cell: (row) => row.class },
        { title: "Versions", cell: (row) => count(row.versions), number: true },
        { title: "Waits for", cell: (row) => waiting(row.waiting) || "its push is about to go" },
        { title: "Why", cell: (row) => toWhy(row.activity, { device: row.device }) },
    ], {
        key: (row) => `${row.activity} ${row.device}`,
        stamp: (row) => JSON.stringify(row) + Math.floor(session.now() / 1000),
        none: "No card waits for a push.",
    });
    fill(root,
        h("h1", {}, "Overview"),
        sentence.element,
        h("div.tiles", {}, tiles.map(([name, title]) =>
            h("div.tile", {}, h("span", {}, title), values[name]))),
        h("div.columns.uneven", {},
            panel("What Apple said", results), panel("Furthest behind", taken, slowest.element)), hour);
    const samples = [];
    const act = (now) => {
        session.follow(now);
        isOld = Date.parse(now.at) - Date.parse(now.counted_at) > 1000;
        session.me = { ...session.me, phones: now.phones, last_seq: now.last_seq };
        samples.push(now);
        while (Date.parse(now.at) - Date.parse(samples[1]?.at) > RATE_SECONDS * 1000) samples.shift();
        for (const [name, , value, isRate] of tiles) setText(values[name], isRate ? rate(samples, value) : count(value(now)));
        sentence.draw(now);
        setText(taken, wordsOfCards(now.cards ?? {}));
        slowest.update(now.slowest);
        facts(results, [
            ["accepted", now.counters.pushes_accepted], ["refused", now.counters.pushes_rejected],
            ["not sent", now.counters.pushes_not_sent], ["unknown", now.counters.pushes_unknown],
        ].map(([name, value]) => [name, count(value)]));
    };
    const again = poll(1000, signal, async () => {
        turns += 1;
        if (!isOld || turns % 3 === 1) act(await get("/v1/overview", {}, signal));
    });
    const { lastHour } = await import("./history.js");
    if (!signal.aborted) fill(hour, lastHour(signal));
}

/** How fast a counter grows that only grows. */
function rate(samples, value) {
    const seconds = (Date.parse(samples.at(-1).at) - Date.parse(samples[0].at)) / 1000;
    if (seconds <= 0) return "–";
    const each = Math.max(0, value(samples.at(-1)) - value(samples[0])) / seconds;
    return each < 10 ? each.toFixed(1) : count(Math.round(each));
}

/** What Apple has taken, and what the phones have said of it. */
function wordsOfCards(cards) {
    const list = (mark, ...parts) => {
        const known = parts.filter(([name]) => cards[name]).map(([name, words]) => `${count(cards[name])} ${words}`);
        return known.length ? mark + known.join(", ") : "";
    };
    return cards.running ? `Apple has taken the newest version for ${count(cards.accepted)} of ${count(cards.running)} cards`
        + list(": ", ["shown", "shown"], ["older", "older on the phone"], ["silent", "silent"], ["by_channel", "by channel"])
        + list("; ", ["refused", "refused"], ["unreachable", "out of reach, for Apple refused the token"]) + "." : "";
}

export function facts(list, pairs) {
    if (list.children.length !== pairs.length * 2) {
        fill(list, pairs.map(([name]) => [h("dt", {}, name), h("dd")]));
    }
    pairs.forEach(([, value], index) => {
        const cell = list.children[index * 2 + 1];
        if (value instanceof Node) cell.replaceChildren(value);
        else setText(cell, value);
    });
}
