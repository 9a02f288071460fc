// What became of events at each phone, and pushes that Apple refused for good.

import { get, poll, post, session } from "./api.js";
import {
    badge, brief, count, fill, h, panel, say, setText, time, timeTitle, toActivity, toDevice,
} from "./dom.js";
import { onEvents } from "./live.js";
import { reasons } from "./overview.js";
import { Table } from "./table.js";

const PAGE = 200;

const actionTones = {
    sent: "good", merged: "", skipped: "", deferred: "warn", expired: "warn", refused: "bad",
};

export async function deliveries(root, { query, signal }) {
    const table = new Table("Deliveries", [
        { title: timeTitle(), cell: (row) => time(row.at) },
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Version", cell: (row) => versions(row), number: true, wide: true },
        { title: "Action", cell: (row) => badge(row.action ?? "push", actionTones[row.action]) },
        { title: "Apple", cell: apple },
        { title: "Took", cell: (row) => row.push ? `${row.push.took_ms ?? 0} ms` : "", number: true,
            wide: true },
    ], { key: (row) => row.number, none: "No decision is like this since the relay began." });
    const filter = (id, title) => h("input", {
        id, value: query.get(id) ?? "", placeholder: `any ${title.toLowerCase()}`,
    });
    const activity = filter("activity", "Activity");
    const device = filter("device", "Device");
    const following = h("input", { type: "checkbox", id: "follow", checked: true });
    const trouble = h("p.trouble", { role: "status" });
    const letters = h("div");
    fill(root, h("h1", {}, "Deliveries"), deadLetters(letters),
        panel("Decisions", h("form.filters", { onsubmit: (event) => event.preventDefault() },
            h("label", { for: "activity" }, "Activity", activity),
            h("label", { for: "device" }, "Device", device),
            h("label.check", { for: "follow" }, following, "Follow")), trouble, table.element));
    const again = poll(2000, signal, async () => {
        if (!following.checked && table.rows.length) return;
        try {
            const page = await get("/v1/deliveries", {
                activity: activity.value.trim(), device: device.value.trim(), limit: PAGE,
            }, signal);
            setText(trouble, "");
            table.update(page.deliveries);
        } catch (error) {
            if (error.status) setText(trouble, error.message);
            if (error.status) table.update([]);
            else throw error;
        }
    });
    for (const field of [activity, device, following]) field.addEventListener("change", again);
    let timer = 0;
    onEvents(signal, () => { timer ||= setTimeout(() => { timer = 0; again(); }, 700); });
    await refreshLetters(letters, signal);
    poll(10000, signal, () => refreshLetters(letters, signal));
}

function versions(row) {
    const first = row.merged?.[0];
    return first && first !== row.version ? `${first}–${row.version}` : `${row.version}`;
}

function apple(row) {
    const { push } = row;
    if (!push) {
        const words = reasons[row.reason] ?? row.reason_text ?? (row.reason ?? "").replaceAll("_", " ");
        return h("span", { title: row.reason_text }, brief(words, 120));
    }
    const tone = { accepted: "good", rejected: "bad", not_sent: "warn", unknown: "warn" };
    const words = push.reason ?? push.result.replaceAll("_", " ");
    return h("span", { title: `${push.route} · priority ${push.priority} · ${push.apns_id}` },
        badge(`${push.status ?? ""} ${words}`.trim(), tone[push.result]));
}

function deadLetters(box) {
    return panel("Refused for good", box);
}

async function refreshLetters(box, signal) {
    const page = await get("/v1/dead-letters", { limit: 100 }, signal);
    const stamp = JSON.stringify(page);
    if (box.dataset.stamp === stamp) return;
    box.dataset.stamp = stamp;
    if (page.dead_letters.length === 0) {
        fill(box, h("p.calm", {}, "Apple has refused nothing for good."));
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
    const table = new Table("Pushes that Apple refused for good", [
        { title: timeTitle(), cell: (row) => time(row.at) },
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Apple's word", cell: (row) => badge(`${row.status} ${row.reason}`, "bad") },
        { title: "What", cell: (row) => `${row.do} v${row.version}`, wide: true },
        ...(may ? [{ title: "Again", cell: (row) => h("button", {
            type: "button", "aria-label": `Retry ${row.activity} on ${row.device}`,
            onclick: () => retry({ activity: row.activity, device: row.device }, "Retried"),
        }, "Retry") }] : []),
    ], { key: (row) => row.id });
    fill(box, table.element);
    table.update(page.dead_letters);
}
