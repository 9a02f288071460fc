// The relay's public API, and who is signed in. The key is in sessionStorage and nowhere else.

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

export const segment = (text) => encodeURIComponent(text);

async function call(method, path, { query, body, signal } = {}) {
    const address = new URL(path, location.origin);
    for (const [name, value] of Object.entries(query ?? {})) {
        if (value !== undefined && value !== null && value !== "") {
            address.searchParams.set(name, value);
        }
    }
    const headers = { authorization: `Bearer ${session.key}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    let answer;
    try {
        answer = await fetch(address, {
            method, headers, signal, cache: "no-store", credentials: "omit", redirect: "error",
            body: body === undefined ? undefined : JSON.stringify(body),
        });
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Refusal(0, { detail: "The relay cannot be reached. The page tries again." });
    }
    const text = await answer.text();
    let value = null;
    try {
        value = text ? JSON.parse(text) : null;
    } catch {
        value = null;
    }
    if (!answer.ok) {
        if (answer.status === 401 && session.me) refused(value?.detail);
        throw new Refusal(answer.status, value);
    }
    return value;
}

export const get = (path, query, signal) => call("GET", path, { query, signal });
export const post = (path, body, query, signal) =>
    call("POST", path, { body, query, signal });
export const put = (path, body, query) => call("PUT", path, { body, query });
export const patch = (path, body, query) => call("PATCH", path, { body, query });
export const remove = (path) => call("DELETE", path);

/**
 * Asks again and again while the screen is there and seen; one request at a time. Answers a function
 * that asks at once, or as soon as the request under way has ended.
 */
export function poll(every, signal, ask) {
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
        if (document.hidden) {
            timer = setTimeout(next, 1000);
            return;
        }
        isAsking = true;
        isWanted = false;
        let wait = every;
        try {
            await ask(signal);
            offline(false);
        } catch (error) {
            if (signal.aborted || error.name === "AbortError") return;
            if (!(error instanceof Refusal)) throw error;
            offline(error.status === 0);
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

let offline = () => {};
export const onOffline = (act) => { offline = act; };
