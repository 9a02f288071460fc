// What may be drawn of a phone's card: what the phone has reported, what Apple took, or nothing.

/**
 * What is known of a card on a device at a step of a folded log: the newest version that Apple took,
 * the newest that the phone reported as received and as drawn, and its last word on its phase.
 */
export function known(steps, place, device) {
    let card = { taken: 0, received: 0, drawn: 0 };
    for (const { entry: { do: verb, fact, body } } of steps.slice(0, place + 1)) {
        // Each life of an activity has cards of its own.
        if (verb === "start") card = { taken: 0, received: 0, drawn: 0 };
        if (body?.device !== device) continue;
        if (fact === "push.accepted") {
            card.misses &&= card.taken === body.version;
            card.taken = body.version;
        }
        // The version changes nothing of what the phone has.
        if (fact === "push.skipped" && body.decision === "unchanged" && card.taken > 0) {
            for (const name of ["taken", "received", "drawn"]) {
                if (card[name] >= body.from - 1) card[name] = body.version;
            }
        }
        if (fact === "card.reported") {
            report(card, body);
            card.misses = Boolean(body.misses_push);
        }
    }
    return card;
}

/** Adds what a phone says to what is known of its card, where it is not known yet. */
export function report(card, { received_version: received, drawn_version: drawn, phase, by }) {
    const word = [received, drawn, phase, by].join();
    if (card.word === word) return;
    Object.assign(card, { word, phase, by, received: received ?? card.received, drawn: drawn ?? card.drawn });
}

/**
 * The one place that decides how a card is drawn: { kind, version, words }. `drawn`: the phone has
 * reported that it draws this version. `taken`: Apple took it, and the phone has not said that it
 * draws it; it is drawn faint. `nothing`: there is no card to draw, for the reason that `words` gives.
 *
 * `reason`: why nothing was sent. `isMoving`: the phone has reported a change since the clip began.
 */
export function look({ taken, received, drawn, misses, phase, by }, { reason, isMoving } = {}) {
    if (phase === "dismissed" || phase === "gone") {
        return { kind: "nothing", words: by ? `The card was dismissed by ${by}.` : "The card is gone from the phone." };
    }
    if (drawn > 0 && (drawn >= taken || received >= taken)) {
        return { kind: "drawn", version: drawn,
            words: received > drawn ? `has v${received}, and draws v${drawn}` : `draws v${drawn}` };
    }
    if (misses && drawn > 0) {
        return { kind: "drawn", version: drawn, words: `Apple took v${taken}; the phone says that it draws v${drawn}` };
    }
    if (taken > 0 && isMoving) return { kind: "drawn", version: taken, words: `draws frames of v${taken}` };
    const newest = Math.max(taken, received);
    if (newest === 0) return { kind: "nothing", words: reason ?? "Nothing was sent to it." };
    if (received >= taken) {
        return { kind: "taken", version: newest, words: `has v${newest}, and has not said that it draws it` };
    }
    const last = Math.max(received, drawn);
    return { kind: "taken", version: newest,
        words: `Apple took v${newest}; the phone has said nothing${last > 0 ? ` since v${last}` : " of it"}` };
}
