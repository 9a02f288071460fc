import TomboloJSON

/// Reads any push as it would go to Apple, and finds reasons why a phone would silently drop it
/// (Apple, "Starting and updating Live Activities with ActivityKit push notifications"; on
/// timestamps, Apple's answer in the developer forums, thread 776165).
package struct PayloadLint: Sendable {
    /// The request's header fields. A field that is nil is not checked.
    package struct Headers: Hashable, Sendable {
        package var topic: String?
        package var pushType: String?
        package var priority: String?
        package var expiration: String?
        /// Set for a broadcast, which has at most 5,120 bytes and cannot start an activity.
        package var channel: String?

        package init() {}
    }

    private let now: Instant
    private let type: ActivityType?
    private var found: [Lint] = []

    /// A Unix time above this is in milliseconds: in seconds it would be after the year 5138.
    static let secondsMax: Int64 = 100_000_000_000
    /// If fewer bytes than this are left for the payload, a lint warns.
    static let bytesLeftMin = 256
    /// A phone drops an update whose timestamp is older. The value is estimated; Apple does not
    /// publish it.
    static let pastMax = Span.seconds(60)
    static let leadMax = Limits.systemCardLife

    /// Returns all lints for one push.
    ///
    /// - Parameters:
    ///   - type: the app's type with the schema of its state; nil if it is not known.
    package static func lints(
        payload: [UInt8], headers: Headers = Headers(), type: ActivityType? = nil, now: Instant
    ) -> [Lint] {
        var lint = PayloadLint(now: now, type: type)
        lint.check(size: payload, isBroadcast: headers.channel != nil)
        lint.check(headers)
        // Where the JSON is wrong does not matter, because the phone drops the push anyway.
        guard let aps = (try? JSONDocument(payload))?.root["aps"], aps.kind == .object,
            let event = aps["event"]?.string, ["start", "update", "end"].contains(event)
        else {
            lint.add(
                .payloadUnreadable, "/aps",
                "there is no aps object whose event is start, update or end: the push is dropped")
            return lint.found
        }
        lint.checkMembers(aps, event: event)
        lint.checkTimestamp(aps["timestamp"], event: event)
        lint.checkState(aps["content-state"], event: event)
        if headers.channel != nil { lint.checkBroadcast(state: aps["content-state"]) }
        if event == "start" { lint.checkStart(aps, headers) }
        lint.checkDates(aps)
        return lint.found
    }

    private init(now: Instant, type: ActivityType?) {
        self.now = now
        self.type = type
    }

    private mutating func add(_ code: Lint.Code, _ pointer: String, _ message: String) {
        found.append(Lint(code, pointer, message))
    }

    // MARK: - Around the payload

    private mutating func check(size payload: [UInt8], isBroadcast: Bool) {
        let most = isBroadcast ? Payload.broadcastBytesMax : Payload.bytesMax
        if payload.count > most {
            add(
                .payloadTooLarge, "",
                "\(payload.count) bytes, \(payload.count - most) more than the \(most) that Apple "
                    + "takes")
        } else if let lint = Self.nearLimit(payload.count, of: most, "") {
            found.append(lint)
        }
        let slashes = zip(payload, payload.dropFirst()).count { $0 == 0x5c && $1 == 0x2f }
        if slashes > 0 {
            add(
                .escapedSlashes, "",
                "\(slashes) slashes are written \\/, a byte more each; encode without escaping")
        }
    }

    private mutating func check(_ headers: Headers) {
        let suffix = ".push-type.liveactivity"
        if let topic = headers.topic, headers.channel == nil {
            let isDoubled = topic.hasSuffix(suffix + suffix)
            if !topic.hasSuffix(suffix) || isDoubled {
                add(
                    .topicSuffix, "/headers/apns-topic",
                    "a Live Activity's topic is the bundle id and \(suffix), once")
            }
        }
        if let type = headers.pushType, type.lowercased() != "liveactivity" {
            add(.topicSuffix, "/headers/apns-push-type", "must be liveactivity")
        }
        if let priority = headers.priority, priority != "5", priority != "10" {
            add(
                .priorityRefused, "/headers/apns-priority",
                "a Live Activity takes 5 or 10; Apple answers BadPriority")
        }
        guard let text = headers.expiration, let second = Int64(text) else { return }
        if second > 0, headers.channel != nil {
            add(
                .channelExpiration, "/headers/apns-expiration",
                "a channel of policy 0 stores nothing: Apple refuses any expiration but 0 there "
                    + "with BadExpirationDate")
        }
        if second > 0, second < 1_000_000_000 {
            add(
                .expirationRelative, "/headers/apns-expiration",
                "\(second) is a time of the year 1970: it counts seconds since then, not from now")
        }
    }

    /// A phone takes no larger state from a broadcast than from another push.
    private mutating func checkBroadcast(state: JSONView?) {
        let most = Payload.bytesMax
        guard let bytes = state?.raw.count, bytes > most - Self.bytesLeftMin else { return }
        add(
            bytes > most ? .payloadTooLarge : .payloadNearLimit, "/aps/content-state",
            bytes > most
                ? "\(bytes) bytes, \(bytes - most) more than the \(most) that ActivityKit takes"
                : "\(bytes) of \(most) bytes: the next change may not fit")
    }

    /// A lint if fewer than `bytesLeftMin` bytes are left; nil if more are left, or if the push is
    /// too large.
    static func nearLimit(_ bytes: Int, of most: Int, _ pointer: String) -> Lint? {
        guard bytes <= most, bytes > most - bytesLeftMin else { return nil }
        return Lint(
            .payloadNearLimit, pointer,
            "\(bytes) of \(most) bytes: the next change may not fit")
    }

    // MARK: - The payload

    /// What is known of a member of `aps`: its kind, and the events in which it has an effect.
    private struct Member {
        var kind: JSONView.Kind
        var events: [String] = ["start", "update", "end"]
        /// True if another check reports a value of the wrong kind.
        var hasOwnCheck = false
    }

    /// The members in Apple's table ("Starting and updating Live Activities with ActivityKit push
    /// notifications").
    private static let members: [String: Member] = [
        "timestamp": Member(kind: .number, hasOwnCheck: true),
        "event": Member(kind: .string), "alert": Member(kind: .object),
        "content-state": Member(kind: .object, hasOwnCheck: true),
        "attributes-type": Member(kind: .string, events: ["start"], hasOwnCheck: true),
        "attributes": Member(kind: .object, events: ["start"], hasOwnCheck: true),
        "stale-date": Member(kind: .number, events: ["start", "update"], hasOwnCheck: true),
        "dismissal-date": Member(kind: .number, events: ["end"], hasOwnCheck: true),
        "relevance-score": Member(kind: .number, events: ["start", "update"]),
        "input-push-channel": Member(kind: .string, events: ["start"]),
        "input-push-token": Member(kind: .number, events: ["start"]),
    ]

    private mutating func checkMembers(_ aps: JSONView, event: String) {
        for (name, value) in aps.members where found.count < Lint.countMax {
            let pointer = ValuePath("/aps").pointer(name)
            guard let member = Self.members[name] else {
                let isOfAlert = ["sound", "title", "body"].contains(name)
                add(
                    .payloadMember, pointer,
                    isOfAlert
                        ? "belongs inside \"alert\": beside it, it has no effect"
                        : "is no member of a Live Activity's push: phones ignore it")
                continue
            }
            if !member.events.contains(event) {
                let events = member.events.joined(separator: " or ")
                add(
                    .payloadMember, pointer,
                    "belongs to \(events) and has no effect on \(event)")
            } else if value.kind != member.kind, !member.hasOwnCheck {
                add(
                    .payloadMember, pointer,
                    "must be of kind \(member.kind.rawValue), not \(value.kind.rawValue)")
            }
        }
        if aps["input-push-token"] != nil, aps["input-push-channel"] != nil {
            add(
                .payloadMember, "/aps/input-push-token",
                "goes without input-push-channel: a card listens on a channel or has a token")
        }
        if let alert = aps["alert"], alert.kind == .object {
            found += Alert.lints(of: alert, at: "/aps/alert").filter {
                event != "start" || $0.code != .alertWithoutTitle || Alert.hasText(alert)
            }
            for (name, _) in alert.members where !["title", "body", "sound"].contains(name) {
                guard found.count < Lint.countMax else { return }
                add(
                    .payloadMember, ValuePath("/aps/alert").pointer(name),
                    "is no member of a Live Activity's alert: phones ignore it")
            }
        }
    }

    private mutating func checkTimestamp(_ value: JSONView?, event: String) {
        let pointer = "/aps/timestamp"
        guard let value, let seconds = value.integer else {
            return add(
                .timestampMissing, pointer,
                "must be whole Unix seconds: the push is dropped without")
        }
        guard seconds <= Self.secondsMax else {
            return add(
                .timestampInMilliseconds, pointer,
                "\(seconds) is in milliseconds; ActivityKit counts seconds and drops the push")
        }
        let instant = Instant(seconds: seconds)
        if instant > now + Self.leadMax {
            add(.timestampTooFarAhead, pointer, "is more than 8 hours ahead: the push is dropped")
        } else if event == "update", instant < now - Self.pastMax {
            add(
                .timestampInThePast, pointer,
                "is \((now - instant).roundedText) old: an update in the past is dropped")
        }
    }

    private mutating func checkState(_ state: JSONView?, event: String) {
        let pointer = "/aps/content-state"
        guard let state, state.kind == .object else {
            if event != "end" || state != nil {
                add(.stateDoesNotDecode, pointer, "must be an object: the push is dropped")
            }
            return
        }
        if let schema = type?.state {
            for fault in schema.phoneFaults(in: state, type?.dates ?? .swiftReference, pointer) {
                found.append(fault)
            }
        } else {
            found += DateLint.lints(of: state, at: pointer, dates: .swiftReference)
        }
    }

    private mutating func checkStart(_ aps: JSONView, _ headers: Headers) {
        if headers.channel != nil {
            add(.channelStart, "/aps/event", "a broadcast cannot start a Live Activity")
        }
        if headers.expiration == "0" {
            add(
                .startNotStored, "/headers/apns-expiration",
                "0 is one attempt: a phone that is offline now never shows the card")
        }
        if aps["attributes-type"]?.string == nil || aps["attributes"]?.kind != .object {
            add(
                .startWithoutAttributes, "/aps/attributes",
                "a start needs attributes-type and attributes: it is dropped without")
        }
        guard let alert = aps["alert"], alert.kind == .object, Alert.hasText(alert) else {
            return add(
                .startWithoutAlert, "/aps/alert",
                "a start needs an alert with title or body: the phone drops it without a word")
        }
    }

    private mutating func checkDates(_ aps: JSONView) {
        let dates: [(String, Lint.Code, String)] = [
            ("stale-date", .staleDateNotInFuture, "the card is stale from its first moment"),
            ("dismissal-date", .dismissalDateNotInFuture, "the card is taken away at once"),
        ]
        for (name, code, effect) in dates {
            guard let value = aps[name], !value.isNull else { continue }
            guard let seconds = value.integer, seconds <= Self.secondsMax else {
                add(code, "/aps/\(name)", "must be whole Unix seconds: it is ignored")
                continue
            }
            if Instant(seconds: seconds) <= now { add(code, "/aps/\(name)", "is past: \(effect)") }
            if name == "dismissal-date", Instant(seconds: seconds) > now + .hours(4) {
                add(
                    .dismissalDateCut, "/aps/\(name)",
                    "is more than 4 hours away: the system takes the card away after 4")
            }
        }
    }
}
