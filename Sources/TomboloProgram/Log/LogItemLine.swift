import TomboloCore
import TomboloCrypto
import TomboloEventLog
import TomboloJSON
import TomboloLog

/// One line of an export: a JSON object with one member, whose name is the kind of item.
///
/// Bodies and values are strings with the same bytes, or base64 if they are not UTF-8. So an import
/// restores every byte.
enum LogItemLine {
    /// Why a line is not an item of a log.
    struct Fault: Error {
        var cause: String
    }

    // MARK: Out

    static func text(_ item: LogItem) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        switch item {
        case .identity(let hashKey, let restoredAt):
            writer.object("identity") { writer in
                writer.member("format", LogItem.format)
                writer.array("hash_key", of: hashKey) { $0.string(String($1)) }
                if let restoredAt { writer.member("restored_at", restoredAt.nanoseconds) }
            }
        case .cut(let seq, let fact, let activity):
            writer.object("cut") { writer in
                writer.member("seq", seq)
                writer.member("fact", fact)
                writer.member("activity", activity)
            }
        case .lead(let event, let fact, let seconds):
            writer.object("lead") { writer in
                writer.member("event", event)
                writer.member("fact", fact)
                writer.member("seconds", seconds)
            }
        case .event(let recorded): write(recorded, &writer)
        case .snapshot(let activity, let value, let seq):
            writer.object("snapshot") { writer in
                writer.member("seq", seq)
                writer.member("activity", activity.rawValue)
                bytes("value", value, &writer)
            }
        case .fact(let recorded): write(recorded, &writer)
        case .head(let head, let tenant, let day): write(head, tenant, day, &writer)
        case .tally(let tenant, let event, let fact):
            writer.object("tally") { writer in
                writer.member("tenant", tenant.name.rawValue)
                writer.member("event", event)
                writer.member("fact", fact)
            }
        case .end(let items):
            writer.object("end") { $0.member("items", items) }
        case .record(let record):
            writer.object("record") { writer in
                writer.member("space", Int64(record.space.rawValue))
                writer.member("number", record.number)
                bytes("value", record.value ?? [], &writer)
            }
        }
        writer.endObject()
        return writer.bytes + [10]
    }

    private static func write(_ recorded: RecordedEvent, _ writer: inout JSONWriter) {
        let event = recorded.event
        writer.object("event") { writer in
            writer.member("seq", recorded.seq)
            tenantSeq(recorded.tenantSeq, recorded.seq, &writer)
            writer.member("previous", recorded.previous)
            writer.member("tenant", event.tenant.name.rawValue)
            writer.member("activity", event.activity.rawValue)
            writer.member("version", recorded.version)
            writer.member("do", event.kind.name)
            writer.member("recorded_at", event.recordedAt.nanoseconds)
            if let key = event.idempotency {
                writer.member("key", key.key)
                writer.member("digest", String(key.bodyDigest))
            }
            if event.key.isKnown { writer.member("by", event.key.id) }
            bytes("body", event.body, &writer)
        }
    }

    private static func write(_ recorded: RecordedFact, _ writer: inout JSONWriter) {
        writer.object("fact") { writer in
            writer.member("seq", recorded.seq)
            tenantSeq(recorded.tenantSeq, recorded.seq, &writer)
            writer.member("tenant", recorded.fact.tenant.name.rawValue)
            if let activity = recorded.fact.activity {
                writer.member("activity", activity.rawValue)
            }
            writer.member("kind", recorded.fact.kind)
            writer.member("recorded_at", recorded.fact.recordedAt.nanoseconds)
            bytes("body", recorded.fact.body, &writer)
        }
    }

    private static func write(
        _ head: RecoveredHead, _ tenant: TenantID, _ day: Int64?, _ writer: inout JSONWriter
    ) {
        writer.object("head") { writer in
            writer.member("tenant", tenant.name.rawValue)
            writer.member("activity", head.activity.rawValue)
            writer.member("version", head.version)
            writer.member("seq", head.seq)
            tenantSeq(head.tenantSeq, head.seq, &writer)
            if let day { writer.member("retired_day", day) }
            bytes("value", head.value, &writer)
        }
    }

    /// Writes the place among the tenant's rows, but only if it differs from the sequence.
    private static func tenantSeq(_ place: Int64, _ seq: Int64, _ writer: inout JSONWriter) {
        if place != seq { writer.member("tenant_seq", place) }
    }

    private static func bytes(_ name: String, _ bytes: [UInt8], _ writer: inout JSONWriter) {
        if let text = String(validating: bytes, as: UTF8.self) {
            writer.member(name, text)
        } else {
            writer.member(name + "_base64", Base64.encode(bytes))
        }
    }

    // MARK: In

    static func item(_ line: [UInt8]) throws -> LogItem {
        let root = try JSONDocument(line).root
        if let view = root["event"] { return .event(try event(view)) }
        if let view = root["fact"] { return .fact(try fact(view)) }
        if let view = root["head"] {
            let head = RecoveredHead(
                activity: ActivityNumber(try integer(view, "activity")),
                version: try integer(view, "version"), seq: try integer(view, "seq"),
                tenantSeq: view["tenant_seq"]?.integer, value: try bytes(view, "value"))
            return .head(head, try tenant(view), retiredDay: view["retired_day"]?.integer)
        }
        if let view = root["record"] {
            guard let space = RecordSpace(rawValue: UInt8(clamping: try integer(view, "space")))
            else { throw Fault(cause: "its space is not known") }
            return .record(
                Record(
                    space: space, number: try integer(view, "number"),
                    value: try bytes(view, "value")))
        }
        if let view = root["snapshot"] {
            return .snapshot(
                ActivityNumber(try integer(view, "activity")), value: try bytes(view, "value"),
                seq: try integer(view, "seq"))
        }
        if let view = root["end"] { return .end(items: try integer(view, "items")) }
        if let view = root["cut"] {
            return .cut(
                seq: try integer(view, "seq"), fact: try integer(view, "fact"),
                activity: try integer(view, "activity"))
        }
        if let view = root["tally"] {
            return .tally(
                try tenant(view), event: try integer(view, "event"),
                fact: try integer(view, "fact"))
        }
        if let view = root["identity"] { return try identity(view) }
        if let view = root["lead"] {
            return .lead(
                event: try integer(view, "event"), fact: try integer(view, "fact"),
                seconds: try integer(view, "seconds"))
        }
        throw Fault(cause: "it is not a line of an export")
    }

    private static func identity(_ view: JSONView) throws -> LogItem {
        // Exports of before have no number, and this format.
        if let format = view["format"], format.integer != LogItem.format {
            throw Fault(
                cause: "the export's format is not \(LogItem.format), which this program reads: "
                    + "import it with a tombolo of that format")
        }
        guard let halves = view["hash_key"]?.strings(atMost: 2)?.compactMap(UInt64.init),
            halves.count == 2
        else { throw Fault(cause: "\"hash_key\" is missing or no two numbers") }
        return .identity(
            hashKey: halves,
            restoredAt: view["restored_at"]?.integer.map { Instant(nanoseconds: $0) })
    }

    private static func event(_ view: JSONView) throws -> RecordedEvent {
        guard let kind = view["do"]?.string.flatMap(EventKind.init(name:)) else {
            throw Fault(cause: "\"do\" is missing or unknown")
        }
        var key: IdempotencyKey?
        if let text = view["key"]?.string,
            let digest = view["digest"]?.string.flatMap(UInt64.init)
        {
            key = IdempotencyKey(key: text, bodyDigest: digest)
        }
        let version = try integer(view, "version")
        guard version > 0 else { throw Fault(cause: "\"version\" is not above 0") }
        let event = NewEvent(
            tenant: try tenant(view), activity: ActivityNumber(try integer(view, "activity")),
            expectedVersion: version - 1, kind: kind,
            recordedAt: Instant(nanoseconds: try integer(view, "recorded_at")),
            body: try bytes(view, "body"), idempotency: key,
            key: view["by"]?.string.map { AskingKey(id: $0) } ?? .unknown)
        return RecordedEvent(
            seq: try integer(view, "seq"), tenantSeq: view["tenant_seq"]?.integer,
            previous: try integer(view, "previous"), event: event)
    }

    private static func fact(_ view: JSONView) throws -> RecordedFact {
        guard let kind = view["kind"]?.string else { throw Fault(cause: "\"kind\" is missing") }
        let fact = NewFact(
            tenant: try tenant(view), activity: view["activity"]?.integer.map(ActivityNumber.init),
            kind: kind, recordedAt: Instant(nanoseconds: try integer(view, "recorded_at")),
            body: try bytes(view, "body"))
        return RecordedFact(
            seq: try integer(view, "seq"), tenantSeq: view["tenant_seq"]?.integer, fact: fact)
    }

    private static func tenant(_ view: JSONView) throws -> TenantID {
        guard let name = view["tenant"]?.string.flatMap(Identifier.init) else {
            throw Fault(cause: "\"tenant\" is missing or no identifier")
        }
        return TenantID(name)
    }

    private static func integer(_ view: JSONView, _ name: String) throws -> Int64 {
        guard let value = view[name]?.integer else {
            throw Fault(cause: "\"\(name)\" is missing or no integer")
        }
        return value
    }

    private static func bytes(_ view: JSONView, _ name: String) throws -> [UInt8] {
        if let text = view[name]?.string { return Array(text.utf8) }
        guard let bytes = view[name + "_base64"]?.string.flatMap(Base64.decode) else {
            throw Fault(cause: "\"\(name)\" is missing")
        }
        return bytes
    }
}
