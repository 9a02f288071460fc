import TomboloAPI
import TomboloCore
import TomboloCrypto
import TomboloHTTP

extension DoorRequest {
    /// The precondition on the activity (RFC 9110, sections 13.1.1 and 13.1.2).
    func expectation() throws(Problem) -> Command.Expectation {
        if let text = head.fields["if-none-match"] {
            guard text == "*" else {
                throw Problem(
                    .invalidHeader,
                    "If-None-Match: \(text) is of no use on a write. Send * for \"only if new\".")
            }
            return .absent
        }
        guard let text = head.fields["if-match"], text != "*" else { return .none }
        let tags = EntityTag.list(text)
        guard tags.count <= Self.entityTagsMax else {
            throw Problem(
                .invalidHeader, "If-Match has more than \(Self.entityTagsMax) ETags. Send fewer.")
        }
        let versions = tags.map(Self.version(ofTag:))
        guard !versions.contains(nil), !versions.isEmpty else {
            throw Problem(
                .invalidHeader,
                "If-Match: \(text) is not an ETag of an activity. Send one such as \"v3\", with its "
                    + "quotes, or several with commas between them."
            )
        }
        return .versions(versions.compactMap(\.self))
    }

    /// Most tags in one `If-Match`: no client needs more versions.
    private static let entityTagsMax = 32

    /// Refuses a condition where a request has events of many activities.
    func refuseConditions() throws(Problem) {
        for name in ["if-match", "if-none-match"] where head.fields.contains(name) {
            throw Problem(
                .invalidHeader,
                "\(name) is not for a batch, which has events of many activities. Leave it away, or "
                    + "send the event by itself.")
        }
    }

    /// The N of `"vN"` (the tag of a write) or of `"vN-HASH"` (the tag of GET). The hash also
    /// covers deliveries, so it is ignored for a write.
    private static func version(ofTag text: String) -> Int64? {
        guard text.hasPrefix("\"v"), text.hasSuffix("\""), text.utf8.count > 3 else { return nil }
        let parts = text.dropFirst(2).dropLast().split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard let digits = parts.first, !digits.isEmpty,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            parts.dropFirst().allSatisfy({ !$0.isEmpty && Hex.decode(String($0)) != nil })
        else { return nil }
        return Int64(digits)
    }

    /// The idempotency key and the request that it is bound to; nil if the route takes none. Quotes
    /// around the key are optional.
    func idempotencyKey(body: [UInt8]) throws(Problem) -> IdempotencyKey? {
        guard route.takesIdempotencyKey, var text = head.fields["idempotency-key"] else {
            return nil
        }
        if text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
            text = String(text.dropFirst().dropLast())
        }
        guard EventLine.idBytes.contains(text.utf8.count) else {
            throw Problem(.invalidHeader, "Idempotency-Key must have 1 to 255 bytes.")
        }
        var digest = StableHash()
        digest.combine(head.method.utf8)
        digest.combine(target.text.utf8)
        digest.combine(body)
        return IdempotencyKey(key: text, bodyDigest: digest.value)
    }

    /// True if the key may read the tenant's data.
    var mayObserve: Bool {
        principal.map { Access.observe.isCovered(by: $0.scopes, device: nil) } ?? false
    }

    /// True if a browser asks for a page.
    var prefersHTML: Bool { accepts("text/html") }

    /// True if the client asks for JSON where the default is text.
    var prefersJSON: Bool { accepts("application/json") }

    /// True if the type is listed with a weight above 0.
    private func accepts(_ type: String) -> Bool { head.fields.weighs(type, in: "accept") ?? false }

    /// The relay's address as the client used it, for commands to copy. Do not base a decision on
    /// it: a client can send any host.
    var origin: String {
        let isPlain = head.authority.map { authority in
            (1...255).contains(authority.utf8.count)
                && authority.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x3a, 0x41...0x5b, 0x5d, 0x61...0x7a, 0x2d, 0x2e: true
                    default: false
                    }
                }
        }
        guard isPlain == true, let authority = head.authority else {
            return "http://127.0.0.1:8780"
        }
        let isSecure = head.scheme == "https" || head.fields["x-forwarded-proto"] == "https"
        return "\(isSecure ? "https" : "http")://\(authority)"
    }

    /// The caller's trace, if it sent one.
    var trace: TraceID? { TraceParent(head).flatMap { TraceID(text: $0.traceID) } }

    /// A time in the query; nil if it is missing.
    func instant(_ name: String) throws(Problem) -> Instant? {
        guard let text = target[name] else { return nil }
        guard let instant = Instant(nearest: text) else {
            throw Problem(
                .invalidQuery, "\(name)=\(text) \(Instant.fault(ofRFC3339: text)).")
        }
        return instant
    }

    /// True if a batch is answered while its body is still coming: `Prefer: lines`.
    var prefersLines: Bool {
        head.fields.values("prefer").contains { field in
            field.split(separator: ",").contains {
                $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "lines"
            }
        }
    }

    /// Seconds to wait for deliveries, at most `most`: `Prefer: wait=2` (RFC 7240, section 4.3). An
    /// unreadable preference is ignored (section 2).
    func preferredWait(atMost most: Duration) -> Int64? {
        for field in head.fields.values("prefer") {
            for preference in field.split(separator: ",") {
                // A preference may have no name: `Prefer: ;`.
                let pair = preference.prefix { $0 != ";" }.filter { $0 != " " }
                    .split(separator: "=", omittingEmptySubsequences: false)
                guard pair.count == 2, let name = pair.first, name.lowercased() == "wait",
                    var text = pair.last.map({ String($0) })
                else { continue }
                // Other durations have a unit, so "2s" counts as 2.
                if text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 {
                    text = String(text.dropFirst().dropLast())
                }
                if text.lowercased().hasSuffix("s") { text.removeLast() }
                guard let seconds = Int64(text), seconds >= 0 else { continue }
                return min(seconds, most.components.seconds)
            }
        }
        return nil
    }
}
