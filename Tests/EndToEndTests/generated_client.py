"""A client that openapi-python-client makes of /openapi.json plays a card: generated_client.py TOMBOLO

The generator may leave nothing out: each operation becomes a function, each object a model, and each
list of codes an enum. Needs openapi-python-client from PyPI.
"""
import datetime
import importlib
import json
import pathlib
import re
import subprocess
import sys
import time

from world import Dev, check, folder

# The generator knows no NDJSON: its function sends one line, which is an object of JSON.
CONFIG = {"content_type_overrides": {"application/x-ndjson": "application/json"}, "post_hooks": []}
CARD = "generated"


def generate(document, place):
    """Makes the package `made` in a folder; a warning of the generator is a fault."""
    (place / "openapi.json").write_text(json.dumps(document))
    (place / "config.json").write_text(json.dumps(CONFIG))
    done = subprocess.run(
        [sys.executable, "-c", "from openapi_python_client.cli import app; app()", "generate",
         "--path", "openapi.json", "--config", "config.json", "--output-path", "made",
         "--meta", "none", "--fail-on-warning"],
        cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = done.stdout.lower()
    check(done.returncode == 0 and "warning" not in said and "unable" not in said, done.stdout)


def complete(document, place):
    """Nothing of the document is missing; all that was made can be imported."""
    # startActivity is start_activity, openAPI open_api.
    operations = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", one["operationId"]).lower() for item in document["paths"].values()
                  for method, one in item.items() if method != "parameters"}
    made = {file.stem: file for file in (place / "made/api").glob("*/[a-z]*.py")}
    check(set(made) == operations, "operations", set(made) ^ operations)
    for file in made.values():
        module = importlib.import_module(f"made.api.{file.parent.name}.{file.stem}")
        check(callable(module.sync_detailed), file.stem)
    models = importlib.import_module("made.models")
    for name, schema in document["components"]["schemas"].items():
        model = "".join(part.capitalize() for part in name.split("-"))
        check(schema.get("type") != "object" or hasattr(models, model), "no model of", name)
    return len(operations), len(vars(models)["__all__"])


def same(read, sent):
    """Whether two answers say the same; a time may be written in two ways."""
    if isinstance(sent, dict) and isinstance(read, dict):
        return read.keys() == sent.keys() and all(same(read[name], sent[name]) for name in sent)
    if isinstance(sent, list) and isinstance(read, list):
        return len(read) == len(sent) and all(map(same, read, sent))
    if isinstance(sent, str) and sent.endswith("Z") and read != sent:
        return datetime.datetime.fromisoformat(read) == datetime.datetime.fromisoformat(sent)
    return read == sent


class Caller:
    """Calls a function by its name, and checks status and type of the answer."""

    def __init__(self, made, dev):
        self.models = importlib.import_module("made.models")
        self.client = importlib.import_module("made").AuthenticatedClient(base_url=dev.api, token=dev.key)
        self.functions = {file.stem: importlib.import_module(f"made.api.{file.parent.name}.{file.stem}")
                          for file in (made / "made/api").glob("*/[a-z]*.py")}
        self.called = set()

    def __call__(self, function, status, model, /, *arguments, **named):
        answer = self.functions[function].sync_detailed(*arguments, client=self.client, **named)
        check(answer.status_code == status, function, answer.status_code, answer.content)
        check(type(answer.parsed).__name__ == model, function, "is", type(answer.parsed), answer.content)
        told = json.loads(answer.content)
        check(same(answer.parsed.to_dict(), told), function, "reads", answer.parsed.to_dict(), "of", told)
        self.called.add(function)
        return answer.parsed

    def made(self, model, **values):
        return getattr(self.models, model).from_dict(values)

    def until(self, condition, *call, **named):
        deadline = time.monotonic() + 20
        while not condition(answer := self(*call, **named)):
            check(time.monotonic() < deadline, "not within 20 s:", call, answer)
            time.sleep(0.1)
        return answer


