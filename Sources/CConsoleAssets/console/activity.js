// One activity: what the producer said, beside what each phone got and drew; and any moment of its past.

import { Refusal, get, patch, poll, segment, session } from "./api.js";
import {
    badge, brief, count, distance, empty, fill, h, json, panel, recipient, setText, time, timeTitle,
    toDevice,
} from "./dom.js";
import { onEvents } from "./live.js";
import { Face, frames } from "./island.js";
import { readTypes } from "./picture.js";
import { fold, stateAt } from "./clips.js";
import { FrameLane } from "./lane.js";
import { known, look, report } from "./look.js";
import { facts, waiting } from "./overview.js";
import { tones } from "./activities.js";
import { bytesOf, textOf } from "./source.js";
import { Table } from "./table.js";
import { entryRow, numberOf } from "./log.js";
import { WhyPanel, whyAddress } from "./why.js";

const PAGES_MAX = 5;
const PAGE = 1000;
const BACK_MAX = 4000;
const LANES_MAX = 24;
/** A log of more versions is shown from its newest part on. */
const LONG = 4000;

export async function activity(root, { id, part, query, signal }) {
    if (!id) {
        const newest = await newestActivity(signal);
        if (newest) location.replace(`#/activity/${segment(newest)}`);
        else fill(root, h("h1", {}, "Activity"), empty("There is no activity yet."));
        return;
    }
    const view = new View(root, id, signal);
    await view.begin(query.get("seq"), part === "why" ? {
        device: query.get("device"), version: query.get("version"), at: query.get("at"),
    } : null);
}

async function newestActivity(signal) {
    const { last_seq: last } = await get("/v1/overview", {}, signal);
    const page = await get("/v1/log", { since: Math.max(0, last - 50), limit: 50 }, signal);
    return page.events.findLast((event) => event.activity)?.activity ?? null;
}

class View {
    constructor(root, id, signal) {
        Object.assign(this, { root, id, signal });
        this.path = `/v1/activities/${segment(id)}`;
        this.steps = [];
        this.entries = [];
        this.destinations = new Map();
        this.drawnByPhone = new Map();
        this.lanes = new Map();
        this.budgets = new Map();
        /** The step that is looked at; nil: now. */
        this.place = null;
        /** The activity as it was at that step; nil: it is not read yet, or not known any more. */
        this.then = null;
    }

    async begin(seq, asked) {
        this.activity = await get(this.path, {}, this.signal);
        this.build();
        if (asked) this.why.ask(asked, null, true).catch(quiet);
        // Before the log is read: an event that comes meanwhile has it read again.
        onEvents(this.signal, ({ events, missed }) => {
            const own = events.filter((event) => event.activity === this.id);
            if (own.length || missed) this.readLog().catch(() => {});
        });
        await this.readLog();
        if (seq) this.goTo(this.steps.findIndex((step) => String(step.entry.seq) === seq));
        this.showActivity();
        poll(1000, this.signal, async () => {
            this.activity = await get(this.path, {}, this.signal);
            this.books = await get(`${this.path}/deliveries`, { limit: 100 }, this.signal);
            await this.readBudgets();
            this.showActivity();
            // The stream has what producers do: what came of it is read when a phone has changed.
            const stamp = JSON.stringify(this.activity.destinations.map((one) =>
                [one.acknowledged_version, one.result, one.shown?.received_version, one.shown?.drawn_version]));
            if (this.came !== stamp) await this.readLog();
            this.came = stamp;
        });
        poll(5000, this.signal, readTypes);
        if (session.me.phones) {
            poll(90, this.signal, async () => this.hearPhones(await get("/v1/phones", {}, this.signal)));
        }
        frames(this.signal, (now) => this.draw(now));
    }

