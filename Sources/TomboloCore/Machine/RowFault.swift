import TomboloJSON

// What is wrong with rows of the log, for tools that have no core.

extension ActivityHead {
    /// Why the bytes of a head are invalid, as a clause; nil if they are valid.
    package static func fault(in value: [UInt8], version: Int64) -> String? {
        do throws(StoredValueError) {
            _ = try Activity(stored: value, number: ActivityNumber(0), version: version, seq: 0)
            return nil
        } catch {
            return error.reason
        }
    }
}

extension NewEvent {
    /// Why the body is invalid, as a clause; nil if it is valid or was erased.
    package var fault: String? {
        guard !body.isEmpty else { return nil }
        do throws(JSONError) {
            let document = try JSONDocument(body)
            // The text below names no member, so the error is dropped.
            let content = try? Command.Content(kind: kind, document.root, lenient: true)
            return content == nil ? "its body is not a valid \(kind.name)" : nil
        } catch {
            return "its body is not JSON"
        }
    }
}

extension Record {
    /// Why start-up would set the record aside, as a clause; nil if it would not, or does not read
    /// it.
    package var fault: String? {
        guard let value else { return nil }
        guard (0..<ActivityNumber.max).contains(number) else { return "no relay gave that number" }
        let isRead: Bool
        switch space {
        case .device:
            isRead =
                Device(record: value, number: number) != nil
                || DepartedDevices.departed(by: self) != nil
        case .startHistory: isRead = StartHistory(record: value, number: number) != nil
        case .type: isRead = RegisteredType.read(value, number: number) != nil
        case .channel: isRead = Channel(record: value, number: number) != nil
        case .pause:
            isRead =
                Pause(record: value, number: number) != nil || Pause.ended(record: value) != nil
        case .deadLetter: isRead = DeadLetter(record: value, number: number) != nil
        case .timeline: isRead = StoredTimeline.read(value, number: number) != nil
        case .presence: isRead = Presence.parts(of: self) != nil
        case .action:
            var table = ActionTable()
            isRead = table.adopt(self) { _ in nil }.isEmpty
        case .owedReload: isRead = OwedReload(record: self) != nil
        case .upstream: isRead = UpstreamRecord(record: value) != nil
        case .relay:
            isRead = RelayClock.Reading(record: self) != nil || !RelayClock.Reading.isRecord(self)
        case .key: isRead = true
        case .checkpoint:
            do throws(StoredValueError) { _ = try Checkpoint(stored: value) } catch {
                return error.reason
            }
            isRead = true
        }
        return isRead ? nil : "it cannot be read"
    }
}
