// Timelines: what widgets show of a subject, now and later, and how each family draws it.

import { Refusal, get, poll, segment, session } from "./api.js";
import {
    badge, brief, distance, empty, fill, h, json, link, panel, plain, setText, time, timeTitle,
    toActivity, toDevice,
} from "./dom.js";
import { frames } from "./island.js";
import { facts } from "./overview.js";
import { readTypes } from "./picture.js";
import { Table } from "./table.js";
import { WidgetFace, families } from "./widget.js";

const PAGE = 200;

/** "user", "u1" */
const subjectOf = ({ subject }) =>
    ["user", "device", "key"].filter((name) => name in subject).map((name) => [name, subject[name]])[0];

export async function timelines(root, { id, query, signal }) {
    if (id) return timeline(root, id, query, signal);
    const table = new Table("Timelines", [
        { title: "Kind", cell: (row) => link(`#/timelines/${segment(row.kind)}?${
            new URLSearchParams([subjectOf(row), ["app", row.app]])}`, brief(row.kind)) },
        { title: "Subject", cell: (row) => brief(subjectOf(row).join(" ")) },
        { title: "App", cell: (row) => brief(row.app) },
        { title: "Policy", cell: policyOf },
        { title: timeTitle("Updated"), cell: (row) => time(row.updated_at) },
        { title: timeTitle("Due"), hint: "When the producer is asked for fresh content",
            cell: (row) => time(row.due_at) },
    ], { key: (row) => JSON.stringify([row.app, row.kind, subjectOf(row)]),
        none: "There is no timeline. PUT /v1/timelines/{kind} makes one." });
    const more = h("button", { type: "button", hidden: true }, "Show more");
    fill(root, h("h1", {}, "Timelines"),
        h("p.hint", {}, "A timeline says what the widgets of a kind show of one subject, and when it changes. "
            + REMINDER), table.element, more);
    let pages = 1;
    const read = async () => {
        const rows = [];
        let cursor;
        for (let page = 0; page < pages && cursor !== null; page += 1) {
            const answer = await get("/v1/timelines", { limit: PAGE, cursor }, signal);
            rows.push(...answer.timelines);
            cursor = answer.next_cursor;
        }
        more.hidden = cursor === null;
        table.update(rows);
    };
    await read();
    const again = poll(3000, signal, read);
    more.addEventListener("click", () => {
        pages += 1;
        again();
    });
}

const REMINDER = "A widgets push reloads the widgets of all kinds of the app.";

/** The policy in WidgetKit's words. */
function policyOf({ policy, entries, schedule }) {
    if (policy?.after) return h("span", {}, "after ", time(policy.after));
    return policy ?? (entries || schedule ? "atEnd" : "never");
}

const ruleOf = ({ schedule }) => schedule?.weekly ?? schedule?.daily;
const isOfDevice = (view) => ruleOf(view) !== undefined && (ruleOf(view).zone ?? "device") === "device";

function scheduleOf(view) {
    const rule = ruleOf(view);
    if (!rule) return view.entries ? "its own entries" : "–";
    return `${rule.on ? `each ${rule.on}` : "each day"} at ${rule.at}, ${
        isOfDevice(view) ? "in the zone of the device" : rule.zone}`;
}

const ENTRIES = 10;

