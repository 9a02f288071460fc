// The relay's public API, and who is signed in. The key is in sessionStorage and nowhere else.

import { read } from "./source.js";

const KEY = "tombolo.key";

/** A refusal of the relay (RFC 9457), or that it cannot be reached. */
export class Refusal extends Error {
    constructor(status, problem) {
        super(problem?.detail ?? problem?.title ?? `The relay answered ${status}.`);
        this.status = status;
        this.problem = problem ?? {};
    }
}

export const session = {
    key: sessionStorage.getItem(KEY),
    /** The answer of /v1/overview at sign-in: tenant, key and scopes. */
    me: null,
    /** How far the relay's clock is ahead of the browser's. */
    ahead: 0,
    now() { return Date.now() + this.ahead; },
    /** Sets the relay's clock by the `at` of an answer of /v1/overview. */
    follow(answer) { this.ahead = Date.parse(answer.at) - Date.now(); },
    /** When the relay answered last, by the browser's clock. */
    heardAt: Date.now(),
    keep(key) {
        this.key = key;
        sessionStorage.setItem(KEY, key);
    },
    forget() {
        this.key = null;
        this.me = null;
        sessionStorage.removeItem(KEY);
    },
    /** Whether the key has a scope; `operate` has all. */
    may(scope) {
        const scopes = this.me?.key.scopes ?? [];
        return scopes.includes("operate") || scopes.includes(scope);
    },
};

let refused = () => {};
/** Called where the relay does not know the key any more. */
export const onRefused = (act) => { refused = act; };

let reached = () => {};
/** Called after each request with whether the relay answered it. */
export const onReached = (act) => { reached = act; };

/** Without an answer for so long the relay is taken to be away, in milliseconds. */
const SILENCE_MAX = 30000;

export const segment = (text) => encodeURIComponent(text);

/** The relay did not answer, and the page knows it. */
export function away() {
    reached(false);
    return new Refusal(0, { detail: "The relay cannot be reached. The page tries again." });
}

async function call(method, path, { query, body, signal, within = SILENCE_MAX } = {}) {
    const address = new URL(path, location.origin);
    for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined && value !== null && value !== "") {
            address.searchParams.set(name, value);
        }
    }
    const headers = { authorization: `Bearer ${session.key}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    let answer;
    let text;
    try {
        const late = AbortSignal.timeout(within);
        answer = await fetch(address, {
            method, headers, signal: signal ? AbortSignal.any([signal, late]) : late, cache: "no-store", credentials: "omit", redirect: "error",
            body: body === undefined ? undefined : JSON.stringify(body),
        });
        text = await answer.text();
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw away();
    }
    let value = null;
    try {
        value = text ? read(text) : null;
    } catch {
        value = null;
    }
    // Something between here and the relay, which answers in its place.
    if (answer.status >= 500 && value === null) throw away();
    session.heardAt = Date.now();
    reached(true);
    if (!answer.ok) {
        if (answer.status === 401 && session.me) refused(value?.detail);
        throw new Refusal(answer.status, value);
    }
    return value;
}

export const get = (path, query, signal, within) => call("GET", path, { query, signal, within });
export const post = (path, body, query, signal) =>
    call("POST", path, { body, query, signal });
export const put = (path, body, query) => call("PUT", path, { body, query });
export const patch = (path, body, query) => call("PATCH", path, { body, query });
export const remove = (path) => call("DELETE", path);

/**
 * Asks again and again while the screen is there, and seen unless `isAlways`; one request at a time.
 * Answers a function that asks at once, or as soon as the request under way has ended.
 */
export function poll(every, signal, ask, isAlways = false) {
    let timer = 0;
    let isAsking = false;
    let isWanted = false;
    const next = async () => {
        if (signal.aborted) return;
        if (isAsking) {
            isWanted = true;
            return;
        }
        clearTimeout(timer);
        if (document.hidden && !isAlways) {
            timer = setTimeout(next, 1000);
            return;
        }
        isAsking = true;
        isWanted = false;
        let wait = every;
        try {
            await ask(signal);
        } catch (error) {
            if (signal.aborted || error.name === "AbortError") return;
            if (!(error instanceof Refusal)) throw error;
            wait = Math.max(every, 2000);
        } finally {
            isAsking = false;
        }
        if (!signal.aborted) timer = setTimeout(next, isWanted ? 0 : wait);
    };
    signal.addEventListener("abort", () => clearTimeout(timer));
    next();
    return next;
}
