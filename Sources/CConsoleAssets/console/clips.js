// Clips as functions of time, and a log folded into states: what the producer said at any moment.

/** "1m30s" → milliseconds. */
export function milliseconds(text) {
    const units = { ms: 1, s: 1000, m: 60000, h: 3600000, d: 86400000 };
    let sum = 0;
    for (const [, amount, unit] of String(text ?? "").matchAll(/([0-9.]+)(ms|s|m|h|d)/g)) {
        sum += Number(amount) * units[unit];
    }
    return sum;
}

const tokens = (path) => String(path).split("/").slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

const isIndex = (token) => /^(0|[1-9][0-9]{0,4})$/.test(token);

/** What is at a JSON Pointer (RFC 6901). */
export function at(value, path) {
    let place = value;
    for (const token of tokens(path)) {
        if (place === null || typeof place !== "object" || !Object.hasOwn(place, token)) {
            return undefined;
        }
        if (Array.isArray(place) && !isIndex(token)) return undefined;
        place = place[token];
    }
    return place;
}

/** A copy with another value at a path that is there, or whose last member is new. */
export function setting(value, path, next) {
    const [first, ...rest] = tokens(path);
    if (first === undefined) return next;
    const copy = Array.isArray(value) ? [...value] : own(value);
    const inner = Object.hasOwn(copy, first) ? copy[first] : undefined;
    const pointer = rest.map((token) => "/" + token.replaceAll("~", "~0").replaceAll("/", "~1"));
    put(copy, first, rest.length ? setting(inner ?? {}, pointer.join(""), next) : next);
    return copy;
}

/** No member of a state reaches a prototype. */
function own(value) {
    const copy = Object.create(null);
    if (value && typeof value === "object") {
        for (const [name, member] of Object.entries(value)) copy[name] = member;
    }
    return copy;
}

function put(target, name, value) {
    if (Array.isArray(target) && !isIndex(name)) return;
    target[name] = value;
}

/** RFC 7396. */
export function merge(target, change) {
    if (change === null || typeof change !== "object" || Array.isArray(change)) return change;
    const result = Array.isArray(target) ? own(null) : own(target);
    for (const [name, value] of Object.entries(change)) {
        if (value === null) delete result[name];
        else result[name] = merge(result[name], value);
    }
    return result;
}

const curves = {
    linear: [0, 0, 1, 1], easeIn: [0.42, 0, 1, 1], easeOut: [0, 0, 0.58, 1],
    easeInOut: [0.42, 0, 0.58, 1],
};
const springs = {
    default: [0.55, 0], spring: [0.5, 0], smooth: [0.5, 0], snappy: [0.5, 0.15],
    bouncy: [0.5, 0.3],
};

function bezier([x1, y1, x2, y2], time) {
    const point = (a, b, t) => 3 * a * t * (1 - t) ** 2 + 3 * b * t * t * (1 - t) + t ** 3;
    let [low, high] = [0, 1];
    for (let step = 0; step < 40; step += 1) {
        const middle = (low + high) / 2;
        if (point(x1, x2, middle) < time) low = middle;
        else high = middle;
    }
    return point(y1, y2, (low + high) / 2);
}

/** How far a spring is after some seconds. */
export function spring([duration, bounce], seconds) {
    const pulse = 2 * Math.PI / duration;
    const damping = bounce >= 0 ? 1 - bounce : 1 / (1 + bounce);
    if (damping < 1) {
        const swing = pulse * Math.sqrt(1 - damping * damping);
        const fall = Math.exp(-damping * pulse * seconds);
        return 1 - fall * (Math.cos(swing * seconds)
            + damping * pulse / swing * Math.sin(swing * seconds));
    }
    return 1 - Math.exp(-pulse * seconds) * (1 + pulse * seconds);
}

/** Progress of a tween after so many milliseconds. */
export function progress(tween, elapsed) {
    if (elapsed <= 0) return 0;
    const duration = tween.duration ? milliseconds(tween.duration) : 0;
    const easing = tween.easing ?? "default";
    const curve = curves[easing] ?? easing.cubicBezier;
    if (curve) {
        const time = elapsed / (duration || 350);
        return time >= 1 ? 1 : bezier(curve, time);
    }
    const given = easing.spring ?? {};
    const [ownDuration, bounce] = springs[easing]
        ?? [milliseconds(given.duration ?? "500ms") / 1000, given.bounce ?? 0];
    const seconds = duration ? duration / 1000 : ownDuration;
    return elapsed / 1000 > seconds * 4 ? 1 : spring([seconds, bounce], elapsed / 1000);
}

/** Between two values: numbers, lists and objects of them; anything else changes at the end. */
export function between(from, to, part) {
    if (typeof from === "number" && typeof to === "number") return from + (to - from) * part;
    if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
        return from.map((value, index) => between(value, to[index], part));
    }
    if (from && to && typeof from === "object" && typeof to === "object") {
        const result = own(to);
        for (const name of Object.keys(to)) result[name] = between(from[name], to[name], part);
        return result;
    }
    return part >= 1 ? to : from ?? to;
}

/** The value of a clip at a moment (milliseconds), and whether it still moves. */
export function sample(clip, now) {
    const elapsed = Math.max(0, now - clip.began);
    if (clip.flipbook) {
        const { frames, loop } = clip.flipbook;
        const every = Math.max(10, milliseconds(clip.flipbook.every));
        const times = loop === "once" ? 1 : Number.isInteger(loop) ? loop : Infinity;
        const step = Math.min(Math.floor(elapsed / every), frames.length * times - 1);
        return { value: frames[step % frames.length], moves: step < frames.length * times - 1 };
    }
    const part = progress(clip.tween, elapsed);
    return { value: between(clip.from, clip.tween.to, part), moves: part !== 1 };
}

/** A state at a moment: with its clip, where one plays. */
export function stateAt(step, now) {
    if (!step) return {};
    if (!step.clip) return step.state;
    return setting(step.state, step.clip.path, sample(step.clip, now).value);
}

/**
 * Folds commands of a log, oldest first, into steps: { seq, version, at, do, state, clip }. A fact is
 * a step without a state of its own. `base` is the state after the first, where the log begins later.
 */
export function fold(entries, base) {
    const steps = [];
    let now = { state: base ?? {}, clip: null };
    for (const [index, entry] of entries.entries()) {
        if (entry.kind === "command" || entry.do) {
            now = apply(now, entry);
            if (index === 0 && base) now = { state: base, clip: now.clip };
        }
        steps.push({ ...now, entry, at: Date.parse(entry.recorded_at) });
    }
    return steps;
}

function apply(before, { do: verb, body = {}, recorded_at: recorded }) {
    const moment = Date.parse(recorded);
    const settled = { state: stateAt(before, moment), clip: null };
    if (verb === "start") return { state: body.state ?? {}, clip: null };
    if (verb === "play") {
        const path = (body.flipbook ?? body.tween)?.path ?? "";
        const began = body.start_at ? Date.parse(body.start_at) : moment;
        const from = body.tween ? body.tween.from ?? at(settled.state, path) : undefined;
        return {
            state: settled.state,
            clip: { flipbook: body.flipbook, tween: body.tween, path, began, from },
        };
    }
    if (verb === "stop") return settled;
    const base = verb === "end" ? settled.state : before.state;
    const state = body.replace ?? (body.state ? merge(base, body.state) : base);
    return { state, clip: verb === "end" ? null : before.clip };
}