    build() {
        this.title = h("span.badges");
        this.face = new Face();
        this.said = h("p.hint");
        this.stateBox = h("div");
        this.payload = h("div.payload");
        this.others = h("div.phonesgot");
        this.facts = h("dl.facts");
        this.slider = h("input.scrubber", {
            type: "range", min: 0, max: 0, value: 0, step: 1, id: "scrubber",
            "aria-label": "Moment in the log",
        });
        this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
        this.moment = h("output.moment", { for: "scrubber" });
        this.now = h("button", { type: "button", onclick: () => this.goTo(null) }, "Now");
        this.why = new WhyPanel(this.id, this.signal, (asked) => history.pushState(null, "",
            asked ? whyAddress(this.id, asked) : `#/activity/${segment(this.id)}`));
        this.whyThen = h("button", {
            type: "button", "aria-label": "Why? At the moment that is looked at",
            onclick: () => this.askWhy(null, this.whyThen),
        }, "Why?");
        const step = (by, word) => h("button", {
            type: "button", "aria-label": word,
            onclick: () => this.goTo((this.place ?? this.steps.length - 1) + by),
        }, by < 0 ? "‹" : "›");
        this.log = new Table(`Log of ${brief(this.id)}`, [
            { title: "Number", cell: (row) => numberOf(row.entry), number: true },
            { title: timeTitle(), cell: (row) => time(row.entry.recorded_at, true) },
            { title: "What", cell: (row) => this.entryButton(row) },
            { title: "Body", cell: (row) => entryRow(row.entry) },
        ], {
            key: (row) => row.index,
            stamp: (row) => `${row.index} ${row.index === this.place}`,
            none: "The log has nothing of it any more.",
        });
        this.lane = h("div.lanes");
        const measure = h("button", { type: "button", onclick: () => this.measure() },
            "Measure the push");
        fill(this.root,
            h("h1", {}, brief(this.id, 128), " ", this.title),
            h("div.scrub", {}, step(-1, "Earlier"), this.slider, step(1, "Later"), this.now,
                this.moment, this.whyThen),
            this.why.element,
            h("div.columns.uneven", {},
                h("section.panel.producer", { "aria-label": "What the producer said" },
                    h("h2", {}, "What the producer said"), this.said, this.face.element,
                    h("details", {}, h("summary", {}, "State"), this.stateBox),
                    session.may("produce") && h("div.row", {}, measure), this.payload, this.facts),
                h("section.panel", { "aria-label": "What each phone has" },
                    h("h2", {}, "What each phone has"), this.others)),
            panel("Frames and budget", this.lane),
            panel("Log, newest first", this.log.element));
    }

    entryButton(row) {
        const { entry } = row;
        const word = entry.do ?? entry.fact ?? "";
        const device = entry.body?.device ? ` · ${brief(entry.body.device, 30)}` : "";
        return h("button.linklike", {
            type: "button", "aria-pressed": String(row.index === this.place),
            onclick: () => this.goTo(row.index),
        }, badge(word, entry.do ? "good" : ""),
        ` ${entry.version ? `v${entry.version}` : entry.body?.version ? `v${entry.body.version}` : ""}`
        + device);
    }

    async readLog() {
        if (this.isReading) {
            this.isStale = true;
            return;
        }
        this.isReading = true;
        try {
            // The last page is read again each time: its end moves.
            const query = { activity: this.id, kind: "all", limit: PAGE, ...await this.beginning() };
            for (let page = 0; page < PAGES_MAX; page += 1) {
                query.cursor = this.cursor;
                const answer = await get("/v1/log", query, this.signal);
                this.take(answer.events);
                if (!answer.next_cursor) break;
                this.cursor = answer.next_cursor;
            }
        } finally {
            this.isReading = false;
        }
        await this.foldLog();
        if (this.isStale) {
            this.isStale = false;
            setTimeout(() => { if (!this.signal.aborted) this.readLog().catch(() => {}); }, 500);
        }
    }

    /** Of a long log, its newest part. */
    async beginning() {
        if (this.from === undefined) {
            this.from = null;
            if (this.activity.version > LONG) {
                const since = Math.max(0, this.activity.seq - BACK_MAX);
                const page = await get("/v1/log", { since, limit: 1 }, this.signal);
                this.from = page.events[0]?.recorded_at ?? null;
            }
        }
        return { from: this.from };
    }

