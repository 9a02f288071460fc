// What the app of a widget adds to its page: the whole state with its buttons, an editor, and the dates to come.

import { get, put, segment, session } from "./api.js";
import { brief, distance, fill, h, say, setText } from "./dom.js";
import { Intents } from "./island.js";

/** Rows of GET /v1/timelines. */
export const timelines = { rows: [] };

/** Other pictures that an editor offers: an animal on a colour. */
const animals = { fox: "🦊", bear: "🐻", panda: "🐼" };

function pictureOf(animal) {
    const canvas = h("canvas", { width: 72, height: 72 });
    const context = canvas.getContext("2d");
    context.fillStyle = "#5e56e6";
    context.fillRect(0, 0, 72, 72);
    context.font = "48px sans-serif";
    context.textAlign = "center";
    context.fillText(animal, 36, 53);
    return canvas.toDataURL("image/png").split(",")[1];
}

const isPicture = (value) => String(value).startsWith("iVBORw0KGgo");
const day = (date, timeZone) => new Intl.DateTimeFormat(undefined, { timeZone,
    weekday: "long", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hour12: false }).format(date);

export class WidgetPage {
    constructor(phone) {
        this.phone = phone;
        this.intents = new Intents((intent, parameters) =>
            phone.do("tap", { ...this.key, intent, parameters }));
        this.form = h("form.edit", { onsubmit: (event) => {
            event.preventDefault();
            this.save();
        } });
        this.words = h("p.hint");
        this.dates = h("ul");
        this.next = h("button", { type: "button", onclick: () => this.goOn() });
        this.schedule = h("section", { "aria-label": "Dates to come" }, this.dates, this.next, h("p.hint", {},
            "Only the clock of this phone's picture goes on. The relay's clock does not."));
        this.element = h("div.widgetpage", {}, this.intents.element, this.schedule, this.form, this.words);
    }

    /** `opened`: the link with which a widget opened the app. */
    hear(phone, opened) {
        const widget = opened && phone.widgets.find(({ url, links }) => url === opened || links?.includes(opened));
        const rows = timelines.rows.filter(({ kind }) => kind === widget?.kind);
        const row = rows.find(({ url }) => url === opened) ?? rows.find(({ links }) => links?.includes(opened)) ?? rows[0];
        this.widget = widget;
        if (this.row?.updated_at !== row?.updated_at || this.opened !== opened) this.begin(row, widget, opened);
        this.element.hidden = !row;
        if (!row || !widget) return;
        const { fetching, next_fetch_at: at } = widget;
        setText(this.words, `The widget: ${fetching ? "reloads now" : at ? `next reload ${distance(at)}` : "no reload is due"}, `
            + `${widget.fetches_left} fetches left. Other devices follow by push.`);
        const second = Math.floor(session.now() / 1000);
        if (this.second !== second) this.read(second);
    }

    begin(row, widget, opened) {
        [this.row, this.opened, this.whole] = [row, opened, null];
        this.key = row && { widget: row.kind, family: widget?.family, ...row.subject.key && { config: row.subject.key } };
        const content = row?.content;
        this.form.hidden = !content;
        this.schedule.hidden = !row?.schedule;
        if (!content) return;
        this.showWhole();
        this.inputs = Object.entries(content).filter(([, value]) => ["string", "number"].includes(typeof value))
            .map(([name, value]) => [name, value, isPicture(value) ? h("select", {}, h("option", { value: "" }, "as it is"),
                Object.keys(animals).map((one) => h("option", {}, one)))
                : h("input", { value, type: typeof value === "number" ? "number" : "text" })]);
        fill(this.form, h("h3", {}, "Edit"), this.inputs.map(([name, , input]) => h("label", {}, brief(name), " ", input)),
            h("button", {}, "Save"));
    }

    /** A timeline's content, by this phone's clock: the app knows it before its widget has fetched. */
    showWhole() {
        const { kind, content, type } = this.row;
        this.whole = { state: this.phone.entryOf(kind) ?? content, type: type ?? this.widget?.type };
    }

    /** Reads what the widget shows only a part of: the activity's state, or the entries to come. */
    async read(second) {
        this.second = second;
        const { row, widget } = this;
        try {
            if (row.from?.activity) {
                const { state, type } = await get(`/v1/activities/${segment(row.from.activity)}`);
                if (this.row === row) this.whole = { state, type };
            } else if (row.schedule) {
                const { user, device, key } = row.subject;
                this.phone.zone ??= (await get(`/v1/devices/${segment(this.phone.name)}`)).time_zone;
                const { entries } = await get(`/v1/timelines/${segment(row.kind)}/entries`,
                    { user, device, config: key, family: widget.family });
                this.entries = this.byOwnZone(entries, Date.parse(widget.next_entry_at));
                this.showDates();
            }
        } catch {
            if (row.from) this.whole = null;
        }
    }

    /** A user's devices may be in several zones: the phone's own next entry says what its zone shifts. */
    byOwnZone(entries, next) {
        const dates = entries.map(({ date }) => Date.parse(date));
        const first = dates.find((date) => date > session.now());
        const shift = first && next ? next - first : 0;
        return entries.map((entry, index) => ({ ...entry, date: dates[index] > session.now() ? dates[index] + shift
            : dates[index] }));
    }

    showDates() {
        const dates = this.entries.map(({ date }) => date).filter((date) => date > this.phone.now()).slice(0, 3);
        const { zone } = this.phone;
        const words = dates.map((date) => day(date, zone)).join("\n");
        setText(this.next, this.phone.ahead ? "Back to now" : `Go to ${dates.length ? day(dates[0], zone) : "the next date"}`);
        if (this.shown === words) return;
        this.shown = words;
        fill(this.dates, this.entries.filter(({ date }) => dates.includes(date)).map(({ date, provisional }) =>
            h("li", {}, day(date, zone), provisional && h("span.hint", {}, " provisional"))));
    }

    /** The phone's own clock goes on to the next date, or back. */
    goOn() {
        const next = this.entries?.map(({ date }) => date).find((date) => date > this.phone.now());
        this.phone.ahead = this.phone.ahead || !next ? 0 : next - session.now() + 1000;
        this.phone.entries = this.phone.ahead ? { kind: this.row.kind, all: this.entries } : null;
        this.showWhole();
        this.showDates();
    }

    async save() {
        const { kind, subject, content, url, links, policy, schedule, type } = this.row;
        const changes = this.inputs.map(([name, value, input]) => [name, typeof value === "number" ? Number(input.value)
            : !isPicture(value) ? input.value : input.value ? pictureOf(animals[input.value]) : value]);
        try {
            await put(`/v1/timelines/${segment(kind)}`, { subject, content: { ...content, ...Object.fromEntries(changes) },
                url, links, policy, schedule, type });
            timelines.again?.();
            this.phone.do("widget-reload", { widget: kind });
            say("Saved. This phone's app reloads its widget at once.");
        } catch (error) {
            say(error.message, "bad");
        }
    }

    draw() {
        this.intents.draw(this.whole?.state ?? {}, this.whole?.type ?? null);
    }
}
