import TomboloJSON

/// Whether stored bytes name a device in their audience. The erasure of a device's data needs this.
package enum DeviceTrace: Hashable, Sendable {
    /// The bytes do not name the device.
    case none
    /// The device is the whole audience.
    case alone
    /// The audience has other devices, too.
    case among

    /// Finds the device in a start's body.
    package static func inStart(_ body: [UInt8], of device: Identifier) -> DeviceTrace {
        // An unreadable body counts as one that names no device.
        guard mayName(device, body), let document = try? JSONDocument(body),
            // So does an invalid start.
            let content = try? Command.Content(kind: .start, document.root, lenient: true),
            case .start(let start) = content
        else { return .none }
        return inAudience(start.audience, of: device)
    }

    /// Finds the device in a head.
    package static func inHead(_ head: [UInt8], of device: Identifier) -> DeviceTrace {
        guard mayName(device, head), let activity = activity(head) else { return .none }
        let trace = inAudience(activity.definition.audience, of: device)
        return trace == .none && activity.remembers(device) ? .among : trace
    }

    /// The head without the device in its audience and in those of earlier lives; unchanged if it
    /// has no readable device list.
    package static func head(
        _ head: [UInt8], version: Int64, without device: Identifier
    ) -> [UInt8] {
        guard var activity = activity(head, version: version) else { return head }
        let audience = activity.definition.audience
        guard audience.names(device) || activity.remembers(device) else { return head }
        activity.definition.audience = audience.without(device) ?? .devices([])
        activity.forgetLives(of: device)
        return activity.headBytes()
    }

    private static func activity(_ head: [UInt8], version: Int64 = 0) -> Activity? {
        Activity(head: head, number: ActivityNumber(0), version: version, seq: 0)
    }

    private static func inAudience(_ audience: Audience, of device: Identifier) -> DeviceTrace {
        guard case .devices(let ids) = audience, ids.contains(device) else { return .none }
        return ids.allSatisfy { $0 == device } ? .alone : .among
    }

    /// False if the bytes certainly do not contain the name, which is a fast test for most rows.
    /// A producer may write a name with escapes, although it needs none. So the answer is also true
    /// if the bytes have a backslash.
    private static func mayName(_ device: Identifier, _ bytes: [UInt8]) -> Bool {
        if bytes.contains(UInt8(ascii: "\\")) { return true }
        let name = Array(device.rawValue.utf8)
        guard let first = name.first, bytes.count >= name.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            for start in 0...(bytes.count - name.count) {
                guard bytes[start] == first else { continue }
                if name.indices.allSatisfy({ bytes[start + $0] == name[$0] }) { return true }
            }
            return false
        }
    }
}