    take(events) {
        const known = new Set(this.entries.map(keyOf));
        for (const event of events) if (!known.has(keyOf(event))) this.entries.push(event);
    }

    async foldLog() {
        const first = this.entries.findIndex((entry) => entry.kind === "command");
        const entries = first < 0 ? this.entries : this.entries.slice(first);
        let base = null;
        if (first >= 0 && entries[0].do !== "start") {
            this.base ??= (await get(this.path, { at_seq: entries[0].seq }, this.signal)).state;
            base = this.base;
        }
        this.steps = fold(entries, base).map((step, index) => ({ ...step, index }));
        this.slider.max = Math.max(0, this.steps.length - 1);
        if (this.place === null) this.slider.value = this.slider.max;
        this.showPlace();
    }

    goTo(place) {
        const last = this.steps.length - 1;
        this.place = place === null || place < 0 ? null : Math.min(place, last);
        this.slider.value = this.place ?? last;
        this.enteredAt = Date.now();
        this.then = null;
        this.showPlace();
        this.readThen().catch(quiet);
    }

    /** Versions and what each phone had, of the moment that is looked at: never of another. */
    async readThen() {
        const { place } = this;
        this.then = null;
        this.showActivity();
        if (place === null) return;
        // A slider that is drawn along asks once.
        await new Promise((done) => setTimeout(done, 100));
        if (this.place !== place) return;
        const { entry, at } = this.steps[place];
        // A moment is up to, and without, what is recorded then.
        const moment = entry.kind === "command" ? { at_seq: entry.seq }
            : { at: new Date(at + 1).toISOString() };
        let then = null;
        try {
            then = await get(this.path, moment, this.signal);
        } catch (error) {
            if (!(error instanceof Refusal)) throw error;
        }
        if (this.place !== place) return;
        this.then = then;
        this.showActivity();
    }

    showPlace() {
        const step = this.place === null ? null : this.steps[this.place];
        this.now.disabled = this.place === null;
        if (step) {
            const word = step.entry.do ?? step.entry.fact;
            fill(this.moment, time(step.entry.recorded_at), ` · ${word} · `,
                `${this.place + 1} of ${this.steps.length}`);
        } else fill(this.moment, "now, live");
        this.slider.setAttribute("aria-valuetext", this.moment.textContent);
        const rows = [...this.steps].reverse();
        this.log.update(rows);
        this.showState();
    }

    /** What is looked at: its state, with its clip moving from the moment one came there. */
    stateNow(now) {
        if (this.place === null) {
            const newest = this.steps[this.steps.length - 1];
            const isPlaying = this.activity.clips.some((clip) => clip.playing);
            return isPlaying && newest?.clip ? stateAt(newest, now) : this.activity.state;
        }
        const step = this.steps[this.place];
        return stateAt(step, step.at + (now - this.enteredAt));
    }

    showState() {
        // Of a moment that is past the relay's own text comes after the folded one.
        const state = this.place === null ? this.activity.state
            : this.then?.state ?? this.steps[this.place]?.state;
        const bytes = bytesOf(state ?? {});
        const stamp = textOf(state);
        if (this.stateStamp === stamp) return;
        this.stateStamp = stamp;
        fill(this.stateBox, json(state), h("p.hint", {}, `${count(bytes)} bytes of state; `
            + "a push holds 4,096 in all."));
    }

    showActivity() {
        const isNow = this.place === null;
        const activity = isNow ? this.activity : this.then;
        const isPlaying = activity?.clips.some((clip) => clip.playing);
        const badges = activity ? `${activity.status} v${activity.version} ${isPlaying} ${isNow}` : "";
        if (this.badges !== badges) {
            this.badges = badges;
            fill(this.title, activity && [badge(activity.status, tones[activity.status]),
                badge(`v${activity.version}`), isPlaying && badge("clip plays", "good")],
            !isNow && badge("then", "warn", "All of this is of the moment that is looked at."));
        }
        const staleAt = activity?.stale_at ? time(activity.stale_at) : "never";
        facts(this.facts, [
            ["type", brief(activity?.type ?? "–")], ["app", brief(activity?.app ?? "–")],
            ["incarnation", count(activity?.incarnation)], ["stale at", isNow ? staleAt : "–"],
            ["relevance", activity?.relevance ?? "–"],
        ]);
        const clip = activity?.clips[0];
        setText(this.said, clip ? `${clip.frames} frames, one each ${clip.every}, at ${clip.path}`
            : `version ${activity?.version ?? "–"}`);
        this.showDestinations();
        this.showFrames();
        if (this.place === null || this.then) this.showState();
    }

