import TomboloAPI
import TomboloCore
import TomboloCrypto
import TomboloHTTP

extension DoorRequest {
    /// The condition on the activity (RFC 9110, sections 13.1.1 and 13.1.2).
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
        let tags = text.split(separator: ",", omittingEmptySubsequences: false)
        guard tags.count <= Self.entityTagsMax else {
            throw Problem(
                .invalidHeader, "If-Match has more than \(Self.entityTagsMax) ETags. Send fewer.")
        }
        let versions = tags.map { tag -> Int64? in
            let words = tag.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.count == 1 ? Self.version(ofTag: String(words[0])) : nil
        }
        guard !versions.contains(nil) else {
            throw Problem(
                .invalidHeader,
                "If-Match: \(text) is not an ETag of an activity. Send one such as \"v3\", with its "
                    + "quotes, or several with commas between them."
            )
        }
        return .versions(versions.compactMap(\.self))
    }

    /// In one `If-Match`: nobody has more versions in hand.
    private static let entityTagsMax = 32

    /// The N of `"vN"`, which a write answers, and of `"vN-HASH"`, which GET answers: the hash is
    /// that of the delivery too, and no condition on a write.
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

    /// The idempotency key and what it is bound to, where the route keeps one. With or without
    /// quotes.
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

    /// Whether its key may read what the tenant has.
    var mayObserve: Bool {
        principal.map { Access.observe.isCovered(by: $0.scopes, device: nil) } ?? false
    }

    /// Whether a browser asks for a page.
    var prefersHTML: Bool { accepts("text/html") }

    /// Whether JSON is asked for where a text is the answer to others.
    var prefersJSON: Bool { accepts("application/json") }

    /// Whether that type is named, and its weight is not 0.
    private func accepts(_ type: String) -> Bool { head.fields.weighs(type, in: "accept") ?? false }

    /// Where the asker reached the relay, for commands to be pasted. Never for a decision: anybody
    /// may name any host.
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

    /// The trace that the caller is in, if it says so.
    var trace: TraceID? { TraceParent(head).flatMap { TraceID(text: $0.traceID) } }

    /// A time in the query, if it is there.
    func instant(_ name: String) throws(Problem) -> Instant? {
        guard let text = target[name] else { return nil }
        guard let instant = Instant(nearest: text) else {
            throw Problem(
                .invalidQuery, "\(name)=\(text) must be a time such as 2026-11-20T09:03:00Z.")
        }
        return instant
    }

    /// Whether answers of a batch go while its body comes: `Prefer: lines`.
    var prefersLines: Bool {
        head.fields.values("prefer").contains { field in
            field.split(separator: ",").contains {
                $0.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "lines"
            }
        }
    }

    /// How many seconds to wait for deliveries: `Prefer: wait=2` (RFC 7240, section 4.3), at most
    /// `most`. A preference that cannot be read is not followed (section 2).
    func preferredWait(atMost most: Duration) -> Int64? {
        for field in head.fields.values("prefer") {
            for preference in field.split(separator: ",") {
                // Before its parameters a preference may have nothing: `Prefer: ;`.
                let pair = preference.prefix { $0 != ";" }.filter { $0 != " " }
                    .split(separator: "=", omittingEmptySubsequences: false)
                guard pair.count == 2, let name = pair.first, name.lowercased() == "wait",
                    var text = pair.last.map({ String($0) })
                else { continue }
                // Durations have their unit elsewhere: "2s" is meant as 2.
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
