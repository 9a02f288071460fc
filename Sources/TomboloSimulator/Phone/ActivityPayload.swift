import TomboloJSON

/// The `aps` dictionary of an ActivityKit push, as the phone reads it (Apple, *Starting and
/// updating Live Activities with ActivityKit push notifications*).
struct ActivityPayload {
    enum Event: String {
        case start, update, end
    }

    var event: Event
    /// In Unix seconds.
    var timestamp: Int64
    var contentState: JSONView?
    var attributesType: String?
    var attributes: JSONView?
    /// The alert's title. Phones show no alert without a title.
    var alert: String?
    /// True if the alert has a title or a body. Without either, no card starts.
    var hasAlert: Bool
    var staleDate: DateField
    var dismissalDate: DateField
    var inputPushChannel: String?

    /// A date in the payload: whole Unix seconds.
    enum DateField: Equatable {
        case absent
        case second(Int64)
        case notWholeSeconds
    }

    /// Largest plausible `timestamp` in seconds (the year 5138). A greater one must be in
    /// milliseconds.
    static let timestampMax: Int64 = 100_000_000_000

    init(_ payload: [UInt8]) throws(Ignored) {
        // It does not matter where the JSON is wrong: the phone drops the whole push.
        guard let aps = (try? JSONDocument(payload))?.root["aps"], aps.kind == .object else {
            throw Ignored(.unreadable, "no aps object")
        }
        guard let event = aps["event"]?.string.flatMap(Event.init) else {
            throw Ignored(.unreadable, "aps.event must be start, update or end")
        }
        self.event = event
        timestamp = try Self.timestamp(aps["timestamp"])
        contentState = aps["content-state"]
        attributesType = aps["attributes-type"]?.string
        attributes = aps["attributes"]
        alert = Self.text("title", of: aps["alert"])
        hasAlert = alert != nil || Self.text("body", of: aps["alert"]) != nil
        staleDate = Self.date(aps["stale-date"])
        dismissalDate = Self.date(aps["dismissal-date"])
        inputPushChannel = aps["input-push-channel"]?.string
    }

    private static func timestamp(_ value: JSONView?) throws(Ignored) -> Int64 {
        guard let value, value.kind == .number else { throw Ignored(.timestampMissing) }
        guard let seconds = value.integer else { throw Ignored(.timestampNotWholeSeconds) }
        guard seconds <= timestampMax else {
            throw Ignored(.timestampInMilliseconds, "\(seconds)")
        }
        return seconds
    }

    private static func date(_ value: JSONView?) -> DateField {
        guard let value, !value.isNull else { return .absent }
        return value.integer.map(DateField.second) ?? .notWholeSeconds
    }

    /// Returns an alert's title or body: a string, or an object that names one of the app's
    /// strings. Nil if the alert is not an object or lacks it.
    private static func text(_ name: String, of alert: JSONView?) -> String? {
        guard let alert, alert.kind == .object, let value = alert[name] else { return nil }
        return value.kind == .object ? value["loc-key"]?.string : value.string
    }
}
