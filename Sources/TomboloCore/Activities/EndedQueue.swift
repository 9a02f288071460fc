/// Ended activities of a tenant, oldest first. Some of them may have left memory or run again.
struct EndedQueue: Sendable {
    struct Place: Sendable {
        private var place: Int32
        var slot: ActivitySlot { Slot(Int(place)) }
        var number: ActivityNumber

        init(_ slot: ActivitySlot, _ number: ActivityNumber) {
            place = Int32(slot.place)
            self.number = number
        }
    }

    private var places: [Place] = []
    private var head = 0

    var count: Int { places.count - head }

    mutating func append(_ slot: ActivitySlot, _ number: ActivityNumber) {
        places.append(Place(slot, number))
    }

    mutating func removeFirst() -> Place? {
        guard head < places.count else { return nil }
        head += 1
        defer {
            if head > 1_024, head * 2 > places.count {
                places.removeFirst(head)
                head = 0
            }
        }
        return places[head - 1]
    }

    mutating func keep(where isKept: (Place) -> Bool) {
        places = places[head...].filter(isKept)
        head = 0
    }
}
