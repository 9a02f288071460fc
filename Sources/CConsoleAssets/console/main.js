// The frame of the console: sign-in, navigation, and one screen at a time.

import { Refusal, get, onOffline, onRefused, session } from "./api.js";
import { brief, command, fill, h, say } from "./dom.js";
import { endLive, live, onEvents, startLive } from "./live.js";
import { overview } from "./overview.js";
import { activities } from "./activities.js";
import { activity } from "./activity.js";
import { deliveries } from "./deliveries.js";
import { devices } from "./devices.js";
import { log } from "./log.js";
import { phones } from "./phones.js";
import { channels, types } from "./registry.js";
import { why } from "./why.js";
import { pacing } from "./pacing.js";

/** One row a screen: its link, and who draws it; `of` is the screen whose link leads to it. */
const screens = [
    { name: "overview", title: "Overview", show: overview },
    { name: "activities", title: "Activities", show: activities },
    { name: "activity", title: "Activity", of: "activities", show: activity },
    { name: "why", title: "Why", show: why },
    { name: "phones", title: "Phones", show: phones, if: () => session.me?.phones },
    { name: "deliveries", title: "Deliveries", show: deliveries },
    { name: "devices", title: "Devices", show: devices },
    { name: "log", title: "Log", show: log },
    { name: "pacing", title: "Pacing", show: pacing },
    { name: "types", title: "Types", show: types },
    { name: "channels", title: "Channels", show: channels },
];

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const who = document.getElementById("who");
const top = document.getElementById("top");
let leave = new AbortController();
let lasting = new AbortController();

/**
 * A key in the address: `dev` hands it over so. It leaves the address at once, and never takes the
 * place of a key that is in use. Answers whether there is a new one.
 */
function keyOfAddress() {
    const found = /^#key=([\w-]+)$/.exec(location.hash);
    if (!found) return false;
    history.replaceState(null, "", `${location.pathname}#/overview`);
    if (session.key) return false;
    session.keep(found[1]);
    return true;
}

function place() {
    const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").map((part) => {
        try {
            return decodeURIComponent(part);
        } catch {
            return part;
        }
    });
    // `#/activities/ID/why` is on the page of that activity.
    const name = parts[0] === "activities" && parts[1] ? "activity" : parts[0];
    const screen = screens.find((one) => one.name === name && (!one.if || one.if()));
    return {
        screen: screen ?? screens[0], id: screen ? parts[1] || null : null,
        part: screen ? parts[2] ?? null : null,
        query: new URLSearchParams(query),
    };
}

function route(moved) {
    if (!session.me) return;
    leave.abort();
    leave = new AbortController();
    const { screen, id, part, query } = place();
    document.title = `${part ? brief(part) + " · " : ""}${id ? brief(id) + " · " : ""}${screen.title} · Tombolo`;
    for (const entry of nav.children) {
        const isHere = entry.getAttribute("href") === `#/${screen.of ?? screen.name}`;
        if (isHere) {
            entry.setAttribute("aria-current", "page");
            entry.scrollIntoView?.({ block: "nearest", inline: "center" });
        } else entry.removeAttribute("aria-current");
    }
    const content = h(`div.screen.${screen.name}`);
    fill(main, content);
    scrollTo(0, 0);
    if (moved) main.focus({ preventScroll: true });
    Promise.resolve(screen.show(content, { id, part, query, signal: leave.signal })).catch((error) => {
        if (error.name === "AbortError") return;
        if (!(error instanceof Refusal)) throw error;
        content.append(problem(error));
    });
}

/** A refusal of the relay, in its own words. */
function problem(error) {
    return h("div.notice.bad", { role: "alert" },
        h("strong", {}, error.problem.title ?? "That did not work"), h("p", {}, error.message));
}

function signIn(message) {
    leave.abort();
    top.hidden = true;
    document.title = "Sign in · Tombolo";
    const field = h("input", {
        type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true,
        "aria-describedby": "keyhint",
    });
    const trouble = h("p.trouble", { role: "alert" }, message ?? "");
    const form = h("form.signin", {},
        h("img", { src: "icon.svg", alt: "", width: 56, height: 56 }),
        h("h1", {}, "Tombolo"), h("label", { for: "key" }, "API key"), field,
        h("p.hint", { id: "keyhint" },
            "A key with the scope observe shows everything; operate may also act. It stays in this "
            + "tab, and goes when you close it."),
        h("button.primary", { type: "submit" }, "Sign in"), trouble,
        h("details", {}, h("summary", {}, "No key yet?"),
            h("p.hint", {}, "A key of scope operate makes others while the relay runs:"),
            command(`tombolo key mint --scope observe --relay ${location.origin} --key KEY`),
            h("p.hint", {}, "Where there is no such key: stop the relay, make one in its data directory, "
                + "and start it again."),
            command("tombolo key mint --scope observe,operate --data DIR")));
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        const key = field.value.trim();
        if (!/^[\x21-\x7e]+$/.test(key)) {
            fill(trouble, "This is not an API key. API keys look like tmb_live_….");
            return;
        }
        session.keep(key);
        await enter((text) => fill(trouble, text));
    });
    fill(main, form);
    field.focus();
}

async function enter(failed) {
    try {
        session.me = await get("/v1/overview");
        session.ahead = Date.parse(session.me.at) - Date.now();
    } catch (error) {
        // A relay that starts again knows the key as before.
        if (error.status !== 0) session.forget();
        failed(error.status === 0
            ? "The relay cannot be reached. Reload the page to try again." : error.message);
        return;
    }
    fill(nav, screens.filter((screen) => !screen.of && (!screen.if || screen.if()))
        .map((screen) => h("a", { href: `#/${screen.name}` }, screen.title)));
    const { tenant, key } = session.me;
    const dot = h("span.dot", { title: "The live stream" });
    fill(who, dot, h("span.scopes", { title: `Key ${key.id}` },
        `${tenant} · ${key.scopes.join(", ")}`),
    h("button", { type: "button", onclick: signOut }, "Sign out"));
    top.hidden = false;
    lasting = new AbortController();
    onEvents(lasting.signal, ({ state }) => showStream(dot, state));
    startLive(session.me.last_seq);
    showStream(dot, live.state);
    route(false);
}

function showStream(dot, state) {
    dot.dataset.state = state;
    dot.title = { open: "Live", waiting: "Connecting", refused: "No live stream" }[state];
}

function signOut(message) {
    lasting.abort();
    endLive();
    session.forget();
    signIn(typeof message === "string" ? message : "");
}

let isOffline = false;
onOffline((now) => {
    if (now !== isOffline) {
        say(now ? "The relay cannot be reached. The page tries again." : "The relay answers again.",
            now ? "bad" : "");
    }
    isOffline = now;
});
onRefused((detail) => signOut(detail ?? "The key is not valid any more."));
document.getElementById("skip").addEventListener("click", () => main.focus());
addEventListener("hashchange", () => {
    if (keyOfAddress()) enter(signIn);
    else if (session.me) route(true);
});

keyOfAddress();
if (session.key) enter(signIn);
else signIn();