    showDestinations() {
        const wanted = this.activity.destinations;
        this.why.offer(wanted.map(recipient));
        if (wanted.length === 0 && !this.others.firstChild) {
            fill(this.others, empty("It reaches no phone yet."));
        }
        for (const destination of wanted) {
            const key = destination.device ?? `channel ${destination.channel}`;
            let entry = this.destinations.get(key);
            if (!entry) {
                if (this.destinations.size === 0) fill(this.others);
                if (this.destinations.size >= 24) break;
                entry = new DestinationView(destination, (button) =>
                    this.askWhy(recipient(destination), button));
                this.destinations.set(key, entry);
                this.others.append(entry.element);
            }
            if (this.place === null) entry.show(destination, this);
            else entry.showThen(this.then, this);
        }
    }

    /** What the simulated phones of `dev` draw. */
    hearPhones({ phones }) {
        for (const phone of phones) {
            const card = phone.cards.findLast((one) =>
                one.activity === this.id || one.activity?.startsWith(`${this.id}~`));
            this.drawnByPhone.set(phone.phone, card ?? null);
        }
    }

    draw(now) {
        const type = this.activity.type;
        this.face.draw(this.stateNow(now), { type, now, label: "What the producer said" });
        for (const entry of this.destinations.values()) {
            entry.draw(this, now);
        }
    }

    /** Why a phone, or all, showed what it did at the moment that is looked at. */
    askWhy(device, opener) {
        const step = this.place === null ? null : this.steps[this.place];
        const version = step?.entry.do ? step.entry.version : null;
        const at = step && !version ? step.entry.recorded_at : null;
        this.why.ask({ device, version, at }, opener).catch(quiet);
    }

    stepOf(version) {
        return this.steps.findLast((step) => step.entry.do && step.entry.version === version);
    }

    showFrames() {
        const deliveries = this.books?.deliveries ?? [];
        const books = new Map((this.books?.destinations ?? []).map((book) => [recipient(book), book]));
        for (const device of [...books.keys(), ...this.budgets.keys()].slice(0, LANES_MAX)) {
            const book = books.get(device);
            const budget = this.budgets.get(device);
            const isThere = this.lanes.has(device);
            // A lane of neither frames nor a bucket would be empty.
            if (!isThere && !book?.frames.asked && (budget?.left ?? null) === null) continue;
            if (!isThere) {
                const lane = new FrameLane(device);
                if (this.lanes.size === 0) fill(this.lane);
                this.lanes.set(device, lane);
                this.lane.append(lane.element);
            }
            const lane = this.lanes.get(device);
            if (budget && !budget.isDrawn) lane.measure(budget, budget.burst);
            if (budget) budget.isDrawn = true;
            lane.draw(book, deliveries);
        }
        if (this.lanes.size === 0 && !this.lane.firstChild) {
            fill(this.lane, empty("No clip was played, and no push goes by a budget."));
        }
    }

    async readBudgets() {
        const page = await get("/v1/budgets", { activity: this.id, limit: LANES_MAX }, this.signal);
        const bursts = new Map(page.classes.map((one) => [one.class, one.burst]));
        this.budgets = new Map(page.destinations.map((one) =>
            [one.device, { ...one, burst: bursts.get(one.grant.class) }]));
    }

