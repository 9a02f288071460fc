import TomboloJSON
package import TomboloLoop

/// The app's requests to the relay's API, derived from a phone's effects: device, tokens, presence,
/// and a report on each activity.
package struct PhoneReports: Sendable {
    package let configuration: PhoneConfiguration
    package let environment: PushEnvironment
    /// The phone's user; nil if it is not reported.
    package let user: String?
    package var queue = UploadQueue()
    /// True if the device's budget class is reported. This needs a key with the scope `operate`.
    package private(set) var tellsBudgetClass: Bool
    private var isFrequentAllowed: Bool
    /// The newest card of each activity. The end of an older card is not the activity's end.
    private var newestCards: [String: Int] = [:]

    /// `user` is the phone's user, or nil.
    package init(
        configuration: PhoneConfiguration, environment: PushEnvironment, user: String?,
        tellsBudgetClass: Bool
    ) {
        self.configuration = configuration
        self.environment = environment
        self.user = user
        self.tellsBudgetClass = tellsBudgetClass
        isFrequentAllowed = configuration.frequentPushesEnabled
    }

    private var devicePath: String { "/devices/" + percentEncoded(configuration.name) }

    /// The app is launched: it registers the device and reports its presence.
    package mutating func introduce(at now: MonotonicInstant, wall: WallInstant) {
        queue.put(devicePath, .device, deviceBody, at: now)
        tellPresence(.background, at: now, wall: wall)
    }

    /// Sends everything except the reports again. Presence keeps its original time, so that a newer
    /// report of another sender wins.
    package mutating func refresh(at now: MonotonicInstant) {
        queue.refresh(at: now)
    }

    /// The relay refused the device, perhaps because the key must not set its budget class. Returns
    /// true if a retry without the class makes sense.
    package mutating func giveUpBudgetClass(at now: MonotonicInstant) -> Bool {
        guard tellsBudgetClass else { return false }
        tellsBudgetClass = false
        queue.forget(devicePath)
        queue.put(devicePath, .device, deviceBody, at: now)
        return true
    }

    /// Takes an effect of the phone.
    package mutating func note(
        _ effect: PhoneEffect, at now: MonotonicInstant, wall: WallInstant
    ) {
        switch effect {
        case .tokenIssued(let token, let purpose):
            guard let path = tokenPath(purpose) else { return }
            var body = JSONWriter()
            body.beginObject()
            body.member("token", token)
            body.member("observed_at", wall.rfc3339)
            body.endObject()
            queue.put(path, .token, body.bytes, at: now)
        case .tokenRetired(_, let purpose, _):
            if let path = tokenPath(purpose) { queue.forget(path) }
        case .changed(let card, _), .drawn(let card):
            report(card, at: now)
        case .moved(let place):
            tellPresence(place, at: now, wall: wall)
        case .frequentUpdatesAllowed(let allowed):
            isFrequentAllowed = allowed
            queue.put(devicePath, .device, deviceBody, at: now)
        case .ignored, .reloaded, .tapped, .tokenIssuedSilently, .widgetFetch, .widgetDrawn,
            .galleryOpened:
            break
        }
    }

    private mutating func report(_ card: ActivityCard, at now: MonotonicInstant) {
        guard let id = card.activityID, card.number >= newestCards[id] ?? 0 else { return }
        let isLast = card.phase == .dismissed
        newestCards[id] = isLast ? nil : card.number
        queue.put(
            devicePath + "/activities/" + percentEncoded(id), .report, Self.word(card),
            isLast: isLast, at: now)
    }

    private mutating func tellPresence(
        _ place: AppPresence, at now: MonotonicInstant, wall: WallInstant
    ) {
        var body = JSONWriter()
        body.beginObject()
        body.member("app", configuration.bundleID)
        body.member("phase", place.phase)
        if let cause = place.cause { body.member("cause", cause) }
        body.member("at", wall.rfc3339)
        body.endObject()
        queue.put(devicePath + "/presence", .presence, body.bytes, at: now)
    }

    private var deviceBody: [UInt8] {
        var body = JSONWriter()
        body.beginObject()
        body.member("app", configuration.bundleID)
        body.member("environment", environment.rawValue)
        if let user { body.member("user", user) }
        body.member("os", configuration.os)
        if let timeZone = configuration.timeZone { body.member("time_zone", timeZone) }
        body.member("frequent_updates", isFrequentAllowed)
        body.member("control_center", configuration.controlCenter.rawValue)
        if tellsBudgetClass { body.member("budget_class", configuration.budgetClass.rawValue) }
        body.endObject()
        return body.bytes
    }

    private func tokenPath(_ purpose: TokenPurpose) -> String? {
        guard let name = purpose.name else { return nil }
        let parts = name.split(separator: ":", maxSplits: 1).map { percentEncoded(String($0)) }
        return devicePath + "/tokens/" + parts.joined(separator: ":")
    }

    /// The phone's report on one activity: what it shows, since when, and how often that changed.
    private static func word(_ card: ActivityCard) -> [UInt8] {
        var body = JSONWriter()
        body.beginObject()
        body.member("phase", card.phase.name)
        if card.isSwiped { body.member("by", "user") }
        body.name("received_state")
        body.raw(card.contentState)
        body.name("drawn_state")
        body.raw(card.drawnState)
        body.member("shown_at", card.shownAt.rfc3339)
        body.member("shown_count", card.shownCount)
        body.member("first_shown_at", card.firstShownAt.rfc3339)
        if let at = card.localUpdateAt { body.member("last_local_update", at.rfc3339) }
        body.endObject()
        return body.bytes
    }
}

/// Encodes one segment of a path: everything but unreserved characters as `%XX` (RFC 3986, 2.3).
func percentEncoded(_ segment: String) -> String {
    var text: [UInt8] = []
    for byte in segment.utf8 {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            text.append(byte)
        default:
            let digits = Array("0123456789ABCDEF".utf8)
            text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: text, as: UTF8.self)
}
