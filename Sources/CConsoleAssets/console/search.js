// Finds anything by the beginning of its id, from every screen; and lists the keys.

import { get, segment } from "./api.js";
import { badge, brief, count, fill, h } from "./dom.js";

/** Milliseconds without a key before the relay is asked. */
const WAIT = 150;
const MOST = 128;

/** Where a result leads, and what tells it from its neighbours. */
const kinds = {
    activity: { to: (one) => `activity/${segment(one.id)}`, says: (one) => [one.type, one.status] },
    device: { to: (one) => `devices/${segment(one.id)}`, says: (one) => [one.user, one.app] },
    user: { to: (one) => `devices?user=${segment(one.id)}`, says: (one) => [`devices: ${count(one.devices)}`] },
    type: { to: (one) => `types/${segment(one.id)}`, says: (one) => [one.app] },
    delivery: {
        to: (one) => `deliveries/${segment(one.id)}`,
        says: (one) => [one.result, one.activity, one.device ?? one.channel],
    },
};

const keys = [
    ["⌘K, Ctrl K, /", "Search"], ["↓ ↑", "Move among what is found"], ["Enter", "Open it"],
    ["Esc", "Close the search, this list or Why"], ["?", "List the keys"],
];

let box;

function open(label, ...children) {
    box?.close();
    const dialog = h("dialog.search", {
        "aria-label": label, onclose: () => dialog.remove(),
        onclick: (event) => { if (event.target === dialog) dialog.close(); },
    }, h("div", {}, ...children));
    box = dialog;
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

const listKeys = () => open("Keys", h("h2", {}, "Keys"),
    h("dl.facts", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("button", { type: "button", onclick: () => box.close() }, "Close"));

const row = (one) => h("li", {}, h("a", { href: `#/${kinds[one.kind].to(one)}`, onclick: () => box.close() },
    badge(one.kind), h("strong", {}, brief(one.id, 128)),
    h("span.hint", {}, brief(kinds[one.kind].says(one).filter(Boolean).join(" · "), 128))));

/** Opens the search, or the list of keys. */
export function search(isKeys) {
    if (isKeys) {
        listKeys();
        return;
    }
    let asked = new AbortController();
    let timer;
    const field = h("input", {
        id: "search", maxlength: MOST, autocomplete: "off", autocapitalize: "off",
        spellcheck: "false", placeholder: "an activity, device, user, type, delivery or apns-id",
    });
    const said = h("p.hint", { role: "status" }, "The beginning of an id; a delivery by its whole id.");
    const list = h("ul", { "aria-label": "Found", hidden: true });
    const show = (results, words) => {
        fill(list, results.map(row));
        list.hidden = !results.length;
        fill(said, words);
    };
    /** Answers whether what is listed is what the field asks for. */
    const ask = async () => {
        clearTimeout(timer);
        asked.abort();
        asked = new AbortController();
        const { signal } = asked;
        const q = field.value.trim();
        if (!q) {
            show([], "");
            return true;
        }
        try {
            const answer = await get("/v1/search", { q }, signal);
            if (signal.aborted) return false;
            const found = answer.results.filter((one) => one.kind in kinds);
            show(found, !found.length ? "Nothing begins with this." : answer.is_whole ? `Found: ${found.length}`
                : "More begin with this than is listed. Type more of the id.");
            return true;
        } catch (error) {
            if (signal.aborted) return false;
            if (!error.problem) throw error;
            if (error.status === 401) dialog.close();
            show([], error.message);
            return false;
        }
    };
    const submit = async (event) => {
        event.preventDefault();
        if (await ask()) list.querySelector("a")?.click();
    };
    const move = (event) => {
        const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const all = [field, ...list.querySelectorAll("a")];
        all[(all.indexOf(document.activeElement) + by + all.length) % all.length].focus();
    };
    const dialog = open("Search", h("form", { onsubmit: submit, onkeydown: move },
        h("label", { for: "search" }, "Search"), field, said, list));
    field.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(ask, WAIT);
    });
    dialog.addEventListener("close", () => {
        clearTimeout(timer);
        asked.abort();
    });
    field.focus();
}
