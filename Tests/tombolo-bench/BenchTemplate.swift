import TomboloCore
import TomboloJSON
import TomboloProgram

/// Bytes of a JSON text in which numbers of fixed width are replaced for each event.
struct BenchTemplate: Sendable {
    /// The numbers to fill in for one event.
    struct Values: Sendable {
        var activity: Int64
        var number: Int64
        var now: Int64
        var started: Int64

        subscript(_ field: Field) -> Int64 {
            switch field {
            case .activity: activity
            case .number: number
            case .now: now
            case .started: started
            }
        }
    }

    enum Field: Sendable { case activity, number, now, started }

    /// Placeholder of an activity's id; its digits are replaced by the activity's number.
    static let activityMark = "bench-111111111111"
    /// Placeholder of the event's number in its state.
    static let numberMark = "222222222222"
    /// Placeholder of a time: nanoseconds since 1970, with as many digits (19) as the present time.
    static let timeMark: Int64 = 1_333_333_333_333_333_333

    private struct Place: Sendable {
        var offset: Int
        var width: Int
        var value: Field
    }

    private let bytes: [UInt8]
    private let places: [Place]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let text = String(decoding: bytes, as: UTF8.self)
        let time = String(Self.timeMark)
        var places: [Place] = []
        func add(_ mark: String, skipping count: Int, _ value: Field) {
            for range in text.ranges(of: mark) {
                let offset = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
                places.append(
                    Place(offset: offset + count, width: mark.utf8.count - count, value: value))
            }
        }
        add(Self.activityMark, skipping: 6, .activity)
        add(Self.numberMark, skipping: 0, .number)
        let started = "\"started\":"
        add(started + time, skipping: started.utf8.count, .started)
        let changed = "\"changed\":"
        add(changed + time, skipping: changed.utf8.count, .now)
        self.places = places
    }

    func filled(_ values: Values) -> [UInt8] {
        var copy = bytes
        copy.withUnsafeMutableBufferPointer { buffer in
            for place in places {
                var rest = values[place.value]
                for index in stride(from: place.width - 1, through: 0, by: -1) {
                    buffer[place.offset + index] = UInt8(truncatingIfNeeded: 48 + rest % 10)
                    rest /= 10
                }
            }
        }
        return copy
    }
}

extension Command.Content {
    /// Reads the bytes of one command.
    init(json bytes: [UInt8], kind: EventKind) throws {
        try self.init(kind: kind, try JSONDocument(bytes).root)
    }
}
