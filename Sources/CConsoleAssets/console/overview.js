// What an on-call person looks at first.

import { get, poll, session } from "./api.js";
import {
    count, distance, duration, fill, h, panel, s, setText, toActivity, toDevice,
} from "./dom.js";
import { Sentence } from "./first.js";
import { Table } from "./table.js";
import { toWhy } from "./why.js";

const SAMPLES_MAX = 120;

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
    ["activities", "Activities", (now) => now.counters.activities],
    ["destinations", "Destinations", (now) => now.counters.destinations],
    ["behind", "Behind", (now) => now.behind],
    ["devices", "Devices", (now) => now.counters.devices],
];
const rates = [
    ["events", "Events a second", (now) => now.counters.events],
    ["pushes", "Pushes a second", (now) => now.counters.pushes],
    ["frames", "Frames a second", (now) => now.counters.frames],
];

export async function overview(root, { signal }) {
    const sentence = new Sentence(() => again());
    const values = Object.fromEntries(tiles.map(([name]) => [name, h("strong", {}, "–")]));
    const plots = Object.fromEntries(rates.map(([name, title]) => [name, new Plot(title)]));
    const lag = h("dl.facts");
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
        h("div.plots", {}, rates.map(([name]) => plots[name].element)),
        h("div.columns", {},
            panel("From event to push", lag), panel("What Apple said", results)),
        panel("Furthest behind", taken, slowest.element), hour);
    const samples = [];
    const act = (now) => {
        session.follow(now);
        session.me = { ...session.me, phones: now.phones, last_seq: now.last_seq };
        for (const [name, , value] of tiles) setText(values[name], count(value(now)));
        samples.push({ at: Date.parse(now.at), now });
        if (samples.length > SAMPLES_MAX) samples.shift();
        for (const [name, , value] of rates) plots[name].draw(samples, value);
        sentence.draw(now);
        setText(taken, wordsOfCards(now.cards ?? {}));
        slowest.update(now.slowest);
        facts(results, [
            ["accepted", now.counters.pushes_accepted], ["refused", now.counters.pushes_rejected],
            ["not sent", now.counters.pushes_not_sent], ["unknown", now.counters.pushes_unknown],
        ].map(([name, value]) => [name, count(value)]));
    };
    const again = poll(1000, signal, async () => act(await get("/v1/overview", {}, signal)));
    poll(5000, signal, async () => drawLag(lag, await lags(signal)));
    const { lastHour } = await import("./history.js");
    if (!signal.aborted) fill(hour, lastHour(signal));
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

/** Of the newest pushes: from the event's record to the decision to push it. */
async function lags(signal) {
    const page = await get("/v1/deliveries", { limit: 300 }, signal);
    const since = Math.max(0, session.me.last_seq - 1000);
    const events = await get("/v1/log", { since, limit: 1000 }, signal);
    const recorded = new Map(events.events.map((event) =>
        [`${event.activity} ${event.version}`, Date.parse(event.recorded_at)]));
    const toPush = [];
    const toAnswer = [];
    for (const delivery of page.deliveries) {
        if (delivery.action !== "sent" || delivery.push?.result !== "accepted") continue;
        const first = delivery.merged?.[0] ?? delivery.version;
        const began = recorded.get(`${delivery.activity} ${first}`);
        if (began === undefined) continue;
        const ended = Date.parse(delivery.at);
        toPush.push(Math.max(0, ended - began - (delivery.push.took_ms ?? 0)));
        toAnswer.push(Math.max(0, ended - began));
    }
    return { toPush, toAnswer };
}

function drawLag(list, { toPush, toAnswer }) {
    const part = (values, share) => {
        const sorted = [...values].sort((one, other) => one - other);
        return sorted.length === 0 ? "–"
            : duration(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] / 1000);
    };
    facts(list, [
        ["median to the push", part(toPush, 0.5)], ["95 % to the push", part(toPush, 0.95)],
        ["95 % to Apple's answer", part(toAnswer, 0.95)],
        ["newest pushes looked at", count(toPush.length)],
    ]);
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

/** A rate over the last minutes, from counters that only grow. */
class Plot {
    constructor(title) {
        this.line = s("path", { class: "line" });
        this.area = s("path", { class: "area" });
        this.value = h("strong", {}, "–");
        this.element = h("figure.plot", {},
            h("figcaption", {}, h("span", {}, title), this.value),
            s("svg", { viewBox: "0 0 240 48", preserveAspectRatio: "none", "aria-hidden": "true" },
                this.area, this.line));
    }

    draw(samples, value) {
        const points = [];
        for (let index = 1; index < samples.length; index += 1) {
            const [before, after] = [samples[index - 1], samples[index]];
            const seconds = (after.at - before.at) / 1000;
            if (seconds <= 0) continue;
            points.push(Math.max(0, value(after.now) - value(before.now)) / seconds);
        }
        if (points.length === 0) return;
        const newest = points[points.length - 1];
        setText(this.value, newest < 10 ? newest.toFixed(1) : count(Math.round(newest)));
        const most = Math.max(1, ...points);
        const step = 240 / (SAMPLES_MAX - 2);
        const start = 240 - step * (points.length - 1);
        const path = points.map((point, index) => {
            const [x, y] = [start + index * step, 45 - point / most * 42];
            return `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
        }).join("");
        this.line.setAttribute("d", path);
        this.area.setAttribute("d", `${path}L240 48L${start.toFixed(1)} 48Z`);
    }
}

