// Requests that the relay refused, or that were slow.

import { get, poll } from "./api.js";
import { badge, brief, count, fill, filtersOf, h, keepFilters, setText, time, timeTitle, toActivity } from "./dom.js";
import { Table } from "./table.js";

const PAGE = 200;

/** Why: the request's own cause, or those of the refused lines of a batch. */
function causes(row) {
    const said = ({ code, detail, pointer }) => [h("strong", {}, code),
        pointer && !detail.startsWith(pointer) ? ` ${brief(pointer)}` : "", ` ${brief(detail, 300)}`];
    if (row.lines) {
        return [h("p", {}, `${count(row.lines_refused)} lines refused:`), row.lines.map((line) =>
            h("p", {}, `line ${line.line}: `, said(line), line.activity ? [" ", toActivity(line.activity)] : ""))];
    }
    return row.code ? said(row) : "";
}

export async function requests(root, { query, signal }) {
    const table = new Table("Requests", [
        { title: timeTitle(), cell: (row) => time(row.at) },
        { title: "Request", cell: (row) => h("span", { title: row.path }, row.operation
            ?? `${brief(row.method)} of an unknown path`) },
        { title: "Status", cell: (row) => badge(`${row.status}${row.dry_run ? " dry run" : ""}`,
            row.kind === "refused" ? "bad" : "") },
        { title: "Why", cell: causes, wraps: true },
        { title: "Activity", cell: (row) => row.activity ? toActivity(row.activity) : "" },
        { title: "Key", cell: (row) => h("span", { title: row.key }, brief(row.key_name ?? row.key ?? "none")) },
        { title: "From", cell: (row) => brief(row.address) },
        { title: "Took", cell: (row) => row.took_ms ? `${count(row.took_ms)} ms` : "", number: true },
    ], { key: (row) => row.id, none: "The relay remembers no such request." });
    const kind = h("select", { id: "kind" }, ["", "refused", "slow"].map((value) =>
        h("option", { value, selected: value === query.get("kind") }, value || "any")));
    const activity = h("input", { id: "activity", value: query.get("activity") ?? "",
        placeholder: "any activity" });
    const more = h("button", { type: "button", hidden: true }, "Show older ones");
    const trouble = h("p.trouble", { role: "status" });
    fill(root, h("h1", {}, "Requests"),
        h("p.hint", {}, "The newest requests that were refused or took more than 100 ms. A restart of the relay "
            + "forgets them."),
        h("form.filters", { onsubmit: (event) => event.preventDefault() },
            h("label", { for: "kind" }, "Kind", kind), h("label", { for: "activity" }, "Activity", activity)),
        trouble, table.element, more);
    const asked = () => filtersOf([kind, activity]);
    let pages = 1;
    const again = poll(3000, signal, async () => {
        let rows = [];
        let cursor;
        const ask = asked();
        try {
            for (let page = 0; page < pages; page += 1) {
                const answer = await get("/v1/requests", { ...ask, limit: PAGE, cursor }, signal);
                rows = [...rows, ...answer.requests];
                cursor = answer.next_cursor;
                if (!cursor) break;
            }
            setText(trouble, "");
        } catch (error) {
            if (!error.status) throw error;
            rows = [];
            setText(trouble, error.message);
        }
        table.update(rows);
        more.hidden = !cursor;
    });
    for (const field of [kind, activity]) {
        field.addEventListener("change", () => {
            keepFilters("requests", asked());
            pages = 1;
            again();
        });
    }
    more.addEventListener("click", () => {
        pages += 1;
        again();
    });
}
