import ActivityKit

// One file in both targets. `tombolo type codegen TYPE --swift` prints such a type. In a new project of
// Xcode 26 a type is of the main actor, unless it says `nonisolated`.

/// A flip-book: the relay writes one picture after the other.
nonisolated struct RunnerWidgetAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        /// A PNG in base64.
        var image: String
    }
    var activity_id: String?
}

/// A window whose corners are square while the app is left.
nonisolated struct WindowWidgetAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        var corner: Double
    }
    var activity_id: String?
}

/// Three pictures on a circle.
nonisolated struct RadialWidgetAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        /// In degrees. It grows from turn to turn.
        var offset: Double
    }
    var activity_id: String?
}

/// A door, with its last event.
nonisolated struct DoorAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        struct Event: Codable, Hashable {
            var who: String?
            var what: String?
            var at: String?
        }
        struct Door: Codable, Hashable {
            var id: String?
            var name: String?
        }
        var door: Door
        var word: String
        var locked: Bool?
        var event: Event?
        var history: [Event]
    }
    var activity_id: String?
}

/// The content of the profile's widget. It has no card.
nonisolated struct Profile: Codable {
    var name: String
    var rank: Int
    /// A picture: its address, or a PNG in base64.
    var avatar: String?
}