    /** The exact push that the newest state would be: a dry run of a change that changes nothing. */
    async measure() {
        try {
            const answer = await patch(this.path, { state: {} }, { dry_run: true });
            const { payload_bytes: bytes, limit_bytes: limit, payload } = answer.push ?? {};
            fill(this.payload,
                h("meter", { min: 0, max: limit, high: limit * 0.9, value: bytes,
                    "aria-label": "Bytes of the payload" }),
                h("p.hint", {}, `${count(bytes)} of ${count(limit)} bytes`),
                h("details", {}, h("summary", {}, "Payload"), json(payload)),
                (answer.lint ?? []).map((lint) => h("p.notice", {}, lint.message ?? lint.code)));
        } catch (error) {
            fill(this.payload, h("p.trouble", { role: "alert" }, error.message));
        }
    }
}

/** What the relay takes a card to be doing. */
const phases = {
    waiting: "No start was sent yet.", starting: "The start is on its way to Apple.",
    start_unknown: "Apple did not answer the start: nobody knows whether the card is there.",
    started: "Apple took the start; the card has reported no update token yet.",
    live: "The card is there, and takes updates.",
    listening: "The card listens on the activity's channel.",
    ended: "The card has ended.", gone: "The card is gone from the phone.",
    unreachable: "Apple refused the card's token, and the app has sent no other: no push reaches the card, "
        + "and the phone may still show it.",
    lapsed: "The system ended the card after 8 hours.",
};

/** What the phone itself has said of its card: words and their explanation. */
function phoneSays(shown) {
    if (!shown || shown.matches === undefined) return null;
    if (!shown.matches) {
        return badge("phone differs", "warn",
            "The phone says that it has something else than the relay sent last.");
    }
    return shown.drawn_version !== undefined && shown.drawn_version === shown.received_version
        ? badge("drawn", "good", "The phone says that it drew what the relay sent last.")
        : badge("received", "good",
            "The phone says that it has what the relay sent last. It did not say that it drew it.");
}

const rate = (value) => value >= 1 ? value.toFixed(1) : String(Number(value.toPrecision(2)));
const quiet = (error) => { if (error.name !== "AbortError") throw error; };
const keyOf = (entry) => `${entry.kind} ${entry.seq}`;

/** One phone, or one channel, beside the producer. */
class DestinationView {
    /** ask(button): its "Why?" was pressed. */
    constructor(destination, ask) {
        this.device = destination.device;
        this.destination = destination;
        const name = brief(recipient(destination));
        const why = h("button.small", {
            type: "button", "aria-label": `Why? ${name}`, onclick: () => ask(why),
        }, "Why?");
        this.face = new Face(["compact", "lock"]);
        this.badges = h("span.badges");
        this.words = h("p.hint");
        this.frames = h("p.hint");
        this.none = h("p.nocard", { hidden: true });
        this.look = { kind: "nothing", words: "" };
        // Apple takes a broadcast whether anybody listens or not: there is no card to draw.
        this.isChannel = !destination.device;
        this.face.element.hidden = this.isChannel;
        this.element = h("article.got", {},
            h("h3", {}, destination.device ? toDevice(destination.device)
                : `channel ${brief(destination.channel)}`, " ", this.badges, " ", why),
            this.face.element, this.none,
            this.isChannel && h("p", {}, "On the channel; who listens is unknown."),
            this.words, this.frames);
    }

