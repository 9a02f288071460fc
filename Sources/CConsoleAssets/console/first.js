// The first screen's sentence, what needs attention, and the first steps of a new relay.

import { get, post, put, remove, segment, session } from "./api.js";
import {
    badge, brief, command, count, fill, h, link, panel, say, setText, time, toActivity, toDevice,
} from "./dom.js";
import { toWhy, whyAddress } from "./why.js";

/** A picture of each scenario. */
export const pictures = { radial: "🦊", runner: "🐈", window: "🪟", profile: "🧑", door: "🚪" };

/** A relay with fewer events, of which no phone has shown one, is shown the first steps. */
const EVENTS_OF_NEW = 20;

/** What this page has seen, also while another screen was open: the state, and since when. */
const seen = { state: null, since: null, isWhole: false };

const hasShown = (now) => (now.cards?.shown ?? 0) > 0;
const isNew = (now) => now.phones ? now.last_seq === 0 : now.last_seq < EVENTS_OF_NEW && !hasShown(now);

/** well, attention or nothing: and since when, as far as the relay or this page knows. */
function judge(now) {
    const rows = now.attention;
    const isEmpty = now.last_seq === 0
        || isNew(now) && now.counters.devices === 0 && !now.cards?.running;
    const state = rows.length > 0 ? "attention" : isEmpty ? "nothing" : "well";
    if (seen.state !== state) {
        // The page has not seen how the first state began.
        Object.assign(seen, { state, since: now.at, isWhole: seen.state !== null });
    }
    const known = rows.map(({ since }) => since).filter(Boolean).sort()[0];
    if (state !== "attention" || !known) return { state, since: seen.since, isWhole: seen.isWhole };
    return { state, since: Date.parse(known) < Date.parse(seen.since) ? known : seen.since, isWhole: true };
}

const sentences = { well: () => "All well", nothing: () => "Nothing yet", attention: (rows) => `Look at this: ${count(rows.length)}` };

/** The sentence, and below it a row for each thing that needs attention. */
export class Sentence {
    /** again(): asks the relay at once. */
    constructor(again) {
        this.again = again;
        this.line = h("p.state", { role: "status", hidden: true });
        this.list = h("ul.attention", { hidden: true });
        this.steps = new Steps();
        this.element = panel("Is anything wrong?", this.line, this.list, this.steps.element);
    }

    draw(now) {
        const { state, since, isWhole } = judge(now);
        const shown = `${state} ${since} ${now.attention.map(({ severe }) => severe)}`;
        if (this.shown !== shown) {
            this.shown = shown;
            this.line.dataset.state = state;
            this.line.classList.toggle("bad", now.attention.some(({ severe }) => severe));
            fill(this.line, h("strong", {}, sentences[state](now.attention)),
                isWhole ? " since " : " as far as this page has seen, since ", time(since));
        }
        this.line.hidden = false;
        this.rows([...now.attention].sort((one, other) => Number(other.severe) - Number(one.severe)));
        this.steps.draw(now);
    }

    rows(items) {
        this.list.hidden = items.length === 0;
        const known = new Map([...this.list.children].map((item) => [item.dataset.key, item]));
        const next = items.map((item) => {
            const key = JSON.stringify(item);
            const element = known.get(key) ?? this.row(item);
            element.dataset.key = key;
            return element;
        });
        if (next.length !== this.list.children.length
            || next.some((one, at) => one !== this.list.children[at])) {
            this.list.replaceChildren(...next);
        }
    }

    row(item) {
        const tone = item.severe ? "bad" : "warn";
        const cards = item.members ?? (item.activity || item.device ? [item] : []);
        const isWhy = item.activity && item.look === whyAddress(item.activity, { device: item.device });
        return h("li", { class: tone },
            h("div.what", {}, badge(item.code.replaceAll("_", " "), tone),
                item.count > 1 && h("strong", {}, `${count(item.count)} ×`), h("strong", {}, item.title.replaceAll("`", "")),
                item.since && h("span.hint", {}, "since ", time(item.since))),
            h("p", {}, item.text),
            cards.length > 0 && h("div.where", {}, item.count > 1 ? "for example " : "",
                cards.map(({ activity, device }, place) => [place > 0 && "; ", activity && toActivity(activity),
                    activity && device && " on ", device && toDevice(device),
                    activity && [" · ", toWhy(activity, { device })]])),
            h("div.where", {}, item.look && !isWhy && look(item), this.button(item)),
            [...new Set([item.command, ...item.try])].filter(Boolean).map(command));
    }

