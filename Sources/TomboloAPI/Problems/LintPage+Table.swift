import TomboloCore

extension LintPage {
    static let ofStates = [
        LintPage(
            .stateDoesNotDecode, "The state does not decode into the app's type",
            effect: "The system decodes the content state with Swift's default strategies. Where a "
                + "member is missing or of another kind, it drops the whole push.",
            fix: "Register the type's schema; the relay then refuses what would not decode.",
            command: "tombolo type put TYPE type.json"),
        LintPage(
            .stateUnknownMember, "A member that the type does not have",
            effect: "The decoder passes over members it does not know: the value never shows.",
            fix: "Correct the name, or add the member to the type and to the app.",
            command: "tombolo type check TYPE state.json"),
        LintPage(
            .dateInAnotherEpoch, "A date of another epoch",
            effect: "A default Date counts seconds since 2001. Unix seconds show a date 31 years "
                + "later, and text makes the system drop the push.",
            fix: "Declare the member with \"format\":\"date-time\" in the type and send RFC 3339; "
                + "the relay encodes it as \"dates\" says.",
            command: "tombolo type put TYPE type.json"),
        LintPage(
            .newRequiredField, "A newly required field",
            effect: "A state without the field no longer decodes in new apps, and states from "
                + "before the change have no such field.",
            fix: "Make the property optional or give it a default in Swift's init(from:)."),
        LintPage(
            .typeRefusesRunning, "A type that running cards do not fit",
            effect:
                "The type is registered. A change of a running activity that leaves the member as "
                + "it is gets 422, since the phone would drop the push.",
            fix: "Correct the members with the next update, or make the type wider.",
            command: "tombolo type check TYPE state.json"),
        LintPage(
            .clipBundleUndeclared, "A bundle of frames for a type that does not declare it",
            effect: "The app shows the first frame, or none: it does not know that the rest is an "
                + "animation.",
            fix: "Declare \"plays\": true with the type once the app plays bundles."),
        LintPage(
            .clipSlowed, "A clip that runs slower than asked",
            effect: "The destination's grant allows fewer pushes; frames go out at the granted "
                + "rate.",
            fix: "Ask for the rate that dry_run grants, or use a bundle or keyframes."),
        LintPage(
            .clipCoversUpdate, "A change where a clip is playing",
            effect: "While a clip plays, its frames stand at its path. What an update says of that "
                + "place is taken and shows nowhere, and when the clip is stopped its last frame "
                + "stays there.",
            fix: "Stop the clip first (DELETE /v1/activities/{id}/clips/{clip}), play another one "
                + "there, or say it at another place of the state.",
            command: "tombolo activity show ID"),
        LintPage(
            .clipForever, "A flip-book that plays for ever",
            effect: "Without \"loop\" a flip-book plays until it is stopped or its activity ends. "
                + "Each frame is a push, and a long night of them spends the budget.",
            fix: "Write \"loop\": \"once\" or a number of times, or stop it: DELETE "
                + "/v1/activities/{id}/clips/{clip}.",
            command: "tombolo clip stop ID"),
        LintPage(
            .activityIDUnknown, "An app that cannot report its activity's id",
            effect: "The app learns the relay's id from the attributes only. Without it, it cannot "
                + "say what its update token is for: the card stays as it was started. A token or a "
                + "report under ActivityKit's own Activity.id is for no card either.",
            fix: "Leave id_at at its default /activity_id, add the property to the attributes, and "
                + "send its value with tokens and reports."
        ),
    ]

