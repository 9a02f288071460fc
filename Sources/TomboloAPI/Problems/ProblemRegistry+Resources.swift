extension ProblemRegistry {
    static let ofResources = [
        ProblemPage(
            .unknownActivity, 404, "There is no such activity",
            cause:
                "No activity of this key's tenant has this id: it was never started, was "
                + "erased, was deleted with old history, or was lost in a restore.",
            fix: "Start it first, or list the activities.",
            command: "tombolo activity ls"),
        ProblemPage(
            .unknownDevice, 404, "There is no such device",
            cause: "No device with this id is registered for this key's tenant.",
            fix: "Register it with PUT /v1/devices/{device}.",
            command: "curl -X PUT -d '{\"app\":\"com.example.app\"}' "
                + "-H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/devices/phone-1\""),
        ProblemPage(
            .unknownApp, 422, "There is no such app",
            cause:
                "The app is not configured, or the request names no app and several are "
                + "configured.",
            fix: "Name an app of the configuration, or add it to \"apps\" there.",
            command: "tombolo config check"),
        ProblemPage(
            .unknownClip, 404, "There is no such clip",
            cause: "The activity plays no clip with this name, or no longer plays it.",
            fix: "See \"clips\" of the activity.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .unknownChannel, 404, "There is no such channel",
            cause:
                "This key's tenant has no broadcast channel with this name, or Apple no longer "
                + "knows the channel.",
            fix:
                "Create it with PUT /v1/channels/{name}. If it exists, delete it first. The "
                + "app subscribes to its id.",
            command: "tombolo channel put NAME"),
        ProblemPage(
            .channelInUse, 409, "An activity uses the channel",
            cause:
                "Each card that subscribes to a channel receives everything that is sent to "
                + "it, including an end that is not sent yet.",
            fix: "End the activity and wait until its end is sent, or use another channel.",
            command: "tombolo channel ls"),
        ProblemPage(
            .tokenInUse, 409, "Another device has the token",
            cause:
                "A token belongs to one phone, and a phone is one device. Another device of "
                + "the same user can take the token over. A device of another user, or without "
                + "a user, cannot.",
            fix:
                "Register both devices for the user, delete the device that has the token, or "
                + "register the token with a key of scope operate.",
            command: "tombolo key mint --scope operate --relay ORIGIN --key KEY"),
        ProblemPage(
            .apnsRefused, 502, "Apple refused the channel",
            cause:
                "Apple's channel service refused the request. The problem names its reason: "
                + "FeatureNotEnabled (the app has no broadcast capability), "
                + "CannotCreateChannelConfig (the app has 10,000 channels), TopicMismatch (the "
                + "key is not for this app), or a reason about the provider token.",
            fix: "Correct what the reason names. Delete channels that are no longer used.",
            command: "tombolo channel ls"),
        ProblemPage(
            .apnsUnreachable, 503, "Apple's channel service cannot be reached",
            cause: "The relay has no connection to it, or it did not answer in time.",
            fix: "Try again. The firewall must allow connections to Apple's ports 2195 and 2196.",
            command: "tombolo doctor"),
        ProblemPage(
            .unknownEvent, 404, "There is no such event",
            cause: "The log of this key's tenant has no event with this sequence number.",
            fix: "List the log to see the numbers that exist.",
            command: "tombolo log ls"),
        ProblemPage(
            .cursorOfAnotherLog, 410, "The cursor belongs to another log",
            cause:
                "A cursor is a position in one log. This log was restored from a backup, or is "
                + "new, so the position means something else here.",
            fix:
                "Read the state of what you follow (GET /v1/activities), and start again "
                + "without a cursor.",
            command: "tombolo activity ls"),
        ProblemPage(
            .positionAheadOfLog, 410, "The position is after the end of the log",
            cause:
                "The log does not have this number yet. Either its disk was replaced by an "
                + "older copy, or the number is of the other kind: commands and facts have "
                + "separate numbers.",
            fix:
                "If the log was replaced, read the state of what you follow (GET "
                + "/v1/activities), and continue from the member newest.",
            command: "tombolo log ls"),
        ProblemPage(
            .unknownKey, 404, "There is no such API key",
            cause: "This key's tenant has no key with this id.",
            fix: "List the keys with GET /v1/keys.",
            command: "curl -H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/keys\""),
        ProblemPage(
            .unknownPause, 404, "There is no such pause",
            cause: "This key's tenant has no pause with this id, or the pause is over.",
            fix: "List the pauses. \"waiting\" of a destination names what it waits for.",
            command: "tombolo pause"),
        ProblemPage(
            .unknownType, 404, "There is no such type",
            cause: "No type with this name is registered for this app and tenant.",
            fix:
                "Register it with PUT /v1/types/{type}. If several apps are configured, name "
                + "one.",
            command: "tombolo type put TYPE type.json"),
        ProblemPage(
            .unknownTimeline, 404, "There is no such timeline",
            cause:
                "This subject has no timeline of this kind, or the key's device may not read "
                + "it. A device may read its own timelines, those of its user, and those whose "
                + "readers include its user.",
            fix: "List the timelines, or create this one with PUT /v1/timelines/{kind}.",
            command: "tombolo timeline ls"),
        ProblemPage(
            .unknownDeadLetter, 404, "There is no such dead letter",
            cause: "It was already retried, or was deleted because newer ones need the space.",
            fix: "List the dead letters.",
            command: "tombolo dead ls"),
        ProblemPage(
            .unknownDelivery, 404, "There is no such delivery",
            cause:
                "No delivery has this id. Either the id is wrong or of another tenant, the "
                + "push has no outcome yet, or the delivery is older than the history that the "
                + "relay keeps.",
            fix: "List the deliveries.",
            command: "tombolo delivery ls"),
        ProblemPage(
            .notADeadLetter, 409, "The delivery is not a dead letter",
            cause:
                "Only a delivery that Apple refused permanently can be sent again, and only "
                + "once. Apple did not refuse this one, or its dead letter was already "
                + "retried, replaced or deleted.",
            fix: "List the dead letters, or send a new change.",
            command: "tombolo dead ls"),
        ProblemPage(
            .nothingToSendTo, 409, "There is no card to send to",
            cause:
                "The card of this push is gone, or the relay has no token for it. The dead "
                + "letter is kept.",
            fix: "Start the activity again if the phone should show it.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .unknownProblem, 404, "There is no such problem",
            cause: "No problem has this code.",
            fix: "/problems/ lists all codes.",
            command: "curl http://127.0.0.1:8780/problems/"),
        ProblemPage(
            .activityRunning, 409, "The activity is already running",
            cause:
                "The request starts an activity that is already running, and differs from its "
                + "start.",
            fix: "Change a running activity with PATCH, or end it first.",
            command: "tombolo update ID -s key=value"),
        ProblemPage(
            .activityEnded, 409, "The activity has ended",
            cause: "An ended activity cannot be changed.",
            fix: "Start another one, or start this one again with PUT …?restart=true.",
            command: "tombolo start ID --type TYPE -s key=value"),
        ProblemPage(
            .activityDamaged, 409, "The activity is damaged",
            cause:
                "The part of the log with its newest state cannot be read. The relay sends no "
                + "pushes for this activity. All other activities work.",
            fix:
                "Start it again with PUT …?restart=true, or restore a backup. To see what is "
                + "damaged: tombolo log verify --data DIR.",
            command: "tombolo start ID --type TYPE -s key=value --restart"),
        ProblemPage(
            .ownKey, 409, "A key cannot end its own access",
            cause:
                "The request deletes the key that sends it, or rotates that key with a grace "
                + "below 1m.",
            fix:
                "Create another key with scope operate and delete this key with it, or use a "
                + "longer grace.",
            command: "tombolo key mint --scope operate --relay ORIGIN --key KEY"),
        ProblemPage(
            .keyNotRotated, 409, "The key cannot be rotated",
            cause: "It has expired, or another rotation of it is being stored.",
            fix:
                "Replace an expired key by a new one. After the other rotation, rotate the key "
                + "that it created.",
            command: "tombolo key ls"),
        ProblemPage(
            .preconditionFailed, 412, "The activity does not have the expected version",
            cause:
                "If-Match names a version that the activity does not have, or the request has "
                + "If-None-Match: * and the activity exists.",
            fix: "Read the activity, and send the change again with the ETag of that answer.",
            command: "tombolo activity show ID"),
        ProblemPage(
            .invalidField, 422, "A field is not valid",
            cause:
                "The JSON is well formed, but a field is unknown, is missing, or has a value "
                + "that is not allowed.",
            fix: "Correct the fields that errors[] names. The schemas are in /openapi.json.",
            command: "curl http://127.0.0.1:8780/openapi.json"),
        ProblemPage(
            .payloadTooLarge, 422, "The push would be too large",
            cause:
                "APNs accepts 4,096 bytes for a push, and the state as encoded for the phone "
                + "is larger.",
            fix:
                "Make the state smaller: use smaller images, and ids instead of texts that the "
                + "app can look up. A dry run says how many bytes are too many.",
            command: "tombolo update ID --state state.json --dry-run"),
        ProblemPage(
            .stateInvalid, 422, "The state does not fit its type",
            cause:
                "The state, after this change is merged into it, cannot be decoded as the "
                + "registered type. The phone would ignore the push and report no error.",
            fix: "Correct the members that errors[] names, or correct the type's schema.",
            command: "tombolo type check TYPE state.json"),
        ProblemPage(
            .labRefused, 422, "The class lab is not allowed for Apple's servers",
            cause: "The budget class lab has no limits, and this app's pushes go to Apple.",
            fix: "Use standard or frequent, or configure a simulator as the app's endpoint.",
            command: "tombolo sim --help"),
        ProblemPage(
            .notOffered, 422, "The card or widget does not offer this",
            cause:
                "Nothing that was sent to this device in the last 24 hours offers this action. "
                + "A card offers a tap on itself and the intents of its type. A widget offers "
                + "the url and the links of its entries.",
            fix:
                "Register the intent with the type (intents), or add the link to an entry of "
                + "the timeline. A card offers nothing after its activity was started again.",
            command: "tombolo type show TYPE"),
        ProblemPage(
            .actionExpired, 422, "The tap is too old",
            cause:
                "The person tapped longer ago than the action allows (expires, 30 s by "
                + "default). The age counts from at, by the phone's clock.",
            fix: "Show \"not sent\" and let the person tap again. Do not queue taps.",
            command: "tombolo help phone tap"),
        ProblemPage(
            .idempotencyKeyReused, 422, "The idempotency key belongs to another request",
            cause:
                "A request with this key, but another method, path or body, was received in "
                + "the last 24 hours.",
            fix:
                "Use a different key for each request. Repeat a request with exactly the same "
                + "bytes.",
            command: "tombolo update ID -s key=value --idempotency-key ID-of-this-change"),
        ProblemPage(
            .batchPartlyThere, 409, "Some lines of the atomic batch are stored, and some are not",
            cause: "Some ids of this batch were already sent with other lines, or one by one.",
            fix: "Send the lines that `not_on_record` names, or use new ids for all lines.",
            command: "tombolo log --since CURSOR"),
        ProblemPage(
            .idempotencyKeyRunning, 409, "The same request is still being stored",
            cause: "A request with this idempotency key is not durable yet.",
            fix: "Send it again in a moment. The answer is then that of the first request.",
            command: "tombolo update ID -s key=value --idempotency-key the-same-key"),
    ]

    static let ofTheRelay = [
        ProblemPage(
            .limitReached, 429, "A limit of the relay's configuration is reached",
            cause:
                "The configuration limits how many of these the relay keeps, so that its "
                + "memory and its answers stay small. The detail names the limit.",
            fix:
                "End or delete what you no longer need, as the detail says. Or raise the limit "
                + "in the configuration and restart the relay.",
            command: "tombolo config show"),
        ProblemPage(
            .overloaded, 429, "The relay has too much to do",
            cause:
                "More requests are waiting to be stored than the relay can hold in memory, or "
                + "one key or address sends more than its share. The detail says which.",
            fix:
                "Wait as many seconds as Retry-After says, then send again, as curl --retry "
                + "does.",
            command: "curl --retry 8 --data-binary @events.ndjson "
                + "-H 'Content-Type: application/x-ndjson' "
                + "-H \"Authorization: Bearer $TOMBOLO_KEY\" \"$TOMBOLO_RELAY/v1/events\""),
        ProblemPage(
            .logFull, 507, "The disk of the log is full or nearly full",
            cause:
                "The file system of the data directory is full, or more than 90 % of it is "
                + "used.",
            fix:
                "Free space on it, or keep a shorter history (limits.history). The relay then "
                + "accepts events again without a restart.",
            command: "df -h"),
        ProblemPage(
            .logSilent, 503, "The log does not answer",
            cause:
                "The disk or the database of the log has not answered for ten seconds. It is "
                + "not known whether the request is stored.",
            fix:
                "Send it again with the same Idempotency-Key: it is stored only once. The "
                + "relay continues as soon as the log answers.",
            command: "curl http://127.0.0.1:8780/readyz"),
        ProblemPage(
            .stopping, 503, "The relay is stopping",
            cause:
                "The relay finishes the requests that it has accepted, and accepts no new "
                + "ones.",
            fix: "Send the request again after the relay has started.",
            command: "curl http://127.0.0.1:8780/readyz"),
        ProblemPage(
            .notReady, 503, "The relay is not ready",
            cause:
                "The relay is still reading its log, or it has stopped because the log failed.",
            fix: "Wait. If it takes long, read the last lines that the relay printed.",
            command: "journalctl -u tombolo -n 50"),
        ProblemPage(
            .logUnreadable, 503, "The log cannot be read",
            cause: "Reading the event log failed.",
            fix: "Check what the relay printed, the disk, and its free space.",
            command: "df -h; journalctl -u tombolo -n 50"),
        ProblemPage(
            .eventDamaged, 500, "An event of the log is damaged",
            cause:
                "The answer needs an event whose row in the log cannot be read, and would be "
                + "wrong without it. The newest state is not affected.",
            fix:
                "Ask for a time before the event, or after the activity's next start. tombolo "
                + "log verify --data DIR lists what is damaged. A backup may have the event.",
            command: "tombolo log verify --data DIR"),
        ProblemPage(
            .internalError, 500, "The relay has a fault",
            cause: "Something happened that the program does not expect.",
            fix: "Report it with the trace_id and what the relay printed.",
            command: "journalctl -u tombolo -n 50"),
    ]
}
