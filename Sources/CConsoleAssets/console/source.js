// What the relay said, in its own text: numbers keep their digits, strings their escapes.

/** Of each object and array that was read: its text. */
const texts = new WeakMap();
/** Of those with numbers that JavaScript spells in another way (2^53 + 1, 12.50): the text of each. */
const numbers = new WeakMap();

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/y;

/** JSON.parse, but that `textOf` and `members` know what was written. */
export function read(text) {
    const value = JSON.parse(text);
    note(text, value);
    return value;
}

/** Goes through a text that is JSON, beside the value that it is. */
function note(text, root) {
    let place = 0;
    const skip = () => {
        while (text.charCodeAt(place) <= 32) place += 1;
    };
    const token = () => {
        skip();
        const start = place;
        TOKEN.lastIndex = place;
        TOKEN.test(text);
        place = TOKEN.lastIndex;
        return text.slice(start, place);
    };
    const member = (holder, name) => {
        const value = holder[name];
        if (value !== null && typeof value === "object") return pass(value);
        const word = token();
        if (typeof value !== "number" || word === String(value)) return;
        if (!numbers.has(holder)) numbers.set(holder, new Map());
        numbers.get(holder).set(String(name), word);
    };
    const pass = (value) => {
        token();
        const start = place - 1;
        const isList = Array.isArray(value);
        for (let index = 0; ; index += 1) {
            skip();
            if (text[place] === "," || text[place] === "]" || text[place] === "}") {
                if (token() !== ",") break;
                skip();
            }
            const name = isList ? index : JSON.parse(token());
            if (!isList) token();
            member(value, name);
        }
        texts.set(value, text.slice(start, place));
    };
    if (root !== null && typeof root === "object") pass(root);
}

/** The text of a value that was read; of one that was made here, what JavaScript writes. */
export function textOf(value) {
    if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
    const text = texts.get(value);
    if (text !== undefined) return text;
    if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
    const all = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${all.map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`).join(",")}}`;
}

/** The members of an object as [name, text], for a line: a string without its quotes. */
export const members = (value) => Object.entries(value ?? {}).map(([name, one]) =>
    [name, typeof one === "string" ? one : numbers.get(value)?.get(name) ?? textOf(one)]);

/** How many bytes the text of a value has. */
export const bytesOf = (value) => new TextEncoder().encode(textOf(value)).length;

/** The text of a value over several lines, as JSON.stringify(value, null, 2) has them. */
export function pretty(value) {
    let [result, depth, before] = ["", 0, ""];
    for (const [word] of textOf(value).matchAll(new RegExp(TOKEN, "g"))) {
        const isOpen = before === "{" || before === "[";
        const closes = word === "}" || word === "]";
        if (closes) depth -= 1;
        if (closes ? !isOpen : isOpen || before === ",") result += "\n" + "  ".repeat(depth);
        result += word === ":" ? ": " : word;
        if (word === "{" || word === "[") depth += 1;
        before = word;
    }
    return result;
}
