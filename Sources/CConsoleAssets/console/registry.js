// What is registered: types and channels.

import { get, put, segment, session } from "./api.js";
import {
    badge, brief, count, empty, fill, h, json, link, panel, time, timeTitle, toActivity,
} from "./dom.js";
import { Face } from "./island.js";
import { readTypes } from "./picture.js";
import { Table } from "./table.js";

export async function channels(root, { signal }) {
    const page = await get("/v1/channels", {}, signal);
    const table = new Table("Channels", [
        { title: "Channel", cell: (row) => brief(row.channel) },
        { title: "Carries", cell: (row) => row.activity ? toActivity(row.activity) : "–" },
        { title: "App", cell: (row) => brief(row.app) },
        { title: "Environment", cell: (row) => row.environment },
        { title: "Apple keeps", cell: (row) => row.storage.replaceAll("_", " ") },
        { title: "At Apple", cell: (row) => row.registered === undefined ? badge("not asked")
            : row.registered ? badge("known", "good") : badge("unknown", "bad") },
        { title: timeTitle("Made"), cell: (row) => time(row.created_at) },
    ], { key: (row) => row.channel, none: "There is no broadcast channel." });
    fill(root, h("h1", {}, "Channels"), table.element,
        panel("Quota at Apple", page.apps.length === 0 ? empty("No app is configured.")
            : page.apps.map((app) => h("div.meterrow", {}, h("strong", {}, brief(app.app)),
                h("span.hint", {}, `${app.environment} · ${count(app.own)} of this relay · `
                    + `${app.used === null ? "Apple was not reached" : `${count(app.used)} used`} of `
                    + count(app.limit)),
                app.used !== null && h("meter", { min: 0, max: app.limit, high: app.limit * 0.9,
                    value: app.used, "aria-label": `Channels of ${app.app}` })))));
    table.update(page.channels);
}

export async function types(root, { id, signal }) {
    const known = await readTypes(signal);
    const list = new Table("Types", [
        { title: "Type", cell: (row) => link(`#/types/${segment(row.type)}`, brief(row.type)) },
        { title: "App", cell: (row) => brief(row.app) },
        { title: "Class", cell: (row) => row.budget_class ?? "standard" },
        { title: "Can", cell: (row) => [row.plays && "plays bundles", row.animates && "animates"]
            .filter(Boolean).join(", ") || "–" },
        { title: "Schema", cell: (row) => row.state ? badge("checked", "good") : badge("none") },
    ], { key: (row) => `${row.app} ${row.type}`, none: "No type is registered. That is allowed: "
        + "without one a state may be anything, and nothing checks it." });
    const shown = known.find((one) => one.type === id);
    fill(root, h("h1", {}, "Types"), list.element,
        shown && panel(brief(shown.type, 128), json(shown)),
        tryState(shown, signal));
    list.update(known);
}

/** A state is drawn, and checked by a dry run of a start: nothing is stored. */
function tryState(type, signal) {
    const face = new Face();
    const name = h("input", { id: "trytype", value: type?.type ?? "OrderAttributes",
        spellcheck: "false" });
    const text = h("textarea", { id: "trystate", rows: 7, spellcheck: "false" });
    text.value = '{\n  "step": "baking",\n  "minutes": 12,\n  "progress": 0.4\n}';
    const result = h("div", { role: "status" });
    const state = () => {
        const value = JSON.parse(text.value);
        if (value === null || typeof value !== "object" || Array.isArray(value)) {
            throw new SyntaxError("A state is a JSON object.");
        }
        return value;
    };
    const draw = () => {
        try {
            face.draw(state(), { type: name.value.trim(), label: "Preview" });
            text.removeAttribute("aria-invalid");
        } catch (error) {
            text.setAttribute("aria-invalid", "true");
            fill(result, h("p.trouble", {}, error.message));
        }
    };
    text.addEventListener("input", () => {
        fill(result);
        draw();
    });
    // An image is decoded in its own time.
    const timer = setInterval(draw, 500);
    signal.addEventListener("abort", () => clearInterval(timer));
    draw();
    const check = async (event) => {
        event.preventDefault();
        let value;
        try {
            value = state();
        } catch (error) {
            fill(result, h("p.trouble", {}, error.message));
            return;
        }
        try {
            const body = { type: name.value.trim(), state: value, alert: { title: "Try" } };
            if (type?.app) body.app = type.app;
            const answer = await put(`/v1/activities/try-${crypto.getRandomValues(new Uint32Array(1))[0]}`,
                body, { dry_run: true });
            fill(result, badge("would be taken", "good"),
                answer.push && h("p.hint", {}, `${count(answer.push.payload_bytes)} of `
                    + `${count(answer.push.limit_bytes)} bytes`),
                (answer.lint ?? []).map((one) => h("p.notice", {}, one.message ?? one.code)));
        } catch (error) {
            fill(result, badge("would be refused", "bad"), h("p", {}, error.message),
                (error.problem?.errors ?? []).map((one) =>
                    h("p.hint", {}, h("code", {}, brief(one.pointer)), ` ${brief(one.message, 200)}`)));
        }
    };
    return panel("Try a state", h("form.try", { onsubmit: check },
        h("div", {}, h("label", { for: "trytype" }, "Type", name),
            h("label", { for: "trystate" }, "State", text),
            session.may("produce") ? h("button", { type: "submit" }, "Check it")
                : h("p.hint", {}, "Checking needs a key with the scope produce."), result),
        face.element));
}

