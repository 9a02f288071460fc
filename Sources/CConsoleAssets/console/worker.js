// The SharedWorker: one stream for all tabs of one key. Its name is the key's id.

import { Tail } from "./tail.js";

/** A tab that closes says so; one that cannot is dropped after this. */
const SILENCE_MAX = 180000;
const ports = new Map();
let tail = null;

function tell(batch) {
    for (const port of ports.keys()) port.postMessage(batch);
}

function drop(port) {
    ports.delete(port);
    port.close();
    if (ports.size > 0) return;
    tail?.end();
    tail = null;
    self.close();
}

self.onconnect = ({ ports: [port] }) => {
    port.onmessage = ({ data }) => {
        if (data.bye) return drop(port);
        ports.set(port, Date.now());
        if (data.key) {
            if (tail && tail.key === data.key && tail.state !== "refused") {
                port.postMessage({ events: [], missed: 0, state: tail.state });
            } else {
                tail?.end();
                tail = new Tail(self.location.origin, data.key, data.since, tell);
            }
        }
    };
    port.start();
};

setInterval(() => {
    const oldest = Date.now() - SILENCE_MAX;
    for (const [port, heard] of ports) if (heard < oldest) drop(port);
}, 30000);
