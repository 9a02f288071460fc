import TomboloCore
import TomboloLoop

/// A card on a phone, and what Apple knows of its token.
final class Card {
    let reference: ActivityReference
    /// The number of its app's own token; nil until it was issued.
    var token: String?
    /// The relay has stored `token`.
    var isRegistered = false
    var registeredSince = MonotonicInstant(nanoseconds: 0)
    var lastTimestamp: Int64 = 0
    var state: [UInt8] = []
    var mark: Int64 = 0
    var hasEnded = false
    var isDismissed = false
    /// The app never learns its token.
    var isTokenless = false
    /// Apple took an update or an end, and it will never arrive.
    var hasLostUpdate = false
    var hasLostEnd = false
    var isUpdatedLocally = false
    var alerts: [Int64: Int] = [:]
    /// Since when a newer state waits for it.
    var behindSince: MonotonicInstant?

    init(_ reference: ActivityReference) { self.reference = reference }
}

/// One phone with the app: what arrives, what it shows, and what the app tells the relay.
final class Phone {
    let number: Int
    let tenant: TenantID
    let id: Identifier
    let user: String
    let budgetClass: BudgetClass
    let startToken: String
    var cards: [ActivityReference: Card] = [:]
    var isOnline = true
    /// The one push that Apple keeps for an app on a phone that is away.
    var stored: Push?
    /// What the app has to tell, oldest first.
    var uploads: [Upload] = []
    let uploading: Parking

    /// Something that the app tells the relay until it is told that it is stored, or once.
    struct Upload {
        var command: DeviceCommand
        var isRetried: Bool
        /// The token that it registers, with its card.
        var card: Card?
        var token: String?
    }

    init(
        number: Int, tenant: TenantID, id: Identifier, user: String, budgetClass: BudgetClass,
        loop: any Loop
    ) {
        self.number = number
        self.tenant = tenant
        self.id = id
        self.user = user
        self.budgetClass = budgetClass
        startToken = "5a" + Self.hex(UInt64(number), digits: 14)
        uploading = Parking(loop)
    }

    var key: DeviceKey { DeviceKey(tenant: tenant, id: id) }

    /// Cards in an order that is the same in every process.
    var sortedCards: [Card] { cards.values.sorted { $0.reference.text < $1.reference.text } }

    func upload(_ upload: Upload) {
        uploads.append(upload)
        uploading.unpark()
    }

    static func hex(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
