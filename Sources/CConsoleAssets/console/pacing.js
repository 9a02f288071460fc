// What holds pushes back: an operator's pauses, and budgets.

import { get, poll, post, remove, segment, session } from "./api.js";
import {
    badge, brief, count, distance, fill, h, panel, say, time, timeTitle, toActivity, toDevice,
} from "./dom.js";
import { waiting } from "./overview.js";
import { Table } from "./table.js";

export async function pacing(root, { signal }) {
    const may = session.may("operate");
    const pauses = new Table("What is paused", [
        { title: "Pause", cell: (row) => row.id },
        { title: "Of", cell: scope },
        { title: "Holds", cell: (row) => row.alerts_only ? "alerts" : "pushes" },
        { title: timeTitle("Since"), cell: (row) => time(row.since) },
        { title: "Why", cell: (row) => brief(row.reason ?? "–", 120), wraps: true },
        ...(may ? [{ title: "End", cell: (row) => h("button", {
            type: "button", "aria-label": `Resume ${row.id}`,
            onclick: () => act(() => remove(`/v1/pauses/${segment(row.id)}`), `${row.id} is over.`),
        }, "Resume") }] : []),
    ], { key: (row) => row.id, none: "Nothing is paused." });
    const classes = new Table("Budget classes", [
        { title: "Class", cell: (row) => badge(row.class) },
        { title: "Spacing", cell: (row) => row.spacing },
        { title: "Burst", cell: (row) => count(row.burst), number: true },
        { title: "An hour", cell: (row) => row.per_hour === null ? "no limit" : count(row.per_hour),
            number: true },
        { title: "Reserve", cell: (row) => count(row.reserve), number: true },
        { title: "Low priority", cell: (row) => row.low_priority_spacing },
    ], { key: (row) => row.class });
    const left = new Table("What is left of the budgets", [
        { title: "Activity", cell: (row) => toActivity(row.activity) },
        { title: "Device", cell: (row) => toDevice(row.device) },
        { title: "Class", cell: (row) => row.grant.class },
        { title: "Pushes now", hint: "Pushes that this card may get at once",
            cell: (row) => limited(row.left), number: true },
        { title: "All cards", hint: "Pushes that all cards of the phone may get at once",
            cell: (row) => limited(row.device_left), number: true },
        { title: "Starts now", hint: "Starts that the phone may get at once",
            cell: (row) => limited(row.starts_left), number: true },
        { title: "This hour, estimated", hint: "What iOS is taken to allow the phone in an hour",
            cell: (row) => row.phone ? `${count(row.phone.left)} of ${count(row.phone.per_hour)}`
                : "no limit", number: true },
        { title: "Next at 10", hint: "When a change of high urgency goes at priority 10 again",
            cell: (row) => row.high_at ? distance(row.high_at) : "–" },
        { title: "Next push", cell: (row) => waiting(row.waiting)
            || (row.next_at ? distance(row.next_at) : "–") },
    ], { key: (row) => `${row.activity} ${row.device}`, none: "No activity runs." });
    fill(root, h("h1", {}, "Pauses and budgets"),
        panel("Pauses", pauses.element, may && pauseForm((body) =>
            act(() => post("/v1/pauses", body), "Paused. Resume it here."))),
        panel("What is left", left.element), panel("Classes", classes.element));
    const draw = async () => {
        const list = await get("/v1/pauses", {}, signal);
        pauses.update(list.pauses);
        const budgets = await get("/v1/budgets", { limit: 500 }, signal);
        classes.update(budgets.classes);
        left.update(budgets.destinations);
    };
    async function act(change, words) {
        try {
            await change();
            say(words);
            await draw();
        } catch (error) {
            say(error.message, "bad");
        }
    }
    await draw();
    poll(2000, signal, draw);
}

const limited = (left) => left === null ? "no limit" : count(left);

function scope(row) {
    if (row.all) return "everything";
    if (row.activity) return toActivity(row.activity);
    return row.type ? `type ${brief(row.type)}` : `app ${brief(row.app)}`;
}

function pauseForm(pause) {
    const what = h("select", { id: "pausewhat" }, [["activity", "one activity"],
        ["type", "a type"], ["app", "an app"], ["all", "everything"]].map(([value, words]) =>
        h("option", { value }, words)));
    const name = h("input", { id: "pausename", placeholder: "its id or name" });
    const why = h("input", { id: "pausewhy", placeholder: "for those who come after you" });
    const alerts = h("input", { type: "checkbox", id: "pausealerts" });
    what.addEventListener("change", () => { name.disabled = what.value === "all"; });
    return h("form.filters", {
        onsubmit: (event) => {
            event.preventDefault();
            const body = what.value === "all" ? { all: true } : { [what.value]: name.value.trim() };
            if (alerts.checked) body.alerts_only = true;
            if (why.value.trim()) body.reason = why.value.trim();
            pause(body);
        },
    }, h("label", { for: "pausewhat" }, "Pause", what), h("label", { for: "pausename" }, "Which", name),
    h("label", { for: "pausewhy" }, "Reason", why),
    h("label.check", { for: "pausealerts" }, alerts, "alerts only"),
    h("button", { type: "submit" }, "Pause"));
}
