"""What the relay acknowledged: what every read must show, also after a kill."""
import fractions
import json
import urllib.parse

from template import Number, Refused, parse

# Members that the relay may add to a body before it is kept; `history` is the rule of the activity's type, and
# `restart` says that the request had `restart=true`.
ADDED = {"alert_ttl", "history", "restart"}


class Activity:
    """One activity as its acknowledged events make it."""

    def __init__(self, name):
        self.name, self.type, self.state, self.clip = name, None, None, None
        self.version = self.seq = 0
        self.status, self.state_version = None, None
        # Members of the state that a clip has played in: what is there depends on the moment. And that of a history:
        # the relay writes it.
        self.played = set()
        # Whether an answer was missing: nothing is certain any more.
        self.unsure = False
        self.audience = None
        # Of each of its lives.
        self.audiences = []


class Event:
    """One acknowledged event."""

    def __init__(self, seq, activity, version, do, body):
        self.seq, self.activity, self.version, self.do, self.body = seq, activity, version, do, body


def merged(state, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    state = dict(state) if isinstance(state, dict) else {}
    for name, value in patch.items():
        if value is None:
            state.pop(name, None)
        else:
            state[name] = merged(state.get(name), value)
    return state


class Acknowledged:
    """The model: fed with each request and its answer."""

    def __init__(self):
        self.activities, self.events = {}, {}
        self.types, self.devices, self.pauses, self.keys, self.channels = {}, {}, {}, {}, {}
        self.tokens = {}
        self.cursors, self.started = [], []
        self.erased = set()
        # Types whose activities the relay may end by itself: one of them has had an `end_after`.
        self.ending = set()
        self.count = 0

    def living(self):
        """Names of the activities that run, oldest first."""
        return [name for name, activity in self.activities.items() if activity.status in ("waiting", "active")]

    def sequence_sample(self):
        """Some places in the log."""
        if not self.events:
            return []
        last = max(self.events)
        return [1, last, last + 1, last // 2, 0]

    def cursor(self, answer):
        """Keeps the cursor of a page."""
        cursor = answer.get("next_cursor") if isinstance(answer, dict) else None
        if isinstance(cursor, str):
            self.cursors = (self.cursors + [cursor])[-20:]

    def _activity(self, name):
        return self.activities.setdefault(name, Activity(name))

    def unanswered(self, request):
        """A request without an answer may have been carried out."""
        if request["op"] in ("appendEvents", "endActivities", "eraseActivity", "eraseDevice"):
            for activity in self.activities.values():
                activity.unsure = True
        name = self._segment(request, 2)
        if request["op"] == "putType":
            self.ending.add(name)
        if request["op"] in ("startActivity", "updateActivity", "endActivity", "playClip", "stopClip"):
            self._activity(name).unsure = True
        if "evice" in (request["op"] or "") or "Token" in (request["op"] or ""):
            self.devices.pop(name, None)
            self.tokens.pop(name, None)

    @staticmethod
    def _segment(request, index):
        path = request["target"].split("?")[0]
        parts = path.split("/")[1:]
        return urllib.parse.unquote(parts[index]) if len(parts) > index else ""

    def note(self, request, data, answer, value):
        """Takes in an answer of 2xx; `data` is the body that was sent, `value` the parsed answer. Answers what
        contradicts what was acknowledged before, as text, or None."""
        take = getattr(self, "_" + request["op"], None) if request["op"] else None
        if take is None or isinstance(value, dict) and value.get("dry_run") is True:
            return None
        self.count += 1
        try:
            return take(request, data, answer, value)
        except Refused:
            return "accepted, and cannot be read"
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return f"accepted, and is of a shape that nothing describes: {error!r}"

    # MARK: events

    def event(self, name, do, seq, version, sent):
        """One event. `sent` are the bytes of its body, or None where they are not known."""
        activity = self._activity(name)
        known = self.events.get(seq)
        if known:
            if (known.activity, known.version) != (name, version):
                return f"seq {seq} was {known.activity} version {known.version}, and is {name} version {version}"
            return None
        gap = activity.version and version != activity.version + 1 and not activity.unsure
        before = activity.version
        if do == "start" and version == before + 2 and activity.type in self.ending:
            # The relay has ended it between the two.
            gap = False
        activity.unsure |= bool(gap)
        # Where an answer was missing, this may be the event of that request.
        self.events[seq] = Event(seq, name, version, do, None if activity.unsure else sent)
        activity.version, activity.seq = version, seq
        body = parse(sent) if sent else {}
        if do == "start":
            activity.type, activity.state, activity.state_version = body.get("type"), body.get("state"), None
            activity.status, activity.clip, activity.played = "waiting", None, set()
            if body.get("end_after"):
                self.ending.add(activity.type)
            activity.audience = body.get("audience")
            activity.audiences.append(activity.audience or {})
            self.started.append(name)
        elif do in ("update", "end"):
            self._change(activity, body)
        elif do == "play":
            clip = body.get("flipbook") or body.get("tween") or {}
            activity.played.add(_first(clip.get("path", "")))
        if do == "end":
            activity.status, activity.clip = "ended", None
        return f"{name}: version {version} after {before}" if gap else None

    def ended_by_relay(self, entry):
        """Takes in an end that the relay has written itself, after a producer's silence of `end_after`. An end that a
        producer sent later was answered with it. Answers what contradicts, as text, or None."""
        name, seq, version = entry["activity"], int(entry["seq"]), int(entry["version"])
        activity = self.activities.get(name)
        if activity is None or name in self.erased:
            return None
        self.events.setdefault(seq, Event(seq, name, version, "end", None)).body = None
        if version < activity.version:
            return None
        unsure, activity.unsure = activity.unsure, True
        activity.version, activity.seq, activity.status, activity.clip = version, seq, "ended", None
        if activity.type in self.ending or unsure:
            return None
        return f"the relay has ended {name} at seq {seq}, and no {activity.type} has had an end_after"

    def history(self, name, rule):
        """Takes in that the relay keeps a history in the activity's state."""
        if name in self.activities:
            self.activities[name].played.add(_first(rule.get("path", "")))

    @staticmethod
    def _change(activity, body):
        number = body.get("state_version")
        if number is not None:
            number = fractions.Fraction(number)
            if activity.state_version is not None and number < activity.state_version:
                return
            activity.state_version = number
        if body.get("replace") is not None:
            activity.state = body["replace"]
        elif body.get("state") is not None:
            activity.state = merged(activity.state, body["state"])

    def _single(self, do, request, data, value):
        name = self._segment(request, 2)
        if not isinstance(value, dict) or "seq" not in value:
            return None
        fault = self.event(name, do, int(value["seq"]), int(value["version"]), data)
        activity = self.activities.get(name)
        if activity and value.get("clip"):
            activity.clip = value["clip"]
        return fault

    def _startActivity(self, request, data, answer, value):
        return self._single("start", request, data or b"{}", value)

    def _updateActivity(self, request, data, answer, value):
        return self._single("update", request, data, value)

    def _endActivity(self, request, data, answer, value):
        return self._single("end", request, data or b"{}", value)

    def _playClip(self, request, data, answer, value):
        return self._single("play", request, data, value)

    def _stopClip(self, request, data, answer, value):
        return self._single("stop", request, None, value)

    def _appendEvents(self, request, data, answer, value):
        first = None
        sent = [line for line in data.split(b"\n") if line.strip(b" \t\r")]
        for index, result in enumerate(value):
            if not result.get("ok") or "seq" not in result or "run" in result:
                continue
            place = int(result["line"]) - 1 if "line" in result else index
            if len(sent) != len(value) or place >= len(sent):
                return f"{len(value)} answers to {len(sent)} lines"
            try:
                line = parse(sent[place])
            except Refused as refusal:
                first = first or f"line {place + 1} is accepted, and is not JSON: {refusal}"
                continue
            fault = self.event(line["activity"], line["do"], int(result["seq"]), int(result["version"]), sent[place])
            first = first or fault
            if result.get("clip"):
                self.activities[line["activity"]].clip = result["clip"]
        return first

    def _endActivities(self, request, data, answer, value):
        where = parse(data).get("where") or {}
        for row in value["ended"]:
            activity = self.activities.get(row["activity"])
            if activity and not activity.unsure and where.get("type") not in (None, activity.type):
                return f"ended {activity.name} of type {activity.type}, and {where} was asked for"
            if not where or all(member is None for member in where.values()):
                return f"ended {activity.name if activity else row} by a filter that is empty: {where}"
            if "seq" in row:
                fault = self.event(row["activity"], "end", int(row["seq"]), int(row["version"]), data)
                if fault:
                    return fault
        return None

    def _eraseActivity(self, request, data, answer, value):
        name = self._segment(request, 2)
        self.erased.add(name)
        # What begins under its name later is another one.
        self.activities.pop(name, None)

    def _eraseDevice(self, request, data, answer, value):
        name = self._segment(request, 2)
        self.devices.pop(name, None)
        self.tokens.pop(name, None)
        # Activities that were for it alone are erased, also those that run; and the starts that name it.
        for activity in list(self.activities.values()):
            audience = activity.audience or {}
            if audience.get("device") == name or audience.get("devices") == [name]:
                self.erased.add(activity.name)
                self.activities.pop(activity.name)
            elif name in json.dumps(audience) or audience.get("user"):
                self.erased.add(activity.name)
                activity.unsure = True
            elif name in json.dumps(activity.audiences):
                # An earlier life named it: what happened then is erased, and the present one stays.
                self.erased.add(activity.name)

    # MARK: everything else

    def _putType(self, request, data, answer, value):
        self.types[self._segment(request, 2)] = body = parse(data)
        if body.get("end_after"):
            self.ending.add(self._segment(request, 2))

    def _registerDevice(self, request, data, answer, value):
        if not self._segment(request, 2).startswith("phone-"):
            # What the relay has not understood it says, and what was known stays.
            odd = {lint["pointer"].lstrip("/") for lint in value.get("lint", ()) if lint["code"] == "member-not-understood"}
            body = {member: sent for member, sent in parse(data).items() if member not in odd}
            self.devices[self._segment(request, 2)] = body

    def _deleteDevice(self, request, data, answer, value):
        self.devices.pop(self._segment(request, 2), None)
        self.tokens.pop(self._segment(request, 2), None)

    def _createPause(self, request, data, answer, value):
        self.pauses[value["id"]] = value

    def _deletePause(self, request, data, answer, value):
        self.pauses.pop(value["id"], None)

    def _mintKey(self, request, data, answer, value):
        self.keys[value["id"]] = value["scopes"]

    def _deleteKey(self, request, data, answer, value):
        self.keys.pop(value["id"], None)

    def _putChannel(self, request, data, answer, value):
        self.channels[self._segment(request, 2)] = value

    def _deleteChannel(self, request, data, answer, value):
        self.channels.pop(self._segment(request, 2), None)


def _first(pointer):
    part = pointer.split("/")[1] if "/" in pointer else ""
    return part.replace("~1", "/").replace("~0", "~")


def is_kept(sent, shown):
    """Whether the body that a read shows is the one that was sent: byte for byte, or with an added member."""
    if sent is None:
        return True
    kept = sent.strip(b" \t\r\n") or b"{}"
    if kept in shown:
        return True
    try:
        entry = parse(shown)
        value = entry["body"]
    except (Refused, KeyError):
        return False
    if is_of_relay(entry):
        return True
    return without_added(value, parse(kept)) == parse(kept)


def is_of_relay(entry):
    """Whether the relay has written this end itself."""
    return entry.get("by") == "relay" and entry.get("do") == "end"


def without_added(shown, sent):
    """The body that a read shows, without what the relay added to what was sent."""
    return {name: value for name, value in shown.items() if name in sent or name not in ADDED}


__all__ = ["Acknowledged", "Number", "is_kept", "is_of_relay", "without_added"]