    button({ action, app, code }) {
        if (!action || !session.may("operate")) return null;
        const words = `${action.title}${app ? ` ${brief(app)}` : ""}`;
        return h("button.act", { type: "button", "data-code": code, "aria-label": words, onclick: async ({ currentTarget: button }) => {
            button.disabled = true;
            try {
                await (action.method === "DELETE" ? remove(action.path) : post(action.path));
                say(`${words}: done.`);
                this.again();
            } catch (error) {
                say(`${words} did not work. ${error.message}`, "bad");
            } finally {
                button.disabled = false;
            }
        } }, action.title);
    }
}

/** A path of the relay opens beside the console. */
function look({ look: href, title }) {
    const isOutside = !href.startsWith("#");
    return h("a.look", { href, "aria-label": `Look: ${title}`, target: isOutside && "_blank", rel: isOutside && "noopener" }, "Look");
}

/** What a new relay has done, each with the line that does it. It ticks by itself. */
const steps = [
    ["A device has registered", (now) => now.counters.devices > 0, "The app registers its phone with this key.",
        "key mint --scope device:phone-1 --user ada"],
    ["Apple has taken a start", (now) => now.counters.pushes_accepted > 0, "",
        'start order-1 --type OrderAttributes --device phone-1 -s step=baking --alert-title "In the oven"'],
    ["A phone has shown it", hasShown, "The app reports what it shows. If it does not, ask:", "why order-1 phone-1"],
];

/** The first steps of a relay that has done nothing yet; in `dev` the scenarios, one press each. */
class Steps {
    constructor() {
        this.element = h("div.first", { hidden: true });
    }

    draw(now) {
        // A page that has shown the steps goes on until all are done.
        const isWanted = isNew(now) || !now.phones && Boolean(this.items) && !steps.every(([, isDone]) => isDone(now));
        this.element.hidden = !isWanted;
        if (!isWanted) return;
        if (now.phones) {
            this.scenarios ??= this.offer();
            return;
        }
        this.items ??= this.list();
        steps.forEach(([, isDone], place) => {
            const done = isDone(now);
            this.items[place].dataset.done = done;
            setText(this.items[place].firstChild, done ? "✓ done" : "○ not yet");
        });
    }

    list() {
        const items = steps.map(([title, , words, line]) => h("li", {}, h("span.tick"), h("strong", {}, title),
            words && h("span.hint", {}, ` ${words}`), command(`tombolo ${line} --relay ${location.origin} --key KEY`)));
        fill(this.element, h("ol.steps", { "aria-label": "First steps" }, items));
        return items;
    }

    async offer() {
        try {
            const { scenarios = [] } = await get("/v1/phones");
            fill(this.element, h("p", {}, "Press a scenario: its producer starts on the simulated phones."),
                h("div.scenarios", { role: "group", "aria-label": "Scenarios" }, scenarios.map(({ scenario, words = [] }) =>
                    h("button", { type: "button", "data-scenario": scenario, title: words.join(" "),
                        onclick: () => start(scenario) },
                    h("span", { "aria-hidden": "true" }, pictures[scenario] ?? "▶"), ` ${brief(scenario)}`))),
                link("#/phones", "The phones"));
        } catch {
            // Asked again at the next look.
            this.scenarios = undefined;
        }
    }
}

async function start(scenario) {
    try {
        await put(`/v1/scenarios/${segment(scenario)}`, { runs: true });
        location.hash = "#/phones";
    } catch (error) {
        say(`${scenario} did not start. ${error.message}`, "bad");
    }
}
