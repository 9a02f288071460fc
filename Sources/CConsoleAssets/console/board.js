// What the glass of a phone on the wall has besides cards: widgets, their gallery, and the app in front.

import { get, post, put, remove, segment } from "./api.js";
import { badge, brief, count, distance, fill, h, say, setText } from "./dom.js";
import { Intents } from "./island.js";
import { WidgetPage } from "./page.js";
import { Art, previews } from "./picture.js";
import { WidgetFace, families, familiesOf, isOnLockScreen, line, partsOf } from "./widget.js";

const causes = { placed: "was placed", push: "push", at_end: "at end", after: "after a date", app: "app",
    retry: "retry" };

/** The kinds whose widgets are configured, such as to a door. */
export const keyed = new Set();

/** A widget: a tap opens its URL, a button runs its intent. While one edits, words say when it fetches. */
export class WidgetView {
    constructor(phone, { kind, family, config }) {
        this.phone = phone;
        this.name = brief([kind, config, family].filter(Boolean).join(" "), 160);
        this.key = { widget: kind, family, ...config && { config } };
        this.act = (deed, more) => phone.do(deed, { ...this.key, ...more });
        this.face = new WidgetFace(family);
        this.cells = h("div.cells");
        this.face.element.append(this.cells);
        this.all = [];
        this.links = h("div.widgetlinks");
        this.words = h("span");
        this.element = h("figure.widgetbox", { "data-family": family },
            h("div.widgetframe", {}, this.face.element, this.links,
                h("button.remove", { type: "button", "aria-label": `Remove ${this.name}`, title: "Remove",
                    onclick: () => this.act("widget-rm") }, "−")),
            h("figcaption", {}, h("strong", {}, brief(kind), config && ` ${brief(config)}`), this.words));
    }

    hear(widget) {
        this.widget = widget;
        const { fetching, next_entry_at: entry, next_fetch_at: fetch, next_fetch_for: cause } = widget;
        setText(this.words, [`${count(widget.fetches_left)} fetches left`,
            entry && `entry ${distance(entry)}`,
            fetching ? `fetches now (${causes[fetching]})`
                : fetch && `fetch ${distance(fetch)} (${causes[cause]})`].filter(Boolean).join(" · "));
        // It has asked, it got nothing, and it does not ask again.
        this.isRefused = widget.placeholder && widget.fetches > 0 && !fetching && !fetch;
        const parts = partsOf(widget.state);
        const links = parts.length > 1 ? [] : widget.links ?? [];
        if (this.shown === links.join()) return;
        this.shown = links.join();
        fill(this.links, links.map((link) => h("button", { type: "button", title: brief(link, 200),
            "aria-label": `Tap ${brief(link, 200)}`, onclick: () => this.act("tap", { link }) },
        brief(link.split("/").at(-1) || link, 16))));
        this.links.hidden = links.length === 0;
        this.element.dataset.links = links.length > 0;
    }

    draw() {
        const { type, placeholder } = this.widget;
        const state = this.phone.entryOf(this.key.widget) ?? this.widget.state;
        const isPlaceholder = placeholder && !this.isRefused;
        this.face.draw(state, { type, isPlaceholder, label: this.name, empty: (index) => this.emptyWords(index) });
        const { contents, titles } = this.face;
        if (this.drawn === contents && this.buttons === previews.buttons) return;
        [this.drawn, this.buttons] = [contents, previews.buttons];
        while (this.all.length > contents.length) this.all.pop().element.remove();
        while (this.all.length < contents.length) this.addCell();
        const hasButtons = !isPlaceholder && !isOnLockScreen(this.key.family);
        for (const [index, cell] of this.all.entries()) {
            const isEmpty = Object.keys(contents[index]).length === 0;
            const item = this.itemOf(index);
            cell.tap.setAttribute("aria-label", contents.length === 1 ? `Tap ${this.face.words}`
                : `Tap ${[this.name, item.config, titles[index]].filter(Boolean).join(", ")}`);
            cell.intents.draw(contents[index], hasButtons && !isEmpty ? type : null, titles[index]);
        }
        this.face.element.dataset.buttons = this.all.some(({ intents }) => !intents.element.hidden);
    }

    addCell() {
        const index = this.all.length;
        const intents = new Intents((intent, parameters) =>
            this.act("tap", { ...this.itemOf(index).key, intent, parameters }));
        const tap = h("button.widgettap", { type: "button", onclick: () => {
            const { key, link } = this.itemOf(index);
            this.act("tap", { ...key, ...link && { link } });
        } });
        const element = h("div.cell", {}, tap, intents.element);
        this.all.push({ element, tap, intents });
        this.cells.append(element);
    }

