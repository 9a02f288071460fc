// The widgets of a phone on the wall, and the gallery that they come from.

import { badge, brief, count, distance, fill, h, setText } from "./dom.js";
import { WidgetFace, families, familiesOf } from "./widget.js";

const causes = { placed: "was placed", push: "push", at_end: "at end", after: "after a date", app: "app",
    retry: "retry" };

/** A widget: a tap opens its URL, and the words under it say when it fetches. */
export class WidgetView {
    constructor(phone, { kind, family, config }) {
        this.phone = phone;
        this.name = brief([kind, config, family].filter(Boolean).join(" "), 160);
        const key = { widget: kind, family, ...config && { config } };
        this.act = (deed, more) => phone.do(deed, { ...key, ...more });
        this.face = new WidgetFace(family);
        this.tap = h("button.widgettap", { type: "button", onclick: () => this.act("tap") },
            this.face.element);
        this.links = h("div.widgetlinks");
        this.words = h("span");
        this.reload = h("button.small", { type: "button", "aria-label": `Reload ${brief(kind)}`,
            onclick: () => phone.do("widget-reload", { widget: kind }) }, "Reload");
        this.element = h("figure.widgetbox", { "data-family": family },
            h("div.widgetframe", {}, this.tap, this.links,
                h("button.remove", { type: "button", "aria-label": `Remove ${this.name}`, title: "Remove",
                    onclick: () => this.act("widget-rm") }, "−")),
            h("figcaption", {}, h("strong", {}, brief(kind), config && ` ${brief(config)}`), this.words,
                this.reload));
    }

    hear(widget) {
        this.widget = widget;
        const { fetching, next_entry_at: entry, next_fetch_at: fetch, next_fetch_for: cause } = widget;
        setText(this.words, [`${count(widget.fetches_left)} fetches left`,
            entry && `entry ${distance(entry)}`,
            fetching ? `fetches now (${causes[fetching]})`
                : fetch && `fetch ${distance(fetch)} (${causes[cause]})`].filter(Boolean).join(" · "));
        this.reload.hidden = this.phone.phone.presence !== "active";
        const links = widget.links ?? [];
        if (this.shown === links.join()) return;
        this.shown = links.join();
        fill(this.links, links.map((link) => h("button", { type: "button", title: brief(link, 200),
            "aria-label": `Tap ${brief(link, 200)}`, onclick: () => this.act("tap", { link }) },
        brief(link.split("/").at(-1) || link, 16))));
        this.links.hidden = links.length === 0;
        this.element.dataset.links = links.length > 0;
    }

    draw() {
        const { state, type, placeholder } = this.widget;
        this.face.draw(state, { type, isPlaceholder: placeholder, label: this.name });
        const words = `Tap ${this.face.words}`;
        if (this.tap.getAttribute("aria-label") !== words) this.tap.setAttribute("aria-label", words);
    }
}

/** Adds a widget to a phone, or opens the gallery of a kind, which shows each family's snapshot. */
export class Gallery {
    constructor(phone) {
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
        this.element.hidden = !gallery || Boolean(this.isClosed);
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
