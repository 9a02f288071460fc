// One delivery: all of its times, what held it, and why.

import { get, segment } from "./api.js";
import {
    badge, brief, command, count, duration, fill, h, json, link, panel, recipient, s, time, toActivity,
    toRecipient, zone,
} from "./dom.js";
import { facts, reasons } from "./overview.js";
import { explained, whyAddress } from "./why.js";

const tones = {
    accepted: "good", rejected: "bad", not_sent: "warn", unknown: "warn", expired: "warn",
};

/** The result of a delivery in a pill, with Apple's word where there is one. */
export function resultOf(row) {
    const word = row.result.replaceAll("_", " ");
    return badge([row.push?.status, row.push?.reason ?? word].filter(Boolean).join(" "),
        tones[row.result]);
}

/** "4–6": the versions that a delivery is about. */
export function versionsOf(row) {
    const first = row.merged?.[0];
    return first && first !== row.version ? `${first}–${row.version}` : `${row.version}`;
}

const words = (reason, text) => reasons[reason] ?? text ?? String(reason ?? "").replaceAll("_", " ");

export async function delivery(root, id, signal) {
    const row = await get(`/v1/deliveries/${segment(id)}`, {}, signal);
    const { push } = row;
    const box = h("div", {}, h("p.hint", {}, "Asking the log …"));
    const line = h("div");
    const list = h("dl.facts");
    facts(list, [
        ["activity", row.activity ? toActivity(row.activity) : "not known any more"],
        [row.channel ? "channel" : "device", toRecipient(row)], ["versions", versionsOf(row)],
        ["result", resultOf(row)], ["became", row.action ?? "nothing new"],
        ...(row.reason ? [["reason", words(row.reason, row.reason_text)]] : []),
        ...(push ? [
            ["push", `${push.event}, ${push.route.replaceAll("_", " ")}, priority ${push.priority}`],
            ["payload", push.bytes === undefined ? "–" : `${count(push.bytes)} bytes`],
            ["apns-id", h("code", {}, push.apns_id)],
            ...(push.alert ? [["alert of", `version ${push.alert}`]] : []),
            ...(push.purpose ? [["purpose", push.purpose]] : []),
        ] : []),
    ]);
    fill(root, h("h1", {}, "Delivery ", h("span.badges", {}, badge(brief(row.id, 40)), resultOf(row))),
        h("div.columns.uneven", {}, panel("What it was", list),
            panel(`When (${zone})`, line)),
        panel("Why", box),
        h("details", {}, h("summary", {}, "As the API says it"), json(row)),
        command(`tombolo delivery show ${row.id}`));
    drawTimes(line, row, null);
    if (!row.activity) {
        fill(box, h("p.hint", {}, "The activity is not known any more."));
        return;
    }
    const path = `/v1/activities/${segment(row.activity)}/explain`;
    try {
        const answer = await get(path, { device: recipient(row), version: row.version }, signal);
        fill(box, explained(answer),
            h("p", {}, link(whyAddress(row.activity, { device: recipient(row), version: row.version }),
                "On the page of the activity")));
        const first = row.merged?.[0] ?? row.version;
        const oldest = first === row.version ? answer
            : await get(path, { device: recipient(row), version: first }, signal);
        drawTimes(line, row, oldest.because.find((one) => one.code === "recorded")?.at);
    } catch (error) {
        if (!error.problem) throw error;
        fill(box, h("p.trouble", { role: "alert" }, error.message));
    }
}

/** The moments of a delivery, in their order. */
function moments(row, recorded) {
    const first = row.merged?.[0] ?? row.version;
    const sent = row.push?.sent_at;
    const due = sent && row.waited_ms !== undefined
        ? new Date(Date.parse(sent) - row.waited_ms).toISOString() : null;
    return [
        ["recorded", recorded, `The producer said version ${first}; it was on disk.`],
        ["due", due, "The oldest of its changes could have gone."],
        ["sent", sent, "The push went to Apple."],
        [row.push ? "answered" : "decided", row.at,
            row.push ? `Apple answered ${row.push.status ?? ""} ${row.push.reason ?? ""}`.trim() + "."
                : "The relay decided that it needs no push of its own."],
    ].filter(([, at]) => at);
}

function drawTimes(box, row, recorded) {
    const points = moments(row, recorded);
    const start = Date.parse(points[0][1]);
    const whole = Math.max(1, Date.parse(points[points.length - 1][1]) - start);
    const x = (at) => Math.max(0, Math.min(1, (at - start) / whole)) * 240;
    const bar = s("svg", { viewBox: "0 0 240 20", preserveAspectRatio: "none", "aria-hidden": "true" });
    const due = points.find(([name]) => name === "due")?.[1];
    let from = Date.parse(due ?? points[0][1]);
    const held = (row.held ?? []).filter((one) => one.ms > 0 || row.held.length === 1);
    held.forEach((one, index) => {
        bar.append(s("rect", { class: `held h${index % 4}`, x: x(from), y: 4, height: 12,
            width: Math.max(1, x(from + one.ms) - x(from)) }));
        from += one.ms;
    });
    for (const [, at] of points) {
        bar.append(s("rect", { class: "moment", x: Math.min(239, x(Date.parse(at))), y: 0, width: 1,
            height: 20 }));
    }
    fill(box, h("div.timesbar", {}, bar),
        h("ol.times", {}, points.map(([name, at, text], index) => h("li", {},
            h("strong", {}, name), time(at, true),
            h("span.hint", {}, index === 0 ? "" : `+${duration(
                Math.max(0, Date.parse(at) - Date.parse(points[index - 1][1])) / 1000)}`),
            h("span", {}, text)))),
        held.length === 0 ? h("p.calm", {}, row.push ? "Nothing held it." : "It waited for nothing.")
            : [h("h3", {}, `What held it${row.waited_ms === undefined ? ""
                : `: ${duration(row.waited_ms / 1000)} in all`}`),
            h("ul.holds", {}, held.map((one, index) => h("li", {},
                h(`span.swatch.h${index % 4}`, { "aria-hidden": "true" }),
                h("strong", {}, duration(one.ms / 1000)), badge(one.reason),
                h("span", {}, one.reason_text))))]);
}
