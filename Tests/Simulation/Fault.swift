/// What may go wrong, or make life hard, in one seed's world. Each seed takes a random part of
/// them.
package enum Fault: Int, Hashable, Sendable, CaseIterable {
    // Producers
    case duplicates, lateStates, bursts, clips, restarts, alerts, batches, endMany, adopted
    case reusedKeys, tweens, channels
    // Apple
    case unavailable, throttled, keyRefused, refused, silence, unknownOutcomes, notSent
    case narrowLane, reordered
    // Phones
    case rotation, lateTokens, missingTokens, offline, swipes, localUpdates, presence, lateReports
    case deletions, oldTokens, startTokens, cardLives
    // Operators
    case pauses, changedGrants, types, retries, restores
    // The machine
    case crashes, crashInRecovery, crashInTurn, orderlyRestarts, diskErrors, slowDisk, fullDisk
    case wallSteps, reboots, suspends
    // Widgets and controls
    case reloads
    // Channels that producers name
    case broadcasts
    // Clips that go as a whole
    case bundles
    // Time
    case months
    // Others
    case strangers
    // Clocks that are wrong by years
    case wrongClock, wrongPhones
    // Devices that go and come back, or get another user
    case deletedDevices, changedUsers
    // Channels of activities that Apple knows no more
    case lostChannels
    // A phone that is known under another id from then on
    case secondIDs
    // Phones whose tokens are of another environment, for ever
    case wrongTokens
    // What widgets show, and fetch
    case widgets
    // Producers that say the same again and again, so that it stays fresh
    case repeats

    /// The word for it in reports and on the command line.
    package var name: String { "\(self)" }
}

/// A part of all faults.
package struct FaultSet: OptionSet, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The set of one.
    package init(_ fault: Fault) { rawValue = 1 << UInt64(fault.rawValue) }

    /// The words of `description`; nil where one is none.
    package init?(names: String) {
        var set = FaultSet()
        for word in names.split(separator: ",") {
            guard let fault = Fault.allCases.first(where: { $0.name == word }) else { return nil }
            set.insert(FaultSet(fault))
        }
        self = set
    }

    /// The names, with commas between them.
    package var description: String { list.map(\.name).joined(separator: ",") }

    /// Those that may hold a push for long, so that nobody can tell whether it is held by one of
    /// them or by nothing.
    static let holding = [
        Fault.unavailable, .throttled, .keyRefused, .silence, .unknownOutcomes, .notSent,
        .narrowLane, .slowDisk, .diskErrors, .localUpdates, .refused, .fullDisk,
        .pauses, .suspends, .restores, .oldTokens,
    ].reduce(into: FaultSet()) { $0.insert(FaultSet($1)) }

    /// Those after which nobody knows how long a start has waited.
    static let unsureWaits: FaultSet = [
        FaultSet(.restores), FaultSet(.retries), FaultSet(.wallSteps), FaultSet(.reboots),
        FaultSet(.suspends), FaultSet(.wrongClock), FaultSet(.diskErrors), FaultSet(.slowDisk),
        FaultSet(.fullDisk),
    ]

    static let all = FaultSet(rawValue: Fault.allCases.reduce(0) { $0 | 1 << UInt64($1.rawValue) })

    /// Those that a world has by a throw of their own.
    static let drawnApart: FaultSet = [
        FaultSet(.months), FaultSet(.strangers), FaultSet(.wrongClock), FaultSet(.wrongPhones),
        FaultSet(.deletedDevices), FaultSet(.changedUsers), FaultSet(.lostChannels),
        FaultSet(.secondIDs), FaultSet(.wrongTokens), FaultSet(.widgets), FaultSet(.repeats),
    ]

    /// In the order of their declaration.
    package var list: [Fault] { Fault.allCases.filter { contains(FaultSet($0)) } }
}
