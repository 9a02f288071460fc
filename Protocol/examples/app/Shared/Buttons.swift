import AppIntents
import Foundation
import TomboloWidgets

// Intents of buttons on cards and controls. They run in the app's process, also in the background.

/// Turns the circle.
struct TurnIntent: LiveActivityIntent {
    static let title: LocalizedStringResource = "Turn"
    @Parameter(title: "Card") var card: String

    init() {}

    init(card: String) {
        self.card = card
    }

    func perform() async throws -> some IntentResult {
        try await Tombolo.press("TurnIntent", activity: card)
        return .result()
    }
}

/// Unlocks the door.
struct UnlockDoor: LiveActivityIntent {
    static let title: LocalizedStringResource = "Unlock"

    func perform() async throws -> some IntentResult {
        try await Tombolo.press("UnlockDoor")
        return .result()
    }
}
