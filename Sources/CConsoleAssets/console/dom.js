// Elements, text and times. State text comes into the page here, and only as text.

import { session } from "./api.js";
import { pretty } from "./source.js";

/** An element: h("p.notice", { title }, "text", child, [more]). Nothing is ever parsed as HTML. */
export function h(tag, attributes, ...children) {
    const [name, ...classes] = tag.split(".");
    const element = document.createElement(name || "div");
    if (classes.length) element.className = classes.join(" ");
    set(element, attributes);
    append(element, children);
    return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element. */
export function s(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    set(element, attributes);
    append(element, children);
    return element;
}

function set(element, attributes) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : String(value));
    }
}

function append(element, children) {
    for (const child of children.flat(3)) {
        if (child === undefined || child === null || child === false) continue;
        element.append(child instanceof Node ? child : plain(child));
    }
}

/** Replaces what is in an element. */
export function fill(element, ...children) {
    element.replaceChildren();
    append(element, children);
    return element;
}

/** Sets a text only where it differs, so that nothing flickers and no live region repeats itself. */
export function setText(element, text) {
    const next = plain(text);
    if (element.textContent !== next) element.textContent = next;
}

const TEXT_MAX = 4000;

/** Text from outside: bounded, and what would turn the text around it is shown as a mark. */
export function plain(value, most = TEXT_MAX) {
    let text = typeof value === "string" ? value : String(value ?? "");
    if (text.length > most) text = text.slice(0, most) + "…";
    return text.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, "␣")
        .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "·");
}

/** A text of one line for a cell or a label. */
export const brief = (value, most = 60) => plain(value, most).replace(/\s+/g, " ");

const hours = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const day = { year: "numeric", month: "short", day: "numeric" };
const format = (parts) => new Intl.DateTimeFormat(undefined, parts);
const exact = { fractionalSecondDigits: 3 };
const clocks = [format(hours), format({ ...hours, ...exact })];
const calendars = [format({ ...day, ...hours }), format({ ...day, ...hours, ...exact })];

/** The browser's zone, in which all times are: "GMT+2". */
export const zone = format({ timeZoneName: "short" }).formatToParts(new Date())
    .find((part) => part.type === "timeZoneName")?.value ?? "local";

/** The head of a column of times. */
export const timeTitle = (word = "Time") => `${word} (${zone})`;

/**
 * A `time` element: the time of today, with the date otherwise, in 24 hours; the relay's own in its
 * title. `isExact` adds milliseconds: what follows within a second is then seen to follow.
 */
export function time(text, isExact = false) {
    const date = new Date(text);
    if (!text || Number.isNaN(date.getTime())) return h("span", {}, "–");
    const isToday = date.toDateString() === new Date().toDateString();
    return h("time", { datetime: text, title: text },
        (isToday ? clocks : calendars)[isExact ? 1 : 0].format(date));
}

/** `order-17~2`, as the app knows the card of an activity that was started again. */
export function toCard(reference) {
    const [id, life] = String(reference).split("~");
    if (!life) return toActivity(id);
    const [start, card] = life.split(".");
    const words = `${id}, started ${start} times${card ? `; card ${card} of it on this phone` : ""}`;
    return h("a", { href: `#/activity/${encodeURIComponent(id)}`, title: words }, brief(reference));
}

/** A moment of the browser's clock, in hours, minutes and seconds. */
export const clock = (milliseconds) => clocks[0].format(milliseconds);

/** How long from now by the relay's clock, in a word: "in 4 s", "3 min ago". */
export function distance(text) {
    const milliseconds = new Date(text).getTime() - session.now();
    if (Number.isNaN(milliseconds)) return "";
    const span = duration(Math.abs(milliseconds) / 1000);
    return milliseconds > 0 ? `in ${span}` : `${span} ago`;
}

export function duration(seconds) {
    if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    if (seconds < 120) return `${Math.round(seconds)} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
    return `${Math.round(seconds / 86400)} d`;
}

const numbers = new Intl.NumberFormat();
export const count = (value) => value === null || value === undefined ? "–" : numbers.format(value);

/** A word in a coloured pill; the word carries the meaning, not the colour. */
export const badge = (text, tone = "", hint = null) =>
    h(`span.badge${tone ? "." + tone : ""}`, { title: hint }, brief(text));

export const link = (href, ...children) => h("a", { href }, ...children);
export const toActivity = (id) => link(`#/activity/${encodeURIComponent(id)}`, brief(id));
export const toDevice = (id) => link(`#/devices/${encodeURIComponent(id)}`, brief(id));
/** The name of the device or channel that a line of the history is about. */
export const recipient = (row) => row.device ?? row.channel;
export const toRecipient = (row) =>
    row.channel ? link("#/channels", brief(row.channel)) : toDevice(row.device);

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say("Copied.");
    } catch {
        say("The browser does not let this page copy. Select the command instead.");
    }
}

/** A command with a button that copies it. */
export function command(text) {
    const button = h("button.copy", { type: "button", "aria-label": `Copy: ${text}`,
        onclick: () => copy(text) }, "Copy");
    return h("div.command", {}, h("code", {}, plain(text)), button);
}

/** Says something to everybody, also to those who hear the page. */
export function say(text, tone = "") {
    const box = document.getElementById("toasts");
    const item = h(`div.toast${tone ? "." + tone : ""}`, {}, plain(text, 400));
    box.append(item);
    while (box.children.length > 3) box.firstChild.remove();
    setTimeout(() => item.remove(), 6000);
}

export const json = (value, label = "JSON") => h("pre.json", { tabindex: "0", role: "region", "aria-label": label },
    plain(pretty(value), 60000));

export const panel = (title, ...children) =>
    h("section.panel", { "aria-label": title }, h("h2", {}, title), ...children);

export const empty = (text) => h("p.empty", {}, text);

/** What fields ask for, by their ids; an empty one asks for nothing. */
export const filtersOf = (fields) => Object.fromEntries(
    fields.map((field) => [field.id, field.value.trim()]).filter(([, value]) => value));

/** Puts the filters of a screen into its address, so that it can be shared. */
export function keepFilters(screen, filters) {
    const query = new URLSearchParams(filters);
    history.replaceState(null, "", `#/${screen}${query.size ? `?${query}` : ""}`);
}
