// The one live stream, as screens hear it.

import { session } from "./api.js";
import { read } from "./source.js";
import { Tail } from "./tail.js";

const listeners = new Set();
let stop = null;
export const live = { state: "waiting" };

/** Calls back with { events, missed, state } until the signal is aborted. */
export function onEvents(signal, act) {
    listeners.add(act);
    signal.addEventListener("abort", () => listeners.delete(act));
}

function hear(batch) {
    live.state = batch.state;
    const events = batch.events.map(read);
    for (const act of [...listeners]) act({ ...batch, events });
}

/** The only address that becomes a script here. */
const policy = globalThis.trustedTypes?.createPolicy("console", {
    createScriptURL: (text) => {
        if (text !== "worker.js") throw new TypeError("not a script of the console");
        return text;
    },
});

/** Begins after `since`; a SharedWorker where there is one, so that eight tabs are one stream. */
export function startLive(since) {
    endLive();
    if (typeof SharedWorker === "undefined") {
        const tail = new Tail(location.origin, session.key, since, hear);
        stop = () => tail.end();
        return;
    }
    const address = policy ? policy.createScriptURL("worker.js") : "worker.js";
    const worker = new SharedWorker(address, {
        type: "module", name: `tombolo-${session.me.key.id}`,
    });
    const hello = () => worker.port.postMessage({ key: session.key, since });
    worker.port.onmessage = ({ data }) => hear(data);
    worker.port.start();
    hello();
    const beat = setInterval(() => worker.port.postMessage({ beat: true }), 30000);
    const bye = () => worker.port.postMessage({ bye: true });
    // A page that comes back from the history has to join again.
    const back = ({ persisted }) => { if (persisted) location.reload(); };
    addEventListener("pagehide", bye);
    addEventListener("pageshow", back);
    stop = () => {
        clearInterval(beat);
        removeEventListener("pagehide", bye);
        removeEventListener("pageshow", back);
        bye();
    };
}

/** Ends it: this tab is signed out. */
export function endLive() {
    stop?.();
    stop = null;
    live.state = "waiting";
}