    show(destination, view) {
        this.destination = destination;
        const { activity } = view;
        const behind = activity.version - destination.acknowledged_version;
        const shown = destination.shown;
        const isGone = shown?.phase === "dismissed" || destination.phase === "gone";
        this.decide(view, destination, shown, isGone);
        // While a clip plays, the phone's word is of a frame that went by; a word of before a push too.
        const isOld = this.look.kind === "taken" && !shown?.matches;
        const said = isOld || activity.clips.some((clip) => clip.playing) ? null : phoneSays(shown);
        const stamp = [destination.class, destination.phase, behind, destination.result,
            shown?.phase, shown?.by, said?.textContent].join();
        if (this.stamp !== stamp) {
            this.stamp = stamp;
            fill(this.badges, badge(destination.class),
                isGone ? badge(shown?.by ? `dismissed by ${shown.by}` : "gone", "warn")
                    : badge(destination.phase.replaceAll("_", " "), "", phases[destination.phase]),
                !isGone && behind > 0 && badge(`${count(behind)} behind`, "warn", "Versions that are not sent yet."),
                !isGone && said,
                destination.result === "rejected" && badge("refused", "bad"),
                destination.result === "unknown" && badge("outcome unknown", "warn"));
        }
        const words = [this.isChannel ? `Apple took v${destination.acknowledged_version}`
            : this.look.kind !== "nothing" && this.look.words,
        destination.route?.replaceAll("_", " ") ?? "no way to it now",
        waiting(destination.waiting),
        shown?.last_at && `phone changed ${distance(shown.last_at)}`];
        setText(this.words, words.filter(Boolean).join(" · "));
        const frames = destination.frames;
        setText(this.frames, frames.asked === 0 ? "" : `frames ${count(frames.sent)} of `
            + `${count(frames.asked)} · ${rate(frames.achieved_fps ?? 0)} a second`);
    }

    /** Of a moment of the past: what Apple had taken for it by then, and what the phone had said. */
    showThen(then, view) {
        const had = then?.destinations.find((one) => recipient(one) === recipient(this.destination));
        const version = had?.acknowledged_version ?? 0;
        const behind = then ? then.version - version : 0;
        const stamp = `then ${then?.version} ${version} ${had?.result}`;
        if (this.stamp !== stamp) {
            this.stamp = stamp;
            fill(this.badges,
                behind > 0 && badge(`${count(behind)} behind`, "warn", "Versions that were not sent by then."),
                had?.result === "rejected" && badge("refused", "bad"),
                had?.result === "unknown" && badge("outcome unknown", "warn"));
        }
        this.decide(view, had);
        setText(this.words, !then ? "" : this.isChannel
            ? (version > 0 ? `Apple had taken v${version} then` : "had nothing then")
            : this.look.kind === "nothing" ? "" : `then: ${this.look.words}`);
        setText(this.frames, "");
    }

    /** How the card is drawn, by what is known of it at the moment that is looked at. */
    decide({ steps, place }, destination, shown = null, isGone = false) {
        const card = known(steps, place ?? steps.length - 1, this.device);
        // Facts may be older than the log reaches, or newer than what is read of it.
        if (place === null || card.taken === 0) {
            card.taken = Math.max(card.taken, destination?.acknowledged_version ?? 0);
        }
        if (shown) report(card, shown);
        if (isGone) card.phase = "gone";
        const step = steps.findLast((one) => one.entry.do && one.entry.version === card.taken);
        this.look = look(card, {
            reason: destination?.result === "rejected" ? "Apple refused the push."
                : destination?.waiting?.reason_text ?? phases[destination?.phase],
            isMoving: Boolean(step?.clip) && Date.parse(shown?.last_at) > step.at,
        });
        this.element.dataset.look = this.look.kind;
    }

    draw(view, now) {
        if (this.isChannel) return;
        const { kind, version, words } = this.look;
        this.face.element.hidden = kind === "nothing";
        this.none.hidden = kind !== "nothing";
        setText(this.none, words);
        if (kind === "nothing") return;
        const { type } = view.activity;
        const label = `${this.device} ${kind === "drawn" ? "draws" : "may draw"}${view.place === null ? "" : " then"}`;
        // A simulated phone tells each frame.
        const card = view.place === null && kind === "drawn" ? view.drawnByPhone.get(this.device) : null;
        const step = view.stepOf(version);
        this.face.draw(card?.drawn_state ?? (step ? stateAt(step, this.slowed(step, now)) : {}),
            { type, now, label });
    }

    /** A moment of the clip as it comes through at the rate that this phone gets. */
    slowed(step, now) {
        const rate = this.destination?.frames.achieved_fps;
        if (!step.clip || !rate) return now;
        const period = 1000 / rate;
        return step.clip.began + Math.floor((now - step.clip.began) / period) * period;
    }
}
