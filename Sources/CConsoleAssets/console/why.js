// Why a phone shows a version, or does not: the relay's explanation, which comes from its log.

import { get, post, segment } from "./api.js";
import { badge, brief, command, fill, h, link, panel, recipient, time } from "./dom.js";

/** The address of an explanation; `asked`: device, and version or at. */
export function whyAddress(activity, asked = {}) {
    const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
    return `#/activities/${segment(activity)}/why${query.size ? `?${query}` : ""}`;
}

/** A link to it, for a row of a table. */
export const toWhy = (activity, asked) => activity && h("a.why", {
    href: whyAddress(activity, asked),
    "aria-label": `Why? ${brief(activity)}${asked?.device ? ` on ${brief(asked.device)}` : ""}`
        + (asked?.version ? `, version ${asked.version}` : ""),
}, "Why?");

/** `tombolo why A D 7`, which the console can answer as well. */
const itself = /^tombolo why ([\w.:@-]+) ([\w.:@-]+) (\d+)$/;

function next(text) {
    const found = itself.exec(text);
    if (!found) return command(text);
    const [, activity, device, version] = found;
    return h("div.andlink", {}, command(text),
        link(whyAddress(activity, { device, version }), `Why ${brief(device)}?`));
}

/** An explanation: the question, the answer, what is on record, what is suspected, what to do. */
export function explained(answer) {
    return h("div.explanation", {},
        h("p.question", {}, answer.question), h("p.answer", {}, answer.answer),
        answer.because.length > 0 && [h("h3", {}, "On record"),
            h("ol.because", {}, answer.because.map((one) => h("li", {},
                h("span.when", {}, one.at ? time(one.at, true) : ""),
                h("span.code", {}, badge(one.code)), h("span", {}, one.text))))],
        answer.suspects.length > 0 && [h("h3", {}, "Suspects, the most likely first"),
            h("ol.suspects", {}, answer.suspects.map((one) => h("li", {},
                badge(one.code, "warn"), " ", one.text,
                one.speaks_for.length > 0 && h("ul.speaks", { "aria-label": "What speaks for it" },
                    one.speaks_for.map((text) => h("li", {}, text))),
                one.speaks_against && h("ul.speaks.against", { "aria-label": "What speaks against it" },
                    one.speaks_against.map((text) => h("li", {}, text))))))],
        answer.try.length > 0 && [h("h3", {}, "What to do next"), answer.try.map(next)]);
}

/** The explanation on the page of one activity, with a form that asks about another version. */
export class WhyPanel {
    /** moved(asked) puts the question into the address; null: the panel was closed. */
    constructor(activity, signal, moved) {
        Object.assign(this, { activity, signal, moved });
        this.title = h("h2", { tabindex: -1 }, "Why");
        this.device = h("select", { id: "whydevice" });
        this.version = h("input", { id: "whyversion", type: "number", min: 1, placeholder: "newest" });
        this.answer = h("div");
        const form = h("form.filters", {
            onsubmit: (event) => {
                event.preventDefault();
                this.ask({ device: this.device.value, version: this.version.value });
            },
        }, h("label", { for: "whydevice" }, "Phone", this.device),
        h("label", { for: "whyversion" }, "Version", this.version),
        h("button", { type: "submit" }, "Ask"),
        h("button", { type: "button", onclick: () => this.close() }, "Close"));
        this.element = h("section.panel.whypanel", { "aria-label": "Why", hidden: true },
            this.title, form, this.answer);
        document.addEventListener("keydown", ({ key }) => {
            if (key === "Escape" && !this.element.hidden && !document.querySelector("dialog")) this.close();
        }, { signal });
    }

    /** The phones that can be asked about. */
    offer(devices) {
        const chosen = this.device.value;
        const names = ["", ...new Set([...devices, chosen].filter(Boolean))];
        const stamp = names.join();
        if (this.stamp === stamp) return;
        this.stamp = stamp;
        fill(this.device, names.map((name) =>
            h("option", { value: name, selected: name === chosen }, name || "all")));
    }

