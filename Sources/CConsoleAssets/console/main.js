// The frame of the console: sign-in, navigation, and one screen at a time.

import { Refusal, away, get, onReached, onRefused, poll, session } from "./api.js";
import { brief, clock, command, duration, fill, h, say, setText } from "./dom.js";
import { endLive, live, onEvents, startLive } from "./live.js";
import { overview } from "./overview.js";
import { why } from "./why.js";

/**
 * One row a screen: its link, in which group, and who draws it; `of` is the screen whose link leads to it.
 * Without `show` it is in a file, which comes when it is opened.
 */
const screens = [
    { group: "Now", name: "overview", title: "Overview", show: overview },
    { group: "Now", name: "why", title: "Why", show: why },
    { group: "Cards", name: "activities", title: "Activities" },
    { group: "Cards", name: "activity", title: "Activity", of: "activities" },
    { group: "Cards", name: "timelines", title: "Timelines" },
    { group: "Cards", name: "types", title: "Types", file: "registry" },
    { group: "Cards", name: "channels", title: "Channels", file: "registry" },
    { group: "Devices", name: "phones", title: "Phones", if: () => session.me?.phones },
    { group: "Devices", name: "devices", title: "Devices" },
    { group: "Devices", name: "pacing", title: "Pacing" },
    { group: "Past", name: "log", title: "Log" },
    { group: "Past", name: "deliveries", title: "Deliveries" },
    { group: "Past", name: "requests", title: "Requests" },
];

/** The links by group. A narrow page lists the groups, and the links of the one that is open. */
function groups() {
    const links = screens.filter((screen) => !screen.of && (!screen.if || screen.if()));
    return [...Map.groupBy(links, ({ group }) => group)].map(([group, members]) => h("div.group", {},
        h("button.tab", { type: "button", onclick: () => { location.hash = `#/${members[0].name}`; } }, group),
        h("div", {}, members.map(({ name, title }) => h("a", { href: `#/${name}` }, title)))));
}

const load = ({ name, file = name }) => import(`./${file}.js`);

async function show(screen, root, how) {
    if (screen.show) return screen.show(root, how);
    const module = await load(screen).catch((error) => { throw error instanceof TypeError ? away() : error; });
    if (!how.signal.aborted) await module[screen.name](root, how);
}

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const who = document.getElementById("who");
const top = document.getElementById("top");
let leave = new AbortController();
let lasting = new AbortController();
/** The screen could not be read, for the relay was away. */
let isUnread = false;

/**
 * A key in the address: `dev` hands it over so. It leaves the address at once, and never takes the
 * place of a key that is in use. Answers whether there is a new one.
 */
function keyOfAddress() {
    const found = /^#key=([\w-]+)(\/[a-z]+)?$/.exec(location.hash);
    if (!found) return false;
    history.replaceState(null, "", `${location.pathname}#${found[2] ?? "/overview"}`);
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
    isUnread = false;
    const { screen, id, part, query } = place();
    showTitle(`${part ? brief(part) + " · " : ""}${id ? brief(id) + " · " : ""}${screen.title} · Tombolo`);
    for (const entry of nav.querySelectorAll("a")) {
        const isHere = entry.getAttribute("href") === `#/${screen.of ?? screen.name}`;
        if (isHere) entry.setAttribute("aria-current", "page");
        else entry.removeAttribute("aria-current");
    }
    for (const entry of nav.querySelectorAll(".tab")) {
        entry.setAttribute("aria-expanded", entry.textContent === screen.group);
    }
    const content = h(`div.screen.${screen.name}`);
    fill(main, content);
    scrollTo(0, 0);
    if (moved) main.focus({ preventScroll: true });
    const { signal } = leave;
    show(screen, content, { id, part, query, signal }).catch((error) => {
        if (error.name === "AbortError" || signal.aborted) return;
        if (!(error instanceof Refusal)) throw error;
        isUnread = error.status === 0 || error.status === 503;
        content.append(problem(error));
    });
}

/** A refusal of the relay, in its own words. */
function problem(error) {
    return h("div.notice.bad", { role: "alert" },
        h("strong", {}, error.problem.title ?? "That did not work"), h("p", {}, error.message));
}

/** Opens the search, or the list of keys. */
async function find(isKeys) {
    const module = await load({ name: "search" }).catch(() => { away(); });
    if (session.me) module?.search(isKeys);
}

addEventListener("keydown", (event) => {
    if (!session.me) return;
    const isHeld = event.ctrlKey || event.metaKey;
    const isPlain = !isHeld && !event.altKey && !event.target.closest?.("input, select, textarea");
    const isSearch = isHeld ? event.key?.toLowerCase() === "k" : isPlain && event.key === "/";
    if (!isSearch && !(isPlain && event.key === "?")) return;
    event.preventDefault();
    find(!isSearch);
});

