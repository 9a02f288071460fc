// The last hour: what the relay did in each ten seconds, and what changed meanwhile.

import { get, poll, session } from "./api.js";
import { brief, clock, count, duration, fill, h, link, panel, s, time } from "./dom.js";

/** Words for the moments of the log. */
const words = {
    "relay.started": "the relay started", "relay.stopped": "the relay stopped",
    "config.reloaded": "the configuration was reloaded",
    "pause.began": "an operator paused", "pause.ended": "an operator resumed",
    "key.minted": "a new key", "key.rotated": "a key got another secret", "key.removed": "a key was removed",
    "upstream.closed": "Apple closed for", "upstream.open": "Apple is open again for",
    "upstream.retried": "an operator retried", "clock.behind": "the clock is behind", "clock.right": "the clock is right",
    "disk.full": "the disk is full", "disk.has_room": "the disk has room", "log.full": "the log is full",
    "log.has_room": "the log has room", "log.unavailable": "the log does not answer", "log.answers": "the log answers",
    erased: "erased", "dead-letters.retried": "refused pushes were retried",
};
const bad = new Set(["upstream.closed", "clock.behind", "disk.full", "log.full", "log.unavailable"]);

const milliseconds = (value) => duration(value / 1000);
const share = (value) => `${Math.round(value * 100)} %`;
const charts = [
    { title: "Events and refused requests", lines: [["accepted"], ["refused", "bad"]], words: count, isSum: true },
    { title: "Pushes", lines: [["sent"]], words: count, isSum: true },
    { title: "Changes that wait", lines: [["waiting", "warn"]], words: count },
    { title: "From event to Apple's answer", lines: [["median_ms"], ["p99_ms", "warn"]], words: milliseconds },
    { title: "CPU of the relay", lines: [["cpu"]], words: share },
    { title: "Memory of the relay", lines: [["resident_kib"]], words: (kib) => `${count(Math.round(kib / 1024))} MB` },
];
const names = { accepted: "accepted", refused: "refused", sent: "sent", median_ms: "median", p99_ms: "99 %" };

const [WIDTH, HEIGHT, BOTTOM] = [600, 70, 14];
const HOUR = 3600;
const STEP = 10;

/** A time for the log's field `from`, which has no zone. */
const local = (at) => new Date(at - new Date(at).getTimezoneOffset() * 60000).toISOString().slice(0, 23);
/** The log, from a moment on. */
const toLog = (at, ...children) => link(`#/log?kind=all&from=${local(Date.parse(at))}`, ...children);
const said = (moment) => `${words[moment.kind] ?? moment.kind}${moment.about ? ` ${brief(moment.about)}` : ""}`;

/** The panel; it fills itself until `signal` ends it. */
export function lastHour(signal) {
    const plots = h("div.hour");
    const list = h("ol.moments", { "aria-label": "What changed" });
    let known = null;
    const draw = () => {
        const end = Math.max(known.at.at(-1) ?? 0, ...known.moments.slice(-1).map(({ at }) => Date.parse(at) / 1000));
        const shown = known.moments.filter(({ at }) => Date.parse(at) / 1000 > end - HOUR);
        fill(plots, charts.filter(({ lines }) => known[lines[0][0]]).map((chart) => figure(chart, known, end, shown)));
        const rows = [...known.moments].reverse().slice(0, 20);
        fill(list, rows.map((moment) => h("li", { class: bad.has(moment.kind) ? "bad" : null },
            toLog(moment.at, time(moment.at)), " ", said(moment))));
        if (rows.length === 0) fill(list, h("li", {}, "Nothing has changed."));
    };
    poll(STEP * 1000, signal, async () => {
        // In a hidden tab nobody asks: what came meanwhile is asked for then.
        const age = session.now() / 1000 - (known?.at.at(-1) ?? 0) + 2 * STEP;
        const { history } = await get("/v1/overview", { history: age < HOUR ? `${Math.ceil(age)}s` : "1h" }, signal);
        known = known ? joined(known, history) : history;
        draw();
    });
    return panel("The last hour", plots, h("h3", {}, "What changed"), list);
}

/** What was known, with newer points after it; no longer than an hour. */
function joined(known, next) {
    const since = known.at.at(-1) ?? 0;
    const fresh = next.at.findIndex((at) => at > since);
    const old = known.at.findIndex((at) => at > (next.at.at(-1) ?? since) - HOUR);
    const all = { ...next };
    for (const [name, list] of Object.entries(next)) {
        if (!Array.isArray(list) || name === "moments") continue;
        all[name] = [...known[name].slice(Math.max(0, old)), ...fresh < 0 ? [] : list.slice(fresh)];
    }
    return all;
}

function figure({ title, lines, words: text, isSum }, history, end, moments) {
    const all = lines.flatMap(([name]) => history[name]).filter((value) => value !== null);
    const most = Math.max(...all, 0);
    const x = (at) => (at - end + HOUR) / HOUR * WIDTH;
    const y = (value) => HEIGHT - BOTTOM - (most ? value / most : 0) * (HEIGHT - BOTTOM - 4);
    const newest = lines.map(([name]) => {
        const value = isSum ? history[name].reduce((sum, one) => sum + one, 0) : history[name].at(-1);
        return `${names[name] && lines.length > 1 ? `${names[name]} ` : ""}${value === undefined || value === null ? "–" : text(value)}`;
    }).join(", ") + (isSum ? " in the hour" : "");
    const peak = `most ${text(most)}${isSum ? ` in ${STEP} s` : ""}`;
    const ticks = [];
    for (let at = Math.ceil((end - HOUR) / 600) * 600; at <= end; at += 600) ticks.push(at);
    return h("figure.plot", {},
        h("figcaption", {}, h("span", {}, title), h("strong", {}, newest), h("span.hint", {}, peak)),
        s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": `${title}: ${newest}; ${peak}` },
            ticks.map((at) => [
                s("line", { class: "tick", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT - BOTTOM }),
                s("text", { class: "tick", x: x(at) + 2, y: HEIGHT - 2 }, clock(at * 1000).slice(0, 5)),
            ]),
            lines.map(([name, tone = ""]) => s("path", { class: `line ${tone}`, d: path(history.at, history[name], x, y) })),
            moments.map((moment) => mark(moment, x(Date.parse(moment.at) / 1000)))));
}

function path(ats, values, x, y) {
    let isOn = false;
    let before = 0;
    return ats.map((at, place) => {
        const value = values[place];
        const goesOn = isOn && at - before <= 3 * STEP;
        isOn = value !== null;
        before = at;
        return isOn ? `${goesOn ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}h.1` : "";
    }).join("");
}

/** A moment in a plot: its line opens the log there. */
function mark(moment, at) {
    const href = toLog(moment.at).getAttribute("href");
    return s("a", { href, "aria-label": `${said(moment)}, in the log`, class: bad.has(moment.kind) ? "mark bad" : "mark" },
        s("title", {}, `${clock(Date.parse(moment.at))} ${said(moment)}`),
        s("rect", { x: at - 4, y: 0, width: 8, height: HEIGHT - BOTTOM }),
        s("line", { x1: at, x2: at, y1: 0, y2: HEIGHT - BOTTOM }));
}