async function timeline(root, kind, query, signal) {
    const path = `/v1/timelines/${segment(kind)}`;
    const names = Object.fromEntries(["user", "device", "key", "app"].map((name) => [name, query.get(name)]));
    const gone = h("div.notice.bad", { role: "alert", hidden: true });
    const list = h("dl.facts");
    const countdown = h("p.countdown");
    const boundary = h("p.hint");
    const entries = h("div");
    const drawn = h("div.families");
    const content = h("div", {}, h("div.columns", {}, panel("What was put", list),
        panel("Next entry", countdown, boundary, h("p.hint", {}, REMINDER))),
    panel("By family", drawn), panel("Entries, for now and to come", entries));
    fill(root, h("h1", {}, brief(kind, 128), " ", badge(["user", "device", "key"]
        .filter((name) => names[name]).map((name) => `${name} ${names[name]}`).join())), gone, content);
    let [stamp, next, most, faces] = ["", null, ENTRIES, []];

    const draw = (view, type, all, byFamily) => {
        next = all.find(({ date }) => Date.parse(date) > session.now())?.date ?? null;
        fill(boundary, next ? ["at ", time(next)] : "There is no later entry.", next && isOfDevice(view)
            && ". Each device counts in its own time zone. This is the date of one of them.");
        const [name, subject] = subjectOf(view);
        facts(list, [
            ["subject", h("span", {}, `${name} `, name === "device" ? toDevice(subject) : brief(subject))],
            ["app", brief(view.app)],
            ...view.from ? [["shows", h("span", {}, "the activity ", toActivity(view.from.activity))]] : [],
            ["type", view.type ? link(`#/types/${segment(view.type)}`, brief(view.type)) : "–"],
            ["policy", policyOf(view)], ["schedule", brief(scheduleOf(view), 120)],
            ["updated", time(view.updated_at)],
            ["producer is asked", view.due_at ? h("span", {}, time(view.due_at), ` ${
                distance(view.due_at)}`) : "never"],
            ["readers", name !== "key" ? "–" : brief((view.subject.readers ?? view.readers)?.users?.join(", ")
                ?? "no device", 200)],
        ]);
        faces = [];
        const face = (family, state, label) => {
            const one = new WidgetFace(family);
            faces.push(() => one.draw(state, { type: view.type, label }));
            return one.element;
        };
        const figures = byFamily.map(([family, answer]) => h("figure", { "data-family": family },
            h("figcaption", {}, h("strong", {}, family), " ", cut(type, family)),
            answer.problem ? h("p.notice", {}, plain(answer.problem, 400))
                : answer.entries.length === 0 ? empty("It has no entry.")
                    : face(family, answer.entries[0].content, family)));
        const corner = type?.families?.accessoryCorner;
        fill(drawn, h("div", {}, figures.slice(0, 4)), h("div", {}, figures.slice(4), corner && h("figure", {},
            h("figcaption", {}, h("strong", {}, "accessoryCorner"),
                h("span.hint", {}, " is of the watch, and is not drawn.")), json(corner, "Cut of accessoryCorner"))));
        fill(entries, all.length === 0 ? empty("It has no entry.") : all.slice(0, most).map((one, index) =>
            h("article.entry", {}, h("div", {}, h("strong", {}, time(one.date)), " ",
                Date.parse(one.date) > session.now() ? badge("to come") : badge("now", "good"), " ",
                one.provisional && badge("provisional", "warn", "The producer has not said this yet."),
                one.url && h("p.hint", {}, "url ", h("code", {}, brief(one.url, 200))),
                (one.links ?? []).map((to) => h("p.hint", {}, "link ", h("code", {}, brief(to, 200))))),
            face("systemMedium", one.content, `Entry ${index + 1}`),
            json(one.content, `JSON of entry ${index + 1}`))),
        all.length > most && h("button", { type: "button", onclick: () => {
            most = Infinity;
            draw(view, type, all, byFamily);
        } }, `Show all ${all.length}`));
    };

    const read = async () => {
        let view;
        try {
            view = await get(path, names, signal);
            const [types, all] = await Promise.all([readTypes(signal), get(`${path}/entries`, names, signal)]);
            // Of a timeline that shows an activity, the entries know the type.
            const name = view.type ?? all.type;
            const type = types.find((row) => row.type === name && row.app === view.app);
            const fresh = JSON.stringify([view, type, all]);
            if (fresh !== stamp || (next !== null && Date.parse(next) <= session.now())) {
                const [updated_at, ...answers] = await Promise.all([updatedAt(view, signal), ...families.map((family) =>
                    get(`${path}/entries`, { ...names, family }, signal).catch(refusalOf))]);
                draw({ ...view, type: name, updated_at }, type, all.entries, families.map((family, index) => [family, answers[index]]));
                stamp = fresh;
            }
        } catch (error) {
            if (error.status !== 404 || !stamp) throw error;
            view = null;
            fill(gone, h("strong", {}, "This timeline is gone. "), link("#/timelines", "See all timelines"), ".");
        }
        gone.hidden = Boolean(view);
        content.hidden = !view;
    };
    await read();
    poll(2000, signal, read);
    frames(signal, () => {
        for (const drawFace of faces) drawFace();
        setText(countdown, next ? remaining(Date.parse(next) - session.now()) : "None");
    });
}

/** When its content changed last: where it shows an activity, when that did. */
async function updatedAt({ from, updated_at }, signal) {
    if (!from) return updated_at;
    try {
        const { seq } = await get(`/v1/activities/${segment(from.activity)}`, {}, signal);
        const { recorded_at } = await get(`/v1/log/${seq}`, {}, signal);
        return recorded_at > updated_at ? recorded_at : updated_at;
    } catch (error) {
        if (error instanceof Refusal && error.status === 404) return updated_at;
        throw error;
    }
}

/** A family without a cut is refused, and the relay says why. */
function refusalOf(error) {
    if (error instanceof Refusal && error.status === 422) return { problem: error.message };
    throw error;
}

/** What of the content a family gets. */
function cut(type, family) {
    if (!type?.families) return h("span.hint", {}, "all content");
    const parts = type.families[family] ?? [];
    return h("span.hint", {}, parts.map((part, index) => [index > 0 && ", ", h("code", {}, brief(part.path ?? part)),
        part.path !== undefined && part.length && ` (first ${part.length})`]));
}

/** "in 3 d 04:05:06" */
function remaining(milliseconds) {
    const seconds = Math.max(0, Math.floor(milliseconds / 1000));
    const two = (value) => String(Math.floor(value)).padStart(2, "0");
    const days = Math.floor(seconds / 86400);
    const clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(two).join(":");
    return `in ${days > 0 ? `${days} d ` : ""}${clock}`;
}
