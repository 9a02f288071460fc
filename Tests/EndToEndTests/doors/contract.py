"""Protocol/openapi.json as a checker: its operations, and what breaks a schema."""
import json
import os
import re

from template import Number, Refused, depth, parse

_RFC3339 = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
    r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)\Z")


class Operation:
    """One operation of the API."""

    def __init__(self, contract, method, path, description, shared):
        self.id = description["operationId"]
        self.method, self.path = method.upper(), path
        self.parameters = [
            contract.resolved(parameter)
            for parameter in shared + description.get("parameters", [])]
        content = description.get("requestBody", {}).get("content", {})
        self.media_type = next(iter(content), None)
        self.body = content[self.media_type]["schema"] if content else None
        self.body_required = description.get("requestBody", {}).get("required", False)
        self.scopes = [scope for row in description.get("security", []) for scope in row.get("key", [])]
        self.answers = {
            int(status): {
                name: media["schema"]
                for name, media in contract.resolved(answer).get("content", {}).items()}
            for status, answer in description["responses"].items() if status != "default"}

    def named(self, place):
        """The parameters in the path, the query or the header."""
        return [parameter for parameter in self.parameters if parameter["in"] == place]


class Contract:
    """The whole description."""

    def __init__(self, folder):
        with open(os.path.join(folder, "openapi.json")) as file:
            self.document = json.load(file)
        self._include(os.path.join(folder, "schemas"))
        self.operations = {}
        for path, item in self.document["paths"].items():
            for method, description in item.items():
                if method != "parameters":
                    operation = Operation(
                        self, method, path, description, item.get("parameters", []))
                    self.operations[operation.id] = operation
        self.examples = {}
        examples = os.path.join(folder, "examples", "requests")
        for name in sorted(os.listdir(examples)):
            with open(os.path.join(examples, name)) as file:
                self.examples.setdefault(name.split(".")[0], []).append(json.load(file))
        self._patterns = {}

    def _include(self, folder):
        """Puts the schemas' files in the place of the references to them."""
        schemas = self.document["components"]["schemas"]
        for name in schemas:
            with open(os.path.join(folder, name + ".json")) as file:
                text = re.sub(r'"\$ref": "([a-z-]+)\.json"', r'"$ref": "#/components/schemas/\1"', file.read())
            schemas[name] = json.loads(text)

    def resolved(self, value):
        """The value itself, where a reference stands in its place."""
        while "$ref" in value:
            target = self.document
            for part in value["$ref"].lstrip("#/").split("/"):
                target = target[part]
            value = target
        return value

    def schema_name(self, schema):
        return schema.get("$ref", "").rsplit("/", 1)[-1]

    def faults(self, schema, value, at=""):
        """How the value breaks the schema, as texts; numbers are Number."""
        found = []
        self._check(schema, value, at, found)
        return found

    def _check(self, schema, value, at, found):
        if "$ref" in schema:
            schema = self.resolved(schema)
        kinds = schema.get("type")
        if kinds is not None and not any(
                _is(value, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])):
            found.append(f"{at or '/'}: not of type {kinds}")
            return
        if "enum" in schema and _plain(value) not in schema["enum"]:
            found.append(f"{at or '/'}: not one of {schema['enum']}")
        if "const" in schema and value != schema["const"]:
            found.append(f"{at or '/'}: not {schema['const']}")
        for part in schema.get("allOf", ()):
            self._check(part, value, at, found)
        for name, least in (("oneOf", 1), ("anyOf", None)):
            if name in schema:
                fit = sum(not self.faults(option, value) for option in schema[name])
                if fit == 0 or least and fit != 1:
                    found.append(f"{at or '/'}: fits {fit} of {name}")
        if isinstance(value, Number):
            self._check_number(schema, value, at, found)
        elif isinstance(value, str):
            self._check_text(schema, value, at, found)
        elif isinstance(value, dict):
            self._check_object(schema, value, at, found)
        elif isinstance(value, list):
            if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 1 << 60):
                found.append(f"{at or '/'}: {len(value)} items")
            if "items" in schema:
                for index, item in enumerate(value):
                    self._check(schema["items"], item, f"{at}/{index}", found)

    def _check_number(self, schema, value, at, found):
        number = float(value)
        if "minimum" in schema and number < schema["minimum"]:
            found.append(f"{at or '/'}: below {schema['minimum']}")
        if "maximum" in schema and number > schema["maximum"]:
            found.append(f"{at or '/'}: above {schema['maximum']}")

    def _check_text(self, schema, value, at, found):
        length = len(value)
        if not schema.get("minLength", 0) <= length <= schema.get("maxLength", 1 << 60):
            found.append(f"{at or '/'}: {length} characters")
        if "pattern" in schema:
            if not self.pattern(schema["pattern"]).search(value):
                found.append(f"{at or '/'}: not {schema['pattern']}")
        if schema.get("format") == "date-time" and not _RFC3339.match(value):
            found.append(f"{at or '/'}: not a time")

    def pattern(self, text):
        if text not in self._patterns:
            # In Python `$` also matches before a line feed at the end.
            self._patterns[text] = re.compile(re.sub(r"\$$", r"\\Z", text))
        return self._patterns[text]

    def _check_object(self, schema, value, at, found):
        if len(value) < schema.get("minProperties", 0):
            found.append(f"{at or '/'}: {len(value)} members")
        for name in schema.get("required", ()):
            if name not in value:
                found.append(f"{at}/{name}: is missing")
        properties = schema.get("properties", {})
        for name, member in value.items():
            if name in properties:
                self._check(properties[name], member, f"{at}/{name}", found)
            elif schema.get("additionalProperties") is False:
                found.append(f"{at}/{name[:60]}: not a member")

    def parameter_fault(self, parameter, text):
        """How a parameter's text breaks its schema, or None."""
        schema = parameter.get("schema", {})
        kind = schema.get("type")
        if kind == "boolean":
            return None if text in ("true", "false") else "not a boolean"
        if kind == "integer":
            if not re.match(r"[+-]?[0-9]+\Z", text):
                return "not an integer"
            text = Number(int(text))
        found = self.faults(schema, text)
        return found[0] if found else None


def _plain(value):
    return float(value) if isinstance(value, Number) else value


def _is(value, kind):
    if kind == "object":
        return isinstance(value, dict)
    if kind == "array":
        return isinstance(value, list)
    if kind == "string":
        return isinstance(value, str) and not isinstance(value, Number)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    if kind == "number":
        return isinstance(value, Number)
    if kind == "integer":
        return isinstance(value, Number) and _is_whole(value)
    raise ValueError(kind)


def _is_whole(number):
    match = re.match(r"-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?\Z", number)
    whole, fraction, exponent = match.group(1), match.group(2) or "", int(match.group(3) or 0)
    digits = (whole + fraction).rstrip("0")
    return not digits.strip("0") or len(digits) <= len(whole) + exponent


def body_faults(contract, operation, data):
    """How the bytes break what the operation takes. A body that breaks nothing may still be refused."""
    if operation.body is None:
        return []
    if not data and not operation.body_required:
        return []
    try:
        value = parse(data)
    except Refused as refusal:
        return [f"not JSON: {refusal}"]
    return contract.faults(operation.body, value)


__all__ = ["Contract", "Operation", "body_faults", "depth"]
