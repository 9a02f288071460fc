extension ProblemRegistry {
    static let ofResources = [
        ProblemPage(
            .unknownActivity, 404, "There is no such activity",
            cause: "This key's tenant has no activity of this id: it was never started, was "
                + "erased, was cut with its history, or was lost in a restore.",
            fix: "Start it first, or look at the ids that there are.",
            command: "tombolo activity ls"),
        ProblemPage(
            .unknownDevice, 404, "There is no such device",
            cause: "No device of this id is registered under this key's tenant.",
            fix: "Register it with PUT /v1/devices/{device}.",
            command: "curl -X PUT -d '{\"app\":\"com.example.app\"}' "
                + "-H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/devices/phone-1\""),
        ProblemPage(
            .unknownApp, 422, "There is no such app",
            cause: "The app is not configured here, or it was left out where several are.",
            fix: "Name an app of the configuration, or add it to \"apps\" there.",
            command: "tombolo config check"),
        ProblemPage(
            .unknownClip, 404, "There is no such clip",
            cause: "The activity plays no clip of this name (any more).",
            fix: "Look at \"clips\" of the activity.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .unknownChannel, 404, "There is no such channel",
            cause:
                "No broadcast channel of this name was made under this key's tenant, or Apple does "
                + "not know it any more.",
            fix:
                "Make it with PUT /v1/channels/{name}, after a DELETE where there was one; its id "
                + "is what the app subscribes to.",
            command: "tombolo channel put NAME"),
        ProblemPage(
            .channelInUse, 409, "The channel carries an activity",
            cause:
                "Every card that listens on a channel gets all that is sent there, also an end "
                + "that is still on its way.",
            fix: "End the activity first, and let its end go; or take another channel.",
            command: "tombolo channel ls"),
        ProblemPage(
            .tokenInUse, 409, "Another device has the token",
            cause:
                "A token is one phone's, and each has one device. A device of the same user takes "
                + "the token over; a device of another user, or of none, does not.",
            fix:
                "Register both devices for the user, delete the device that has the token, or "
                + "register the token with a key of scope operate.",
            command: "tombolo key mint --scope operate --relay ORIGIN --key KEY"),
        ProblemPage(
            .apnsRefused, 502, "Apple refused the channel",
            cause:
                "Apple's channel service answered with a reason, which the problem names: "
                + "FeatureNotEnabled (the app has no broadcast capability), "
                + "CannotCreateChannelConfig (10,000 channels are there), TopicMismatch (the key "
                + "does not cover the app), or one of the provider token.",
            fix: "Correct what the reason names; delete channels whose event is over.",
            command: "tombolo channel ls"),
        ProblemPage(
            .apnsUnreachable, 503, "Apple's channel service cannot be reached",
            cause: "There is no connection to it, or it did not answer in time.",
            fix: "Try again; ports 2195 and 2196 must be open towards Apple.",
            command: "tombolo doctor"),
        ProblemPage(
            .unknownEvent, 404, "There is no such event",
            cause: "The log holds no event of this sequence number for this key's tenant.",
            fix: "Look at the log for the numbers there are.",
            command: "tombolo log ls"),
        ProblemPage(
            .cursorOfAnotherLog, 410, "The cursor belongs to another log",
            cause:
                "A cursor names a place in one log. This log was restored from a backup, or is a new "
                + "one: what lies behind the place is not the same any more.",
            fix:
                "Read the state of what you follow (GET /v1/activities), and begin without a cursor.",
            command: "tombolo activity ls"),
        ProblemPage(
            .positionAheadOfLog, 410, "The position is ahead of the log",
            cause:
                "The log has not come so far. It was put back to an older copy of its disk, or the "
                + "number is of the other kind: commands and facts are counted apart.",
            fix:
                "Where the log was put back, read the state of what you follow "
                + "(GET /v1/activities), and go on from the member newest.",
            command: "tombolo log ls"),
        ProblemPage(
            .unknownKey, 404, "There is no such API key",
            cause: "No key of this id exists under this key's tenant.",
            fix: "List the keys with GET /v1/keys.",
            command: "curl -H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/keys\""),
        ProblemPage(
            .unknownPause, 404, "There is no such pause",
            cause: "No pause of this id is in force under this key's tenant.",
            fix: "List the pauses. \"waiting\" of a destination says what it holds.",
            command: "tombolo pause"),
        ProblemPage(
            .unknownType, 404, "There is no such type",
            cause: "No type of this name is registered for this app and tenant.",
            fix: "Register it with PUT /v1/types/{type}; where several apps are, name one.",
            command: "tombolo type put TYPE type.json"),
        ProblemPage(
            .unknownTimeline, 404, "There is no such timeline",
            cause: "This subject has no timeline of this kind, or the key's device may not read "
                + "it: a device reads its own, its user's, and those of keys whose readers name "
                + "its user.",
            fix: "List the timelines, or put this one there with PUT /v1/timelines/{kind}.",
            command: "tombolo timeline ls"),
        ProblemPage(
            .unknownDeadLetter, 404, "There is no such dead letter",
            cause: "It was retried before, or it is among the oldest, which go.",
            fix: "Look at those that there are.",
            command: "tombolo dead ls"),
        ProblemPage(
            .unknownDelivery, 404, "There is no such delivery",
            cause: "No delivery has this id: it is misspelt, another tenant's, still on its way, "
                + "or older than the history that is kept.",
            fix: "Look at those on record.",
            command: "tombolo delivery ls"),
        ProblemPage(
            .notADeadLetter, 409, "The delivery is not a dead letter",
            cause: "Only what Apple refused for good can be sent again, and only once: this "
                + "delivery was not refused, or its dead letter was retried, replaced or dropped.",
            fix: "Look at the dead letters that there are, or send a new change.",
            command: "tombolo dead ls"),
        ProblemPage(
            .nothingToSendTo, 409, "There is nothing to send to",
            cause: "The card that the push was for is gone, or the relay has no token of it. The "
                + "dead letter stays.",
            fix: "Start the activity again where the phone is to show it.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .unknownProblem, 404, "There is no such problem",
            cause: "No problem has this code.",
            fix: "All codes are listed under /problems/.",
            command: "curl http://127.0.0.1:8780/problems/"),
        ProblemPage(
            .activityRunning, 409, "The activity is running already",
            cause: "A start came for an activity that runs and differs from it.",
            fix: "Change a running activity with PATCH, or end it first.",
            command: "tombolo update ID -s key=value"),
        ProblemPage(
            .activityEnded, 409, "The activity has ended",
            cause: "An ended activity takes no further changes.",
            fix: "Start another, or the same one again with PUT …?restart=true.",
            command: "tombolo start ID --type TYPE -s key=value"),
        ProblemPage(
            .activityDamaged, 409, "The activity is damaged",
            cause:
                "A part of the log that holds its newest state cannot be read. The relay serves "
                + "all others; of this one it pushes nothing.",
            fix:
                "Start it anew with PUT …?restart=true, or restore a backup. What is damaged: "
                + "tombolo log verify --data DIR.",
            command: "tombolo start ID --type TYPE -s key=value --restart"),
        ProblemPage(
            .ownKey, 409, "A key cannot end itself at once",
            cause: "The key to be deleted, or rotated with a grace below 1m, is the one that asks.",
            fix: "Mint another key with the scope operate and delete this one with it; or give a "
                + "longer grace.",
            command: "tombolo key mint --scope operate --relay ORIGIN --key KEY"),
        ProblemPage(
            .keyNotRotated, 409, "The key cannot be rotated",
            cause: "It has expired, or another rotation of it is being stored.",
            fix: "Make a new key in the place of an expired one. After the other rotation, rotate "
                + "the key that took its place.",
            command: "tombolo key ls"),
        ProblemPage(
            .preconditionFailed, 412, "The activity does not have the expected version",
            cause:
                "If-Match names another version than the activity has, or If-None-Match: * met "
                + "one that exists.",
            fix: "Read the activity, and send the change again with the ETag that comes with it.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .invalidField, 422, "A field cannot be taken",
            cause:
                "The JSON is well formed, but a field is unknown, missing, or has a value it may "
                + "not have.",
            fix: "Correct the fields that errors[] points at; the schemas are in /openapi.json.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .payloadTooLarge, 422, "The push would be too large",
            cause:
                "APNs takes 4,096 bytes a push, and the state as encoded for the phone has more.",
            fix:
                "Shorten the state: smaller images, ids instead of texts that the app can look up. A "
                + "dry run says by how many bytes it is too large.",
            command: "tombolo update ID --state state.json --dry-run"),
        ProblemPage(
            .stateInvalid, 422, "The state does not fit its type",
            cause:
                "The state, with this change merged in, does not decode into the type that is "
                + "registered: the phone would drop the push without a word.",
            fix: "Correct the members that errors[] points at, or the type's schema.",
            command: "tombolo type check TYPE state.json"),
        ProblemPage(
            .labRefused, 422, "The class lab is not for Apple's servers",
            cause: "The budget class lab has no limits, and this app pushes to Apple.",
            fix: "Use standard or frequent, or configure the app's endpoint as a simulator.",
            command: "tombolo sim --help"),
        ProblemPage(
            .notOffered, 422, "The card or widget does not offer this",
            cause:
                "Nothing that this device was sent in the last 24 hours offers what was tapped: a card "
                + "offers its own tap and the intents of its type, a widget the url and links of its "
                + "entries.",
            fix:
                "Register the intent with the type (intents), or put the link into an entry of the "
                + "timeline. A card of an earlier life of its activity offers nothing.",
            command: "tombolo type show TYPE"),
        ProblemPage(
            .actionExpired, 422, "The tap is too old",
            cause:
                "The person tapped longer ago than the action may take (expires, 30 s). The age counts "
                + "from at, by the phone's clock.",
            fix: "Show \"not sent\", and let the person tap again. Never queue a tap.",
            command: "tombolo help phone tap"),
        ProblemPage(
            .idempotencyKeyReused, 422, "The idempotency key belongs to another request",
            cause: "This key came within 24 hours with another method, path or body.",
            fix: "Give every request its own key, and repeat a request only byte for byte.",
            command: "tombolo update ID -s key=value --idempotency-key ID-of-this-change"),
        ProblemPage(
            .batchPartlyThere, 409,
            "Some lines of the atomic batch are on record, and some are not",
            cause: "Ids of this batch were sent before with other lines, or line by line.",
            fix: "Send the lines that `not_on_record` names, or give all lines new ids.",
            command: "tombolo log --since CURSOR"),
        ProblemPage(
            .idempotencyKeyRunning, 409, "The same request is still being written",
            cause: "A request with this idempotency key is not durable yet.",
            fix: "Send it again in a moment; the answer will be that of the first.",
            command: "tombolo update ID -s key=value --idempotency-key the-same-key"),
    ]

    static let ofTheRelay = [
        ProblemPage(
            .limitReached, 429, "The relay keeps as many as its configuration allows",
            cause: "A limit of the configuration bounds how many of these the relay keeps, so that "
                + "its memory and its answers stay small. The detail names the limit.",
            fix: "End or delete what is over, as the detail says; or raise the limit in the "
                + "configuration and start the relay again.",
            command: "tombolo config show"),
        ProblemPage(
            .overloaded, 429, "The relay has too much to do",
            cause: "More is waiting to be written than this relay holds in memory, or one key or "
                + "address asks for more than its share. The detail says which.",
            fix:
                "Wait for the seconds that Retry-After names, then send again, as curl --retry does.",
            command: "curl --retry 8 --data-binary @events.ndjson "
                + "-H 'Content-Type: application/x-ndjson' "
                + "-H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/events\""),
        ProblemPage(
            .logFull, 507, "The disk of the log is full, or nearly",
            cause: "The file system of the data directory has no room, or is used to nine tenths.",
            fix: "Free some space on it, or keep a shorter history (limits.history): events are "
                + "taken again by themselves.",
            command: "df -h"),
        ProblemPage(
            .logSilent, 503, "The log does not answer",
            cause: "The disk or the database of the log has not answered for ten seconds. Whether "
                + "the request is stored is not known.",
            fix:
                "Send it again with the same Idempotency-Key: it is stored once. The relay goes on "
                + "by itself when the log answers.",
            command: "curl http://127.0.0.1:8780/readyz"),
        ProblemPage(
            .stopping, 503, "The relay is stopping",
            cause: "The relay finishes what it has taken and takes nothing new.",
            fix: "Send again after it has started.",
            command: "curl http://127.0.0.1:8780/readyz"),
        ProblemPage(
            .notReady, 503, "The relay is not ready",
            cause: "The log is being read; or the relay has stopped because its log failed.",
            fix: "Wait; if it lasts, look at what the relay printed last.",
            command: "journalctl -u tombolo -n 50"),
        ProblemPage(
            .logUnreadable, 503, "The log cannot be read",
            cause: "Reading the event log failed.",
            fix: "Look at what the relay printed, at the disk, and at the free space.",
            command: "df -h; journalctl -u tombolo -n 50"),
        ProblemPage(
            .eventDamaged, 500, "An event of the log is damaged",
            cause:
                "The answer needs an event whose row in the log cannot be read. An answer without "
                + "it would be wrong. The newest state is not touched.",
            fix:
                "Ask for a moment before the event, or after the activity's next start. "
                + "tombolo log verify --data DIR lists what is damaged; a backup may have it whole.",
            command: "tombolo log verify --data DIR"),
        ProblemPage(
            .internalError, 500, "The relay made an error",
            cause: "Something happened that its authors did not foresee.",
            fix: "Report it with the trace_id and what the relay printed.",
            command: "journalctl -u tombolo -n 50"),
    ]
}
