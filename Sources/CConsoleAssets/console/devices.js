// Devices, their tokens by prefix, and what is left of their budgets.

import { get, poll, segment } from "./api.js";
import {
    badge, brief, count, distance, empty, fill, filtersOf, h, keepFilters, link, panel, setText, time,
    timeTitle, toActivity, toDevice, zone,
} from "./dom.js";
import { facts, waiting } from "./overview.js";
import { Table } from "./table.js";
import { toWhy } from "./why.js";

const PAGE = 200;

const STATES = { not_due: "not due" };
const TONES = { done: "good", doubtful: "warn", lacks: "bad" };

const MISSING = { start_token: "start token", update_token: "update token", report: "reports",
    frequent_updates: "frequent updates", widget_token: "widget token" };

/** How long ago the relay heard of it; both times on hover. */
function seen({ last_seen: at }) {
    const moment = time(at);
    return at ? h("time", { datetime: at, title: `${moment.textContent} ${zone}, ${at}` }, distance(at)) : "not known";
}

const budgetOf = ({ budget }) => budget.left === undefined ? "no limit" : `all cards: ${count(budget.left)} left now`;

function shows({ shows }) {
    const more = shows.count - shows.activities.length;
    return [shows.activities.map((id) => [toActivity(id), " "]), more > 0 && `and ${count(more)} more`,
        shows.count === 0 && "nothing"];
}

export async function devices(root, { id, query, signal }) {
    if (id) return device(root, id, signal);
    const table = new Table("Devices", [
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Last seen", cell: seen },
        { title: "User", cell: (row) => brief(row.user ?? "–") },
        { title: "App", cell: (row) => brief(row.app ?? "–") },
        { title: "System", cell: (row) => brief(row.os ?? "–") },
        { title: "Shows", cell: shows },
        { title: "Budget", cell: (row) => h("span", { title: row.budget.text }, budgetOf(row)) },
        { title: "Missing", cell: (row) => row.missing.length === 0 ? "–" : h("span.badges", {},
            row.missing.map((name) => badge(MISSING[name] ?? name, "warn"))) },
    ], {
        key: (row) => row.device,
        stamp: (row) => JSON.stringify(row) + (row.last_seen ? distance(row.last_seen) : ""),
        none: "No device is like this.",
    });
    const more = h("button", { type: "button", hidden: true }, "Show more");
    const fields = [["user", "User", "any user"], ["app", "App", "any app"],
        ["os", "System", "any, or 26"], ["silent_for", "Silent for", "any time, or 1h"]];
    const inputs = fields.map(([name, , placeholder]) =>
        h("input", { id: name, value: query.get(name) ?? "", placeholder }));
    const trouble = h("p.trouble", { role: "status" });
    const asked = () => filtersOf(inputs);
    const jump = h("input", { id: "jump", placeholder: "its id" });
    fill(root, h("h1", {}, "Devices"),
        h("form.filters", { onsubmit: (event) => event.preventDefault() },
            fields.map(([name, words], place) => h("label", { for: name }, words, inputs[place])),
            link("#/devices?silent_for=1h", "silent for an hour")),
        h("form.filters", {
            onsubmit: (event) => {
                event.preventDefault();
                if (jump.value.trim()) location.hash = `#/devices/${segment(jump.value.trim())}`;
            },
        }, h("label", { for: "jump" }, "Go to a device", jump), h("button", {}, "Go")),
        trouble, table.element, more);
    let later = [];
    let cursor = null;
    const first = async () => {
        const ask = asked();
        try {
            const page = await get("/v1/devices", { ...ask, limit: PAGE }, signal);
            if (JSON.stringify(ask) !== JSON.stringify(asked())) return;
            if (later.length === 0) cursor = page.next_cursor;
            table.update([...page.devices, ...later]);
            setText(trouble, "");
        } catch (error) {
            if (!error.status) throw error;
            cursor = null;
            table.update([]);
            setText(trouble, error.message);
        }
        more.hidden = cursor === null;
    };
    more.addEventListener("click", async () => {
        const ask = asked();
        const page = await get("/v1/devices", { ...ask, limit: PAGE, cursor }, signal);
        if (JSON.stringify(ask) !== JSON.stringify(asked())) return;
        later = [...later, ...page.devices];
        cursor = page.next_cursor;
        await first();
    });
    const again = poll(3000, signal, first);
    for (const field of inputs) {
        field.addEventListener("change", () => {
            keepFilters("devices", asked());
            later = [];
            again();
        });
    }
}

