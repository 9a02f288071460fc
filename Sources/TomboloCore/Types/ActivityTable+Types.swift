import TomboloJSON

extension ActivityTable {
    /// Limits of one search: number of the newest slots, of checked states and of their bytes. More
    /// would block the core for too long.
    private static let (placesMax, statesMax, stateBytesMax) = (8_192, 100, 32 << 10)

    /// A lint with the number of running activities whose present state the type refuses; empty if
    /// there are none.
    func runningTypeLints(of type: ActivityType, _ key: ActivityType.Key) -> [Lint] {
        guard type.state != nil else { return [] }
        var (states, bytes, refused) = (0, 0, 0)
        var example: (Identifier, FieldError)?
        for slot in indices.suffix(Self.placesMax).reversed() {
            let id = self[slot].key
            guard id.tenant == key.tenant, !self[slot].hasEnded,
                self[slot].definition.type == key.name,
                self[slot].definition.app == key.app, self.slot(of: id) == slot
            else { continue }
            let state = self[slot].accepted.state
            states += 1
            bytes += state.bytes.count
            if let fault = type.faults(in: state).first {
                refused += 1
                example = example ?? (id.id, fault)
            }
            if states == Self.statesMax || bytes >= Self.stateBytesMax { break }
        }
        guard let (id, fault) = example else { return [] }
        return [
            Lint(
                .typeRefusesRunning, "/state",
                "\(refused) of the \(states) running activities of this type that were checked do "
                    + "not fit (\(id): \(fault.pointer) \(fault.message)): each change of them is "
                    + "refused that leaves this as it is")
        ]
    }
}