    /** What one of several items is configured to, and its link. A widget of one item says neither. */
    itemOf(index) {
        const items = partsOf(this.widget.state);
        if (items.length < 2) return { config: this.key.config };
        const config = this.key.config?.split(",")[index];
        // A door that is not there has no link.
        const isThere = (item) => Object.keys(item).length > 0;
        const link = isThere(items[index]) ? this.widget.links?.[items.slice(0, index).filter(isThere).length] : null;
        return { config, link, key: config && { config } };
    }

    /** Why a part shows nothing. */
    emptyWords(index) {
        const { config } = this.itemOf(index);
        const kind = this.key.widget;
        const [word] = kind.split(/[-._]/);
        const name = /^[a-z]+$/.test(word) ? word : null;
        if (config && (this.isRefused || this.itemOf(index).key)) {
            return `This phone may not see ${name && config.startsWith(`${kind}.`)
                ? `${name} ${brief(config.slice(kind.length + 1))}` : brief(config)}`;
        }
        const { type, url } = this.widget;
        if (config || type || url || !keyed.has(kind)) return "Nothing to show yet";
        return `Choose ${name ? `a ${name}` : "what it shows"}`;
    }
}

/** Adds a widget to a phone, or opens the gallery of a kind, which shows each family's snapshot. */
export class Gallery {
    constructor(phone) {
        this.phone = phone;
        const id = (word) => `${word}-${phone.name}`;
        const kind = h("input", { id: id("kind"), list: "kinds", required: true, spellcheck: "false",
            autocapitalize: "off" });
        const family = h("select", { id: id("family") }, familiesOf(phone.phone.idiom)
            .map((name) => h("option", {}, name)));
        const config = h("input", { id: id("config"), spellcheck: "false", placeholder: "none" });
        this.add = (widget, family) => phone.do("widget-add", { widget, family,
            ...config.value.trim() && { config: config.value.trim() } });
        this.form = h("details", {}, h("summary", {}, "Add a widget"), h("form.filters", {
            onsubmit: (event) => {
                event.preventDefault();
                this.add(kind.value.trim(), family.value);
            },
        }, h("label", { for: id("kind") }, "Kind", kind), h("label", { for: id("family") }, "Family", family),
        h("label", { for: id("config") }, "Configured to", config), h("button", {}, "Add"),
        h("button", { type: "button", onclick: () => {
            if (!kind.reportValidity()) return;
            this.isClosed = false;
            this.shown = null;
            phone.do("widget-gallery", { widget: kind.value.trim() });
        } }, "Open gallery")));
        this.element = h("div.gallery");
        this.samples = [];
    }

    hear({ gallery, widgets }) {
        this.element.hidden = !gallery || Boolean(this.isClosed) || !this.phone.isEditing;
        const shown = JSON.stringify([gallery, widgets.map(({ kind, type }) => [kind, type])]);
        if (!gallery || this.shown === shown) return;
        this.shown = shown;
        const { kind, complete, families: all } = gallery;
        const type = widgets.find((widget) => widget.kind === kind)?.type;
        this.samples = all.filter(({ family }) => families.includes(family)).map((one) =>
            ({ type, ...one, face: new WidgetFace(one.family) }));
        fill(this.element, h("h3", {}, `Gallery of ${brief(kind)} `, !complete && badge("not complete", "warn"),
            h("button.small", { type: "button", onclick: () => {
                this.isClosed = true;
                this.element.hidden = true;
            } }, "Close")),
        h("div.widgets", {}, this.samples.map(({ family, face }) =>
            h("figure.widgetbox", { "data-family": family }, face.element,
                h("figcaption", {}, h("span", {}, family), h("button.small", { type: "button",
                    "aria-label": `Add ${brief(kind)} ${family}`,
                    onclick: () => this.add(kind, family) }, "Add"))))));
    }

    draw() {
        for (const { state, type, family, face } of this.samples) face.draw(state, { type, label: family });
    }
}