async function device(root, id, signal) {
    const path = `/v1/devices/${segment(id)}`;
    let view = await get(path, {}, signal);
    let steps = (await get(`${path}/check`, {}, signal)).steps;
    const list = h("dl.facts");
    const tokens = new Table(`Tokens of ${brief(id)}`, [
        { title: "For", cell: (row) => brief(row.name) },
        { title: "Begins with", cell: (row) => h("code", {}, brief(row.token)) },
        { title: timeTitle("Registered"), cell: (row) => time(row.registered_at) },
    ], { key: (row) => row.name, none: "It has no token: nothing can be pushed to it." });
    const check = new Table(`What the app of ${brief(id)} has sent`, [
        { title: "Step", cell: (row) => row.step.replaceAll("_", " ") },
        { title: "State", cell: (row) => badge(STATES[row.state] ?? row.state, TONES[row.state]) },
        { title: "What is known, and what to do next", wraps: true, cell: (row) => [
            brief(row.text, 300), row.next && h("p.hint", {}, `Next: ${brief(row.next, 300)}`)] },
    ], { key: (row) => `${row.step} ${row.text}`, none: "" });
    const budgets = h("div.meters");
    fill(root, h("h1", {}, brief(id, 128)),
        h("div.columns", {}, panel("What is registered", list), panel("Budgets", budgets)),
        panel("Check", check.element), panel("Tokens", tokens.element),
        h("p", {}, link(`#/deliveries?device=${segment(id)}`, "Its deliveries")));
    const draw = (budget) => {
        facts(list, [
            ["user", brief(view.user ?? "–")], ["app", brief(view.app ?? "–")],
            ["environment", view.environment ?? "–"], ["system", brief(view.os ?? "–")],
            ["app version", brief(view.app_version ?? "–")],
            ["time zone", brief(view.time_zone ?? "–")], ["locale", brief(view.locale ?? "–")],
            ["budget class", view.class], ["frequent updates", view.frequent_updates ? "yes" : "no"],
            ["Live Activities", view.activities_enabled === undefined ? "–" : view.activities_enabled ? "on" : "off"],
            ["the app is", view.presence
                ? `${view.presence.state}${view.presence.in_front ? ", in front" : ""}` : "–"],
            ...(view.refused_tokens ?? []).map((one) => ["refused token", brief(one.text, 300)]),
        ]);
        tokens.update(view.tokens);
        check.update(steps);
        fill(budgets, budget.destinations.length + budget.surfaces.length === 0
            ? empty("No running activity, and no widget that was ever reloaded.")
            : [budget.destinations.map(meter), budget.surfaces.map(surface)]);
    };
    draw(await get("/v1/budgets", { device: id, limit: 50 }, signal));
    poll(2000, signal, async () => {
        view = await get(path, {}, signal);
        steps = (await get(`${path}/check`, {}, signal)).steps;
        draw(await get("/v1/budgets", { device: id, limit: 50 }, signal));
    });
}

/** One destination's grant, and what is left of it. */
function meter(row) {
    const most = row.phone?.per_hour ?? row.grant.per_hour;
    const left = row.left === null ? "no limit" : `${count(row.left)} pushes left now`;
    return h("div.meterrow", {}, h("span", {}, toActivity(row.activity), " · ", toWhy(row.activity, { device: row.device })),
        h("span.hint", {}, `${row.grant.class} · this card: ${left}`
            + (row.phone ? ` · the phone may draw ${count(row.phone.left)} of ${count(row.phone.per_hour)} an hour`
                : "")
            + (row.next_at ? ` · next ${distance(row.next_at)}` : "")
            + (row.waiting ? ` · ${waiting(row.waiting)}` : "")),
        row.left !== null && most && h("meter", {
            min: 0, max: most, low: most / 5, value: Math.min(most, row.phone?.left ?? row.left),
            "aria-label": `Budget of ${row.activity}`,
        }));
}

function surface(row) {
    return h("div.meterrow", {}, h("strong", {}, brief(row.surface)),
        h("span.hint", {}, `${row.class} · ${row.left === null ? "no limit" : `${count(row.left)} left`}`
            + (row.wanted ? " · a reload waits" : "")));
}
