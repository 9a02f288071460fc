package import TomboloCore
package import TomboloJSON

/// The answer to `GET /v1/search`: what was found, by kind and id.
package struct SearchAnswer: AnswerObject, Sendable {
    package var found: [SearchResult]
    /// The delivery with exactly the id that was asked for.
    package var delivery: DeliveryEntry?
    /// False if more of a kind begins with the text than is shown.
    package var isWhole: Bool

    /// Makes an answer from all its values.
    package init(_ found: [SearchResult], delivery: DeliveryEntry?, isWhole: Bool) {
        (self.found, self.delivery, self.isWhole) = (found, delivery, isWhole)
    }

    package func write(membersTo writer: inout JSONWriter) {
        writer.array("results") { writer in
            for one in found { writer.object { Self.writeFound(one, to: &$0) } }
            if let delivery { writer.object { Self.writeDelivery(delivery, to: &$0) } }
        }
        writer.member("is_whole", isWhole)
    }

    private static func writeFound(_ one: SearchResult, to writer: inout JSONWriter) {
        switch one {
        case .activity(let id, let type, let status):
            writeKind("activity", id.rawValue, &writer)
            writer.member("type", type)
            writer.member("status", status.rawValue)
        case .device(let id, let user, let app):
            writeKind("device", id.rawValue, &writer)
            writer.optional("user", user)
            writer.optional("app", app)
        case .user(let name, let devices):
            writeKind("user", name, &writer)
            writer.member("devices", devices)
        case .type(let name, let app):
            writeKind("type", name, &writer)
            writer.member("app", app)
        }
    }

    private static func writeDelivery(_ entry: DeliveryEntry, to writer: inout JSONWriter) {
        writeKind("delivery", entry.id, &writer)
        writer.optional("apns_id", entry.record.attempt?.apnsID.text)
        writer.optional("activity", entry.activity?.rawValue)
        writer.member(entry.record.recipient.member, entry.record.recipient.name.rawValue)
        writer.member("result", entry.result)
    }

    private static func writeKind(_ kind: String, _ id: String, _ writer: inout JSONWriter) {
        writer.member("kind", kind)
        writer.member("id", id)
    }
}
