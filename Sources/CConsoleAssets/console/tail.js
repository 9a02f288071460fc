// One stream of /v1/tail: kept open, resumed after what was read last, passed on in batches.

const BATCH_EVERY = 200;
/** Of one batch so many events are passed on; the rest is counted. */
const BATCH_MAX = 200;

export class Tail {
    /**
     * tell({ events, missed, state }): `missed` events were read and are not among `events`; `state`
     * is "open", "waiting" or "refused". Events are texts: a worker's messages would respell numbers.
     */
    constructor(origin, key, since, tell) {
        this.origin = origin;
        this.key = key;
        /** Where the next connection goes on. */
        this.place = `since=${since}`;
        this.tell = tell;
        this.abort = new AbortController();
        this.queue = [];
        this.missed = 0;
        this.state = "waiting";
        this.run();
    }

    end() {
        this.abort.abort();
        clearTimeout(this.timer);
    }

    async run() {
        let wait = 500;
        while (!this.abort.signal.aborted) {
            try {
                const answer = await fetch(`${this.origin}/v1/tail?${this.place}`, {
                    headers: {
                        authorization: `Bearer ${this.key}`, accept: "application/x-ndjson",
                    },
                    signal: this.abort.signal, cache: "no-store", credentials: "omit",
                });
                if (answer.status === 401 || answer.status === 403) {
                    this.become("refused");
                    return;
                }
                // The log was replaced by another, or by an older copy: what comes from now on.
                if (answer.status === 410) this.place = "";
                if (!answer.ok) throw new Error(`status ${answer.status}`);
                this.become("open");
                wait = 500;
                await this.read(answer.body.getReader());
            } catch {
                // The relay went away or is starting: what is missed is read again.
            }
            if (this.abort.signal.aborted) return;
            this.become("waiting");
            await new Promise((done) => setTimeout(done, wait));
            wait = Math.min(10000, wait * 2);
        }
    }

    async read(reader) {
        const decoder = new TextDecoder();
        let rest = "";
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
            rest = lines.pop();
            for (const line of lines) if (line) this.take(line);
        }
    }

    take(line) {
        const event = JSON.parse(line);
        this.place = `cursor=${event.cursor}`;
        // Rows that cannot be read, or are there no more: lists say so when they are read.
        if (!event.do) return;
        this.queue.push(line);
        if (this.queue.length > BATCH_MAX) {
            this.queue.shift();
            this.missed += 1;
        }
        this.timer ??= setTimeout(() => this.flush(), BATCH_EVERY);
    }

    flush() {
        this.timer = null;
        const [events, missed] = [this.queue, this.missed];
        this.queue = [];
        this.missed = 0;
        this.tell({ events, missed, state: this.state });
    }

    become(state) {
        if (this.state === state) return;
        this.state = state;
        this.tell({ events: [], missed: 0, state });
    }
}
