"""The SDK of CloudEvents against the API, in each mode of its HTTP binding: cloud_events.py TOMBOLO

Each event is sent twice, as a bus does that has heard no answer, and is one version. Needs cloudevents
from PyPI.
"""
import json

from cloudevents.core.bindings.http import to_binary, to_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from world import Dev, check, folder

# A percent sign, a space and a letter beyond ASCII: what a field of HTTP has to escape.
SOURCE = "https://shop.example.com/caf\u00e9 100%"


def event(number, verb, card, data=None):
    attributes = {"id": f"\u00e9vt {number}", "source": SOURCE, "type": f"tombolo.{verb}", "subject": card,
                  "datacontenttype": "application/json"}
    return CloudEvent(attributes=attributes, data=data)


def life(card):
    """A card's events; the last one has no data."""
    return [
        event(f"{card}-1", "start", card, {"type": "Match", "state": {"goals": 0, "team": "\u81ea"}}),
        event(f"{card}-2", "update", card, {"state": {"goals": 1}}),
        event(f"{card}-3", "end", card),
    ]


class Relay(Dev):
    def post(self, body, fields):
        """Status, fields and text of an answer."""
        with self.open("POST", "/v1/events", body, **fields) as answer:
            return answer.status, answer.headers, answer.read()

    def send(self, message):
        return self.post(message.body, message.headers)

    def version(self, card):
        return self.ask("GET", f"/v1/activities/{card}")["version"]


def singles(relay, card, mode):
    """One event a request: the status of the single call, and the second time a repetition."""
    for number, (one, wanted) in enumerate(zip(life(card), (201, 200, 200)), 1):
        status, fields, text = relay.send(mode(one, JSONFormat()))
        check(status == wanted and fields["etag"] == f'"v{number}"', card, number, status, text)
        status, fields, text = relay.send(mode(one, JSONFormat()))
        check(status == wanted and fields.get("idempotent-replayed") == "true", card, "again", status, text)
        check(relay.version(card) == number, card, "version", relay.version(card))


def batch(relay, card):
    """The SDK writes one event; a batch is an array of what it writes."""
    body = b"[" + b",".join(JSONFormat().write(one) for one in life(card)) + b"]"
    fields = {"content-type": "application/cloudevents-batch+json"}
    for again in (False, True):
        status, _, text = relay.post(body, fields)
        lines = [json.loads(line) for line in text.splitlines()]
        check(status == 200 and [line.get("version") for line in lines] == [1, 2, 3], card, status, text)
        check(all(line["ok"] and line.get("replayed", False) == again for line in lines), card, again, text)
    check(relay.version(card) == 3, card, relay.version(card))


def refusals(relay):
    """A refused event has the status of its refusal, so that a bus does not send it for ever."""
    for one, wanted, word in (
            (event("r1", "update", "nobody", {"state": {}}), 404, "unknown-activity"),
            (event("r2", "start", "other", {"typ": "Match", "state": {}}), 422, "invalid-field")):
        for mode in (to_structured, to_binary):
            status, _, text = relay.send(mode(one, JSONFormat()))
            check(status == wanted and json.loads(text)["code"] == word, mode.__name__, status, text)
    status, _, text = relay.send(to_structured(event("r3", "start", "other", b"\x00\xff"), JSONFormat()))
    check(status == 422 and "/data_base64" in json.loads(text)["detail"], "base64", status, text)


def main():
    relay = Relay("--data", folder())
    singles(relay, "structured", to_structured)
    singles(relay, "binary", to_binary)
    batch(relay, "batch")
    # One event is the same one whatever its mode.
    status, fields, text = relay.send(to_binary(life("structured")[0], JSONFormat()))
    check(status == 201 and fields.get("idempotent-replayed") == "true", "other mode", status, text)
    refusals(relay)
    check(relay.end() == 0, "dev ended with", relay.end())
    print("cloudevents: structured, binary and batch; each event twice, one version each")


main()
