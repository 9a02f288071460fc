// The frame lane of one phone: what was asked and sent, against the grant, and its bucket's level.

import { session } from "./api.js";
import { brief, count, h, recipient, s, setText } from "./dom.js";

const MINUTE = 60000;
const SAMPLES_MAX = 1800;
const WIDTH = 240;

/** Frames of the last minute by the second; where no clip plays, pushes of an hour or less. */
export class FrameLane {
    constructor(device) {
        this.device = device;
        this.bars = s("g");
        this.estimated = s("path", { class: "estimated" });
        this.level = s("path", { class: "level" });
        this.words = h("span.hint");
        this.bucket = h("span.hint.bucket");
        this.svg = s("svg", { viewBox: `0 0 ${WIDTH} 40`, preserveAspectRatio: "none", role: "img" },
            this.bars, this.estimated, this.level);
        this.element = h("figure.lane", {},
            h("figcaption", {}, h("strong", {}, brief(device)), this.words, this.bucket), this.svg);
        /** What /v1/budgets said while the page was open: [moment, tokens left]. */
        this.samples = [];
    }

    /** The grant and what is left of it now: an entry of /v1/budgets, and the class's burst. */
    measure(budget, burst) {
        Object.assign(this, { budget, burst });
        if (budget.left === null) return;
        this.samples.push([session.now(), budget.left]);
        if (this.samples.length > SAMPLES_MAX) this.samples.shift();
    }

    draw(book, deliveries) {
        const now = session.now();
        const seconds = (book?.seconds ?? []).filter((one) => now - Date.parse(one.at) < MINUTE);
        const pushes = deliveries.filter((one) => recipient(one) === this.device && one.push?.sent_at)
            .map((one) => ({ at: Date.parse(one.push.sent_at), priority: one.push.priority })).reverse();
        // The least that shows every push of the hour.
        const oldest = pushes.find((push) => now - push.at < 60 * MINUTE)?.at ?? 0;
        const span = MINUTE * (seconds.length > 0 ? 1
            : [1, 5, 15].find((minutes) => now - oldest < minutes * MINUTE) ?? 60);
        const x = (at) => Math.max(0, WIDTH - (now - at) / span * WIDTH);
        this.drawBars(seconds, pushes, x, now - span);
        this.drawBucket(pushes, x, now - span, now);
        const words = `${this.sayFrames(book?.frames)}the last ${span / MINUTE} min`;
        setText(this.words, words);
        this.svg.setAttribute("aria-label", `${words} ${this.bucket.textContent}`);
    }

    sayFrames(frames) {
        if (!frames?.asked) return "pushes of ";
        const why = Object.entries(frames.skipped_by).filter(([, value]) => value > 0)
            .map(([name, value]) => `${name.replaceAll("_", " ")} ${count(value)}`).join(", ");
        return `asked ${count(frames.asked)} · sent ${count(frames.sent)} · merged `
            + `${count(frames.merged)} · skipped ${count(frames.skipped)}${why ? ` (${why})` : ""} · `;
    }

    drawBars(seconds, pushes, x, from) {
        const most = Math.max(1, ...seconds.map((second) => second.asked));
        const bar = (kind, at, height) => s("rect", { class: kind, x: x(at), y: 40 - height,
            width: seconds.length ? 3.2 : 1, height });
        this.bars.replaceChildren(...seconds.length
            ? seconds.flatMap(({ at, asked, sent }) => [bar("asked", Date.parse(at), asked / most * 38),
                bar("sent", Date.parse(at), sent / most * 38)])
            : pushes.filter((push) => push.at > from).map((push) =>
                bar("sent", push.at, push.priority === 10 ? 38 : 19)));
    }

    /** The level that was measured as a line; before that, what pushes of priority 10 leave of it. */
    drawBucket(pushes, x, from, now) {
        const { budget, burst } = this;
        const grant = budget && `grant: ${budget.grant.spacing} apart`;
        if (!budget || budget.left === null) {
            setText(this.bucket, budget ? `${grant}, no bucket` : "");
            return;
        }
        setText(this.bucket, `${grant}, ${count(budget.grant.per_hour)} an hour · bucket (line): `
            + `${count(budget.left)} of ${count(burst)}; dashed: estimated`);
        const line = (points) => points.map(([at, left], index) =>
            `${index ? "L" : "M"}${x(at).toFixed(1)} ${(38 - left / burst * 36).toFixed(1)}`).join("");
        const measured = this.samples.filter(([at]) => at >= from);
        const begin = measured[0]?.[0] ?? now;
        const rate = budget.grant.per_hour / 3600000;
        const guess = [[pushes[0]?.at ?? from, burst]];
        const fill = (at) => {
            const [before, left] = guess[guess.length - 1];
            const whole = before + (burst - left) / rate;
            if (whole > before && whole < at) guess.push([whole, burst]);
            guess.push([at, Math.min(burst, left + (at - before) * rate)]);
        };
        for (const push of pushes.filter((one) => one.priority === 10 && one.at < begin)) {
            fill(push.at);
            guess.push([push.at, Math.max(0, guess[guess.length - 1][1] - 1)]);
        }
        fill(begin);
        this.estimated.setAttribute("d", line(guess.filter(([at], index) =>
            at >= from || guess[index + 1]?.[0] >= from)));
        this.level.setAttribute("d", line([...measured, [now, budget.left]]));
    }
}