    static let ofStarts = [
        LintPage(
            .startWithoutAlert, "A start without an alert",
            effect: "The phone drops a push-to-start without an alert. The relay adds an empty "
                + "one, so that the card comes, without a word.",
            fix: "Give the start an alert with a title."),
        LintPage(
            .alertWithoutTitle, "An alert without a title",
            effect:
                "Phones ignore an alert that has a body and no title, or empty texts only, and its "
                + "sound with it. The state shows all the same.",
            fix: "Give the alert a title: a text, or an object with loc-key."),
        LintPage(
            .alertSoundUnknown, "A sound that means no sound",
            effect:
                "\"sound\" names a file in the app. No file has such a name, and the alert is not "
                + "silent for it.",
            fix: "Leave \"sound\" out for an alert without a sound; \"default\" is the system's."),
        LintPage(
            .startWithoutAttributes, "A start without attributes",
            effect: "attributes-type and attributes are required: the phone drops the push.",
            fix: "Send both; the type's name is that of the Swift struct."),
        LintPage(
            .startNotStored, "A start that is not stored",
            effect: "apns-expiration 0 is one attempt: a phone without network never gets it.",
            fix: "Let it expire some minutes from now; the relay gives a start ten."),
        LintPage(
            .startTokenOld, "An old push-to-start token",
            effect:
                "A terminated or deleted app leaves its start token behind, and a step to another "
                + "system or version may kill it; Apple answers 200, and no card comes.",
            fix:
                "Let the app register its tokens at every launch (PUT …/tokens, the whole set). After "
                + "a step, switch the app's Live Activities off and on in the phone's settings.",
            command: "tombolo device show DEVICE"),
        LintPage(
            .formerKeyLives, "Keys of the users before",
            effect: "Another user has signed in. A widget that keeps the key of the user before is "
                + "refused with 403 key-of-former-user, shows what it had, and says so to nobody.",
            fix: "Give the app and its widgets a key of the new user, and delete the old one.",
            command: "tombolo key ls"),
        LintPage(
            .tokenRefused, "A token that Apple refused",
            effect:
                "Apple answered 400 or 410 to this token: it is dead, of the other environment, "
                + "or another app's. Nothing goes to it until the app registers another one.",
            fix: "Compare the device's environment and app with how the app was installed, and let "
                + "the app register its tokens at every launch.",
            command: "tombolo device show DEVICE"),
        LintPage(
            .channelStart, "A start on a broadcast channel",
            effect: "Broadcasts update and end; they never start.",
            fix: "Start by push-to-start with input-push-channel, then broadcast."),
        LintPage(
            .channelEnvironment, "A channel of the other environment",
            effect: "Channels are not shared between sandbox and production: nobody listens.",
            fix: "Create the channel where the app's tokens are from."),
        LintPage(
            .channelExpiration, "An expiration on a channel that stores nothing",
            effect: "Apple refuses it with BadExpirationDate: a channel of policy 0 keeps nothing.",
            fix: "Send apns-expiration 0, or create the channel with policy 1."),
        LintPage(
            .presenceOnChannel, "Presence on a channel",
            effect: "One push goes to every phone that listens: whether the app is in front on one "
                + "of them holds nothing back. show_when is kept, and has no effect there. A value "
                + "that a type binds to presence is the inactive one for all.",
            fix: "Leave show_when out, or reach the devices without a channel."),
        LintPage(
            .linksInSmallFamilies, "Links that no widget can show",
            effect: "Only systemMedium and larger families have several places to tap, and the "
                + "type of the timeline has cuts for smaller ones alone. A tap opens url.",
            fix: "Leave links out, or register the type with a larger family."),
    ]

    static let ofPushes = [
        LintPage(
            .payloadUnreadable, "A payload that is not a Live Activity's",
            effect: "Without an aps object and an event of start, update or end the push is "
                + "dropped.",
            fix: "Let the relay make the payload, or follow Apple's page on ActivityKit pushes."),
        LintPage(
            .payloadMember, "A member that has no effect there",
            effect:
                "Apple's table says which members an event has, and of which kind they are. Phones "
                + "ignore others: a sound beside the alert does not sound.",
            fix: "Move the member, correct its kind, or leave it out."),
        LintPage(
            .payloadTooLarge, "A push that is too large",
            effect: "Apple answers 413 PayloadTooLarge, and ActivityKit takes no more than 4 KB of "
                + "attributes and state together, however they came.",
            fix: "Shorten the state: ids instead of images, fewer frames."),
        LintPage(
            .payloadNearLimit, "A push that is nearly too large",
            effect: "The next change may not fit, and is then refused at the door.",
            fix: "Shorten the state."),
        LintPage(
            .escapedSlashes, "Slashes that are escaped",
            effect: "Every \\/ is a byte more than /; base64 has many.",
            fix: "Encode with .withoutEscapingSlashes."),
        LintPage(
            .environmentUnstated, "A token whose environment nobody said",
            effect: "A sandbox token on the production host is BadDeviceToken, and many of them "
                + "end the connection.",
            fix: "Register the device with its environment: sandbox for what Xcode installs."),
        LintPage(
            .environmentChanged, "A device that changed its environment",
            effect: "Tokens belong to one app in one environment: to the other one they are "
                + "BadDeviceToken. Those of before are forgotten, and the cards with them.",
            fix: "Let the app register its tokens after its device, all of them: PUT …/tokens.",
            command: "tombolo device show DEVICE"),
        LintPage(
            .topicSuffix, "A topic without its suffix, or with two",
            effect: "Apple answers BadTopic, TopicDisallowed or DeviceTokenNotForTopic.",
            fix: "The topic is the bundle id and .push-type.liveactivity, once."),
        LintPage(
            .priorityRefused, "A priority that Live Activities do not take",
            effect: "Only 5 and 10 are taken: Apple answers BadPriority.",
            fix: "Send 10 for what must show now and 5 for the rest."),
        LintPage(
            .priorityBeyondBudget, "Priority 10 beyond the budget",
            effect: "A phone shows so many pushes of priority 10 in an hour and ignores the rest, "
                + "alerts among them. The relay goes on at 5. The last pushes of a class are kept for "
                + "alerts (reserve): a change of urgency high goes at 5 before the budget is spent.",
            fix: "Keep urgency high for what cannot wait; let the app declare frequent updates. "
                + "What must show goes with an alert.",
            command: "tombolo budget show --activity ID"),
        LintPage(
            .timestampMissing, "No whole timestamp",
            effect: "A push without a timestamp in whole Unix seconds is dropped.",
            fix: "Send seconds as an integer."),
        LintPage(
            .timestampInMilliseconds, "A timestamp in milliseconds",
            effect: "It is read as a time thousands of years ahead: the push is dropped.",
            fix: "Divide by 1,000."),
        LintPage(
            .timestampInThePast, "An update of the past",
            effect: "An update that is older than what is shown, or than about a minute, is "
                + "dropped; an end is taken.",
            fix: "Set the timestamp when the push is sent, as the relay does."),
        LintPage(
            .timestampTooFarAhead, "A timestamp too far ahead",
            effect: "More than 8 hours ahead the push is dropped, and what is nearer keeps all "
                + "earlier pushes away.",
            fix: "Set the timestamp when the push is sent; check the machine's clock."),
        LintPage(
            .staleDateNotInFuture, "A stale date that is not in the future",
            effect: "The card is stale from its first moment; a date that is not a whole number of "
                + "seconds is ignored.",
            fix: "Send whole Unix seconds ahead of now, or stale_after."),
        LintPage(
            .expirationRelative, "An expiration that counts from now",
            effect: "apns-expiration is a time: 300 is the year 1970, and the push is not stored.",
            fix: "Add the Unix time of now."),
    ]