/** The app in front: the page of the link that opened it, and what the apps of two scenarios do themselves. */
export class AppPage {
    constructor(phone) {
        this.phone = phone;
        this.where = h("p.where");
        this.link = h("p.link");
        this.art = new Art();
        this.mark = new Art();
        this.title = h("strong");
        this.subtitle = h("p.pagesubtitle");
        this.list = h("dl");
        this.page = h("article.page", {}, this.art.element,
            h("h3", {}, this.mark.element, this.title), this.subtitle, this.list);
        this.note = h("p.hint");
        this.runner = new Runner(phone);
        this.bar = h("button", { type: "button",
            onclick: () => phone.do("status-bar", { on: !phone.phone.status_bar }) });
        this.film = new Film();
        this.window = h("div", {}, this.film.element, h("p", {}, "The film goes on under the Control Center, and stops "
            + "where the app leaves. The corners are round while the app is active, and square in the switcher."), this.bar);
        this.more = new WidgetPage(phone);
        this.reload = h("button", { type: "button", onclick: () => phone.do("widget-reload") }, "Reload the widgets");
        this.element = h("div.inapp", {}, this.where, this.link, this.page, this.more.element, this.window, this.runner.element,
            this.reload, this.note);
    }

    hear(phone) {
        this.opened = phone.app?.link ?? phone.opened ?? "";
        setText(this.where, phone.presence === "inactive" ? "The app is in the switcher." : "The app is in front.");
        setText(this.link, this.opened);
        this.link.hidden = !this.opened;
        this.more.hear(phone, this.opened);
        // The widget has its family's part of the state, and the app has all of it.
        ({ state: this.state, type: this.type } = this.more.whole ?? phone.app ?? {});
        const { cards, widgets } = phone;
        this.reload.hidden = widgets.length === 0;
        this.card = cards.findLast((card) => isLive(card) && previews.model(card.drawn_state, card.type).art?.kind === "window");
        this.runner.hear(cards.filter(({ type }) => type === RUNNER), Boolean(this.opened || this.card));
        setText(this.bar, phone.status_bar ? "Hide the status bar" : "Show the status bar");
        this.window.hidden = !this.card;
        this.note.hidden = Boolean(this.state || this.card || !this.runner.element.hidden);
        setText(this.note, phone.idiom === "pad" ? "A pad shows widgets, and no cards."
            : "Frames wait until it is left; the state still comes.");
    }

    draw(now) {
        this.drawWindow(now);
        this.more.draw();
        this.page.hidden = !this.state;
        if (!this.state) return;
        const drawn = JSON.stringify([this.state, this.type, previews.types?.get(this.type)?.preview]);
        if (this.drawn === drawn && !this.isWaiting) return;
        this.drawn = drawn;
        const model = previews.model(this.state, this.type);
        this.art.draw(model.art);
        this.isWaiting = model.art?.kind === "image" && !this.art.shown;
        this.mark.draw(model.icon);
        // Without a preview a model has "name: value" for a title.
        const shown = previews.types?.get(this.type)?.preview ? [model.title, model.subtitle] : ["", ""];
        setText(this.title, shown[0]);
        this.title.parentElement.hidden = !shown[0];
        setText(this.subtitle, Number.isNaN(Number(shown[1])) ? shown[1] : "");
        const facts = partsOf(this.state).flatMap((part) => factsOf(part, shown));
        fill(this.list, facts.map(([name, value]) => Array.isArray(value)
            ? value.slice(0, 20).map((one) => h("div", {}, h("dt", {}, line(one)), h("dd")))
            : h("div", {}, h("dt", {}, brief(name)), h("dd", {}, line(value)))));
    }

    /** The app is the window: its corners follow its own presence at once; the card's follow the push. */
    drawWindow(now) {
        const { presence } = this.phone.phone;
        const isActive = presence === "active" || presence === "covered";
        this.film.draw(now, Boolean(this.card) && isActive);
        const rule = this.card && previews.types?.get(this.card.type)?.presence;
        const corner = rule ? rule[isActive ? "active" : "inactive"] : null;
        if (this.corner === corner) return;
        this.corner = corner;
        this.element.dataset.window = corner !== null;
        this.element.dataset.corner = corner ?? "";
        this.element.style.setProperty("--corner", corner === null ? "" : Math.min(40, Math.max(0, corner)));
        this.element.style.setProperty("--corner-time", rule?.duration ?? "");
    }
}

/** A film of the app's own: a ball that rolls, and the time that was played. */
class Film {
    constructor() {
        this.ball = h("span.ball");
        this.time = h("span.filmtime");
        this.element = h("div.film", { role: "img" }, this.ball, this.time);
        this.played = 0;
    }

