"""Request bodies as templates: JSON in which some objects are instructions.

An object with one member whose name begins with "$" is an instruction. It says in a few bytes what a
hostile body is made of, so that a find in the corpus stays readable:

    {"$raw": "1e400"}                 these characters, as they are
    {"$hex": "ff"}                    these bytes, as they are
    {"$repeat": ["100d", 1068]}       a string, repeated
    {"$deep": [30, "[", 0]}           a value inside so many arrays ("[") or objects ("{")
    {"$members": [300, "name", 0]}    an object of so many members: name0, name1, ...
    {"$items": [1000, {}]}            an array of so many equal items
    {"$pairs": [["a", 1], ["a", 2]]}  an object whose names may repeat; a name may be an instruction
    {"$now": 28800}                   the time so many seconds from now (RFC 3339)
    {"$cut": [template, 10]}          the first bytes of the template
    {"$around": ["efbbbf", template, ""]}   the template between bytes, in hexadecimal
    {"$lines": [template, ...]}       one template a line, as NDJSON
    {"$first": [1, [template, ...]]}  the first so many of the items, for shrinking
"""
import datetime
import json


def instruction(template):
    """The instruction's name, or None where the template is plain."""
    if isinstance(template, dict) and len(template) == 1:
        name = next(iter(template))
        if name.startswith("$") and name in _RULES:
            return name
    return None


def render(template):
    """The bytes of a template."""
    if isinstance(template, dict):
        name = instruction(template)
        if name:
            return _RULES[name](template[name])
        return b"{" + b",".join(
            _text(key) + b":" + render(value) for key, value in template.items()) + b"}"
    if isinstance(template, list):
        return b"[" + b",".join(map(render, template)) + b"]"
    return json.dumps(template, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _text(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _deep(rule):
    count, kind, leaf = rule
    before, after = (b"[", b"]") if kind == "[" else (b'{"d":', b"}")
    return before * count + render(leaf) + after * count


def _now(seconds):
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return _text(moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z")


_RULES = {
    "$raw": lambda rule: rule.encode("utf-8", "surrogatepass"),
    "$hex": bytes.fromhex,
    "$repeat": lambda rule: _text(rule[0] * rule[1]),
    "$deep": _deep,
    "$members": lambda rule: b"{" + b",".join(
        _text(f"{rule[1]}{index}") + b":" + render(rule[2]) for index in range(rule[0])) + b"}",
    "$items": lambda rule: b"[" + b",".join([render(rule[1])] * rule[0]) + b"]",
    "$pairs": lambda rule: b"{" + b",".join(
        render(name) + b":" + render(value) for name, value in rule) + b"}",
    "$now": _now,
    "$cut": lambda rule: render(rule[0])[:rule[1]],
    "$around": lambda rule: bytes.fromhex(rule[0]) + render(rule[1]) + bytes.fromhex(rule[2]),
    "$lines": lambda rule: b"".join(render(line) + b"\n" for line in rule),
    "$first": lambda rule: render(rule[1][:rule[0]]),
}


class Number(str):
    """A number as it was spelled."""


class Refused(ValueError):
    """Bytes that are not the JSON that RFC 8259 and RFC 7493 describe."""


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Refused("a name twice")
    return members


def _constant(text):
    raise Refused(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=Number, parse_int=Number, parse_constant=_constant)


def parse(data):
    """The value of strict JSON, with numbers as they are spelled. Raises Refused."""
    try:
        text = data.decode("utf-8")
        value = _DECODER.decode(text)
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)[:100]) from None
    if "\\u" in text:
        _without_surrogates(value)
    return value


def _without_surrogates(value):
    """Refuses halves of surrogate pairs. Python's decoder takes them."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            try:
                item.encode("utf-8")
            except UnicodeEncodeError:
                raise Refused("half a surrogate pair") from None
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def depth(value):
    """How deep arrays and objects stand in each other; 0 for a scalar."""
    most, stack = 0, [(value, 1)]
    while stack:
        item, level = stack.pop()
        children = item.values() if isinstance(item, dict) else item if isinstance(item, list) else None
        if children is not None:
            most = max(most, level)
            stack.extend((child, level + 1) for child in children)
    return most


def beyond_double(value):
    """The first number that a Double cannot hold (infinite, or zero though it is not), or None."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Number):
            number = float(item)
            digits = item.lower().split("e")[0]
            if number in (float("inf"), float("-inf")) or (
                    number == 0 and any(c in "123456789" for c in digits)):
                return str(item)
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return None