    static let ofLives = [
        LintPage(
            .dismissalDateNotInFuture, "A dismissal date that is past",
            effect: "The card goes away at once, also from the Lock Screen.",
            fix: "Leave it out for the system's default, or send \"now\" where that is meant."),
        LintPage(
            .dismissalDateCut, "A dismissal date beyond four hours",
            effect: "The system takes an ended card away after four hours at the latest.",
            fix: "Send a time within four hours."),
        LintPage(
            .activityNearItsEnd, "An activity near its eight hours",
            effect: "The system ends an activity after eight hours; updates then show nowhere.",
            fix: "End it with what is to stay on the Lock Screen, or start it with \"renew\": "
                + "\"always\": a new card then follows before the eighth hour."),
        LintPage(
            .updateAfterEnd, "An update that nobody sees",
            effect: "Every card of the activity was dismissed, or has ended: updates are ignored.",
            fix: "Start again with ?restart=true where the user would want it.",
            command: "tombolo activity show ID"),
        LintPage(
            .audienceMissing, "A start without an audience",
            effect: "The log keeps the activity and its changes, and no phone shows them.",
            fix: "Name whom it is for: \"audience\":{\"device\":…}, devices, user or channel.",
            command: "tombolo start ID --type TYPE --device DEVICE"),
        LintPage(
            .deviceNotRegistered, "A device that is not registered",
            effect: "Nothing can be pushed to the device before its app registers it, or it is "
                + "registered for another app: the card does not appear there.",
            fix: "Compare the device's id with what the app registers by PUT /v1/devices/{device}.",
            command: "tombolo device show DEVICE"),
        LintPage(
            .userWithoutDevice, "A user without a device",
            effect: "No device of this user is registered: the card appears nowhere until one is.",
            fix: "Compare the user's id with the one that the app's devices are registered with.",
            command: "tombolo device show DEVICE"),
        LintPage(
            .startNeedsNewerOS, "A start for a phone that takes none",
            effect: "Below iOS 17.2 no push starts a card: the app starts it itself.",
            fix: "Start the card in the app and send its update token (\"start\": \"adopt\").",
            command: "tombolo device check DEVICE"),
        LintPage(
            .typeNotRegistered, "A type that nobody knows",
            effect: "The type is not registered, and no device of the audience has a start token "
                + "for it: a misspelt type starts no card, on any phone.",
            fix: "Write the name of the app's ActivityAttributes type, and register it.",
            command: "tombolo type put TYPE type.json"),
        LintPage(
            .appNotConfigured, "A relay without an app",
            effect: "Events are stored, and nothing is pushed: the configuration has no app.",
            fix: "Add the app to \"apps\" in the configuration file, and restart the relay.",
            command: "tombolo config check"),
        LintPage(
            .stateVersionOlder, "An update that is older than the last",
            effect: "The event is stored, and its alert rings. The state stays as the newer update "
                + "left it.",
            fix: "Nothing, where updates overtake each other. Else raise state_version with each.",
            command: "tombolo log ls --activity ID"),
        LintPage(
            .pauseInForce, "A change while pushes are paused",
            effect:
                "An operator holds pushes back. The log keeps the change, and no phone shows it "
                + "before the pause is over; then the newest state goes.",
            fix: "Wait, or end the pause: DELETE /v1/pauses/{pause}.",
            command: "tombolo resume PAUSE"),
        LintPage(
            .upstreamClosed, "Pushes that wait for Apple",
            effect: "The provider token is refused (wrong, stale, or renewed too often), Apple "
                + "answers 5xx, or cannot be reached: nothing goes out, and nothing is lost.",
            fix: "Look at what the relay printed; check key, team, clock and network.",
            command: "tombolo doctor"),
    ]
}