function signIn(message) {
    leave.abort();
    document.querySelector("dialog")?.close();
    top.hidden = true;
    showTitle("Sign in · Tombolo");
    const field = h("input", {
        type: "password", id: "key", autocomplete: "off", spellcheck: "false", required: true,
        "aria-describedby": "keyhint",
    });
    const trouble = h("p.trouble", { role: "alert" }, message ?? "");
    const form = h("form.signin", {},
        h("img", { src: "icon.svg", alt: "", width: 56, height: 56 }),
        h("h1", {}, "Tombolo"), h("label", { for: "key" }, "API key"), field,
        h("p.hint", { id: "keyhint" },
            "A key with the scope observe shows all but the wall of phones; operate may also act. It stays "
            + "in this tab, and goes when you close it."),
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
        session.follow(session.me);
    } catch (error) {
        // A relay that starts again knows the key as before.
        if (error.status !== 0) session.forget();
        failed(error.status === 0
            ? "The relay cannot be reached. Reload the page to try again." : error.message);
        return;
    }
    fill(nav, groups());
    const { tenant, key } = session.me;
    const dot = h("span.dot", { role: "img" });
    fill(who, dot, h("span.scopes", { title: `Key ${key.id}` },
        `${tenant} · ${key.scopes.join(", ")}`),
    h("button", { type: "button", "aria-keyshortcuts": "Control+K Meta+K /", onclick: () => find(false) },
        "Search ", h("kbd", { "aria-hidden": "true" }, /Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K")),
    h("button", { type: "button", onclick: signOut }, "Sign out"));
    top.hidden = false;
    lasting = new AbortController();
    let trouble;
    const tell = () => showHealth(dot, trouble);
    // In a tab that nobody sees, too: its title and its icon say how things are.
    const ask = poll(HEALTH_EVERY, lasting.signal, async (signal) => {
        const answer = await get("/v1/overview", {}, signal, HEALTH_WITHIN);
        session.follow(answer);
        trouble = answer.attention.find((item) => item.severe);
        tell();
        if (isUnread) route(false);
    }, true);
    onEvents(lasting.signal, ({ state }) => {
        if (state === "waiting") ask();
        tell();
    });
    startLive(session.me.last_seq);
    tell();
    route(false);
    setTimeout(fetchScreens, REST);
}

/** Milliseconds after which the files of the other screens come: they open at once then. */
const REST = 2500;

async function fetchScreens() {
    for (const screen of screens) if (!screen.show) await load(screen).catch(() => {});
}

/** Milliseconds between two looks at the relay's health, and what such a look may take. */
const HEALTH_EVERY = 3000;
const HEALTH_WITHIN = 6000;

/** Red where something severe needs attention, else as the live stream is. */
function showHealth(dot, trouble) {
    const words = trouble?.text
        ?? { open: "Live", waiting: "Connecting", refused: "No live stream" }[live.state];
    dot.dataset.state = live.state;
    dot.dataset.health = trouble ? "bad" : "";
    dot.title = words;
    dot.setAttribute("aria-label", words);
}

const cut = document.getElementById("cut");
const icon = document.querySelector("link[rel=icon]");
/** Not a file: nothing can be fetched when it is wanted. */
const cutIcon = "data:image/svg+xml," + encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" '
    + 'viewBox="0 0 64 64"><rect width="64" height="64" rx="15" fill="#a3211b"/>'
    + '<path d="M18 18l28 28M46 18L18 46" stroke="#fff" stroke-width="9"/></svg>');
let title = "Tombolo";
let isCut = false;

function showTitle(text = title) {
    title = text;
    document.title = isCut ? `⚠ Cut off · ${title}` : title;
}

/** Whether the relay answers: where it does not, nothing here looks as if it were of now. */
function showReach(isThere) {
    if (isCut === !isThere) return;
    isCut = !isThere;
    document.body.classList.toggle("cut", isCut);
    icon.href = isCut ? cutIcon : "icon.svg";
    cut.hidden = !isCut;
    fill(cut.firstChild, isCut ? `The relay has not answered since ${clock(session.heardAt)}. ` : "");
    showAge();
    showTitle();
}

function showAge() {
    if (!isCut) return;
    const age = Math.max(1, (Date.now() - session.heardAt) / 1000);
    setText(cut.lastChild, `What you see is ${duration(age)} old.`);
}

function signOut(message) {
    lasting.abort();
    showReach(true);
    endLive();
    session.forget();
    signIn(typeof message === "string" ? message : "");
}

onReached((isThere) => {
    if (!session.me) return;
    if (isCut && isThere) say("The relay answers again.");
    showReach(isThere);
});
setInterval(showAge, 1000);
onRefused((detail) => signOut(detail ?? "The key is not valid any more."));
document.getElementById("skip").addEventListener("click", () => main.focus());
addEventListener("hashchange", () => {
    if (keyOfAddress()) enter(signIn);
    else if (session.me) route(true);
});

keyOfAddress();
if (session.key) enter(signIn);
else signIn();