    draw(now, isPlaying) {
        if (isPlaying && this.last) this.played += Math.min(1000, now - this.last);
        this.last = now;
        if (this.element.dataset.playing !== String(isPlaying)) this.element.dataset.playing = isPlaying;
        const part = this.played % 4000 / 4000;
        this.ball.style.left = `calc(1.2rem + (100% - 2.4rem) * ${Math.abs(1 - 2 * part)})`;
        this.ball.style.transform = `rotate(${Math.round(part * 720)}deg)`;
        const seconds = Math.floor(this.played / 1000);
        setText(this.time, `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
        this.element.setAttribute("aria-label", `A film, ${isPlaying ? "playing" : "stopped"}`);
    }
}

export const isLive = (card) => card.phase === "active" || card.phase === "stale";

/** The members of a state as [name, value]: objects by their members, pictures left out. */
function factsOf(part, shown) {
    return Object.entries(part).flatMap(([name, value]) => {
        if (name === "clip" || value === null) return [];
        if (Array.isArray(value)) return [[name, value]];
        if (typeof value === "object") return factsOf(value, shown);
        const isSaid = name === "id" || typeof value === "boolean"
            || (typeof value === "string" && shown.includes(value));
        return isSaid || String(value).startsWith("iVBORw0KGgo") ? [] : [[name, value]];
    }).slice(0, 40);
}

const RUNNER = "RunnerWidgetAttributes";
/** The app of `runner`: it is a producer, and speaks to the relay with the key of this console. */
class Runner {
    constructor(phone) {
        this.phone = phone;
        const button = (words, act) => h("button", { type: "button", onclick: () => this.try(act) }, words);
        this.every = h("select", { "aria-label": "Interval", onchange: () => this.try(() => this.change()) },
            ["100ms", "200ms", "500ms", "1s"].map((text) =>
                h("option", { selected: text === "100ms" }, text)));
        this.words = h("p.hint");
        this.element = h("div.runnerpage", { hidden: true }, h("h3", {}, "Runner"),
            h("div.row", {}, button("Start", () => this.start()), button("Stop", () => this.stop()),
                h("label", {}, "each ", this.every)), this.words);
        this.cards = [];
    }

    /** `isAway`: the app shows something else. */
    hear(cards, isAway) {
        this.cards = cards;
        const live = cards.filter(isLive).length;
        this.element.hidden = cards.length === 0 || (isAway && live === 0);
        setText(this.words, live === 0 ? "No card runs."
            : `${live === 1 ? "A card runs" : `${live} cards run, the newest moves`} while this app is not in front.`);
    }

    async try(act) {
        try {
            await act();
            this.phone.again();
        } catch (error) {
            say(error.message, "bad");
        }
    }

    /** The pictures that the newest card has played, and which of them it shows. */
    async pictures() {
        const card = this.cards.at(-1);
        if (!card) throw new Error("This phone has no card of the runner: tombolo trigger runner makes one.");
        const { events } = await get("/v1/log", { activity: card.activity, kind: "command" });
        const images = events.findLast(({ body }) => body?.flipbook)?.body.flipbook.frames;
        if (!images) throw new Error("The newest card has played nothing yet.");
        return [images, Math.max(0, images.indexOf(card.drawn_state.image))];
    }

    async start() {
        const [images, index] = await this.pictures();
        const id = `runner-${crypto.getRandomValues(new Uint32Array(1))[0].toString(16)}`;
        for (const { activity } of this.cards.filter(isLive)) await this.halt(activity);
        await put(`/v1/activities/${id}`, { type: RUNNER, audience: { device: this.phone.name },
            state: { image: images[index] }, relevance: 1,
            alert: { title: "The cat is off", body: "It runs until somebody stops it" } });
        await this.play(id, images, index);
    }

    play(id, images, index) {
        return post(`/v1/activities/${segment(id)}/clips`, { flipbook: { path: "/image", frames: images,
            every: this.every.value, loop: "forever", clock: "shown", start_at: index } });
    }

    /** Stops what plays in an activity. Answers whether anything did. */
    async halt(id) {
        const { clips } = await get(`/v1/activities/${segment(id)}`);
        for (const { clip } of clips) await remove(`/v1/activities/${segment(id)}/clips/${segment(clip)}`);
        return clips.length > 0;
    }

    async change() {
        const id = this.cards.filter(isLive).at(-1)?.activity;
        if (!id) return;
        const pictures = await this.pictures();
        if (await this.halt(id)) await this.play(id, ...pictures);
    }

    stop() {
        return post("/v1/activities/end", { where: { type: RUNNER } });
    }
}