    /** Asks, and says so in the address; `opener` has the focus again after the close. */
    async ask(asked, opener, isNamed = false) {
        this.opener = opener ?? this.opener;
        if (!isNamed) this.moved(asked);
        this.element.hidden = false;
        this.offer([...this.device.options].map((one) => one.value).concat(asked.device ?? ""));
        this.device.value = asked.device ?? "";
        this.version.value = asked.version ?? "";
        const wanted = JSON.stringify(asked);
        this.wanted = wanted;
        fill(this.answer, h("p.hint", {}, "Asking the log …"));
        let shown;
        try {
            const answer = await get(`/v1/activities/${segment(this.activity)}/explain`, asked,
                this.signal);
            this.version.value = answer.version;
            if (recipient(answer)) this.device.value = recipient(answer);
            shown = explained(answer);
        } catch (error) {
            if (!error.problem) throw error;
            shown = h("p.trouble", { role: "alert" }, error.message);
        }
        if (this.wanted !== wanted) return;
        fill(this.answer, asked.at && h("p.hint", {}, "As it was at ", time(asked.at, true), "."), shown);
        if (!isNamed) this.title.scrollIntoView({ block: "nearest" });
        this.title.focus({ preventScroll: true });
    }

    close() {
        this.element.hidden = true;
        this.moved(null);
        this.opener?.focus();
    }
}

const kinds = {
    activity: { title: "an activity", hint: "Its id." },
    device: { title: "a device", hint: "Its id. Its page asks why of each of its cards." },
    apns_id: { title: "an apns-id", hint: "Of a push, as deliveries and Apple name it." },
    token: { title: "a device's token", hint: "In hexadecimal. It is put into no address." },
    user: { title: "a user", hint: "Each of their devices is explained." },
};

/** What a pasted text looks like. */
function guess(text) {
    if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text) || /^dlv_[\da-f]{32}$/.test(text)) {
        return "apns_id";
    }
    return /^[\da-f]{48,}$/i.test(text) ? "token" : null;
}

/** `dlv_` and the digits are the apns-id without its dashes. */
const asApns = (text) => text.replace(
    /^dlv_(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** Somebody has a token, an apns-id, a user or an activity, and asks why. */
export async function why(root, { signal }) {
    const kind = h("select", { id: "whykind" }, Object.entries(kinds).map(([value, { title }]) =>
        h("option", { value }, title)));
    const field = h("input", {
        id: "whywhat", autocomplete: "off", autocapitalize: "off", spellcheck: "false", required: true,
        "aria-describedby": "whyhint",
    });
    const hint = h("p.hint", { id: "whyhint" });
    const result = h("div");
    const describe = () => fill(hint, kinds[kind.value].hint);
    kind.addEventListener("change", describe);
    field.addEventListener("input", () => {
        const found = guess(field.value.trim());
        if (!found || found === kind.value) return;
        kind.value = found;
        describe();
    });
    const ask = async (event) => {
        event.preventDefault();
        const text = field.value.trim();
        if (!text) return;
        if (kind.value === "activity" || kind.value === "device") {
            location.hash = kind.value === "device" ? `#/devices/${segment(text)}` : whyAddress(text);
            return;
        }
        // A token is a secret: it is in no address, and not on the screen any more either.
        if (kind.value === "token") field.value = "";
        try {
            const body = { [kind.value]: kind.value === "apns_id" ? asApns(text) : text };
            const { explanations } = await post("/v1/explain", body, {}, signal);
            fill(result, explanations.length === 0 && h("p.notice", { role: "status" },
                "The log knows of no delivery to it yet. Ask about its activity: what waits is there."),
            explanations.map((one) => panel(
                recipient(one) ? `${brief(one.activity)} on ${brief(recipient(one))}` : brief(one.activity),
                explained(one), h("p", {}, link(whyAddress(one.activity, {
                    device: recipient(one), version: one.version }), "On the page of the activity")))));
            const first = result.querySelector("h2");
            first?.setAttribute("tabindex", "-1");
            first?.focus();
        } catch (error) {
            if (!error.problem) throw error;
            fill(result, h("p.trouble", { role: "alert" }, error.message));
        }
    };
    describe();
    fill(root, h("h1", {}, "Why"),
        h("section.panel", { "aria-label": "What to explain" },
            h("form.filters", { onsubmit: ask },
                h("label", { for: "whykind" }, "I have", kind),
                h("label.long", { for: "whywhat" }, "Paste it here", field),
                h("button.primary", { type: "submit" }, "Why?")), hint), result);
    field.focus({ preventScroll: true });
}