def card(call):
    """A card from its start to its end, and what the relay says of it."""
    start = call.made(
        "Start", type="OrderAttributes", audience={"device": "phone-1"},
        state={"step": "baking", "minutes": 12}, alert={"title": "In the oven"})
    begun = call("start_activity", 201, "CommandAnswer", CARD, body=start,
                 idempotency_key='"generated-1"', prefer="wait=5")
    check(begun.version == 1 and begun.destinations.sent == 1, begun)
    again = call("start_activity", 201, "CommandAnswer", CARD, body=start, idempotency_key='"generated-1"')
    check(again.seq == begun.seq, again)
    call.until(lambda activity: activity.destinations[0].acknowledged_version == 1,
               "show_activity", 200, "Activity", CARD)
    would = call("update_activity", 200, "DryRun", CARD, dry_run=True,
                 body=call.made("Update", state={"minutes": 11}))
    check(would.version == 2, would)
    call("update_activity", 200, "CommandAnswer", CARD, if_match='"v1"',
         body=call.made("Update", state={"step": "at the door"}, urgency="high"))
    activity = call.until(lambda activity: activity.destinations[0].acknowledged_version == 2,
                          "show_activity", 200, "Activity", CARD)
    check(activity.state.to_dict() == {"step": "at the door", "minutes": 12}, activity)
    call.until(lambda phone: phone.cards[0].state.to_dict().get("step") == "at the door",
               "show_phone", 200, "Phone", "phone-1")
    why = call("explain_activity", 200, "Explanation", CARD, device="phone-1", version=2)
    check(why.answer and why.because and why.device == "phone-1", why)


def reasons(call):
    """The relay's own word and Apple's are members of enums; so is the code of a refusal."""
    pause = call("create_pause", 201, "Pause", body=call.made("PauseRequest", activity=CARD))
    held = call("update_activity", 200, "CommandAnswer", CARD, prefer="wait=1",
                body=call.made("Update", state={"minutes": 1}))
    check(held.decision.reason is call.models.DecisionRelayReason.PAUSED, held)
    call("delete_pause", 200, "DeletedKey", pause.id)
    call("register_device", 201, "Stored", "gone", body=call.made(
        "Device", app="com.example.app", environment="sandbox"))
    token = call.made("Token", token="badc0de5" * 8)
    call("register_token", 201, "Stored", "gone", "start:OrderAttributes", body=token)
    call("start_activity", 201, "CommandAnswer", "refused", prefer="wait=5", body=call.made(
        "Start", type="OrderAttributes", audience={"device": "gone"}, state={"step": "?"},
        alert={"title": "?"}))
    page = call.until(lambda page: page.deliveries, "list_deliveries", 200, "DeliveryPage", activity="refused")
    check(page.deliveries[0].reason is call.models.DecidedAppleReason.BADDEVICETOKEN, page)
    letters = call("list_dead_letters", 200, "DeadLetterPage", device="gone")
    check(letters.dead_letters[0].reason == "BadDeviceToken", letters)
    problem = call("show_activity", 404, "Problem", "none")
    check(problem.code is call.models.ProblemCode.UNKNOWN_ACTIVITY, problem)
    wrong = call("update_activity", 412, "Problem", CARD, body=call.made("Update", state={}), if_match='"v99"')
    check(wrong.code is call.models.ProblemCode.PRECONDITION_FAILED, wrong)


def end(call):
    line = call("append_events", 200, "BatchResult", body=call.made(
        "EventLine", activity=CARD, do="update", state={"minutes": 0}))
    check(line.ok, line)
    ended = call("end_activity", 200, "CommandAnswer", CARD, body=call.made("End", dismiss="now"), prefer="wait=5")
    call.until(lambda activity: activity.status == "ended", "show_activity", 200, "Activity", CARD)
    sent = call.until(lambda page: any(one.version == ended.version for one in page.deliveries),
                      "list_activity_deliveries", 200, "ActivityDeliveries", CARD)
    check({one.result for one in sent.deliveries} <= set(call.models.DecidedResult), sent)
    call("show_delivery", 200, "Decided", sent.deliveries[0].id)
    found = call("explain", 200, "Explanations", body=call.made(
        "ExplainRequest", apns_id=sent.deliveries[0].push.apns_id))
    check(found.explanations[0].activity == CARD, found)
    log = call("list_log", 200, "LogPage", activity=CARD, kind=call.models.ListLogKind.COMMAND)
    check([str(event.do) for event in log.events] == ["start", "update", "update", "update", "end"], log)
    call("list_activities", 200, "ActivityPage", status=call.models.ListActivitiesStatus.ENDED)
    for function, model in (("list_devices", "DevicePage"), ("list_budgets", "Budgets"),
                            ("overview", "Overview"), ("list_types", "TypePage"), ("version", "Version")):
        call(function, 200, model)


def main():
    place = pathlib.Path(folder())
    sys.path.insert(0, str(place))
    dev = Dev("--data", place / "data")
    document = dev.ask("GET", "/openapi.json")
    generate(document, place)
    operations, models = complete(document, place)
    call = Caller(place, dev)
    for part in (card, reasons, end):
        part(call)
    print(f"generated client: {operations} functions, {models} models; a card played by {len(call.called)} of them")


if __name__ == "__main__":
    main()
