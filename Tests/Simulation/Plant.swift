import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

/// A bug that the simulation must find: planted at an edge of the relay, or, in a build with
/// `PLANTED_BUGS`, behind a switch in it.
package enum Plant: String, Hashable, Sendable, CaseIterable {
    // At the log
    case acknowledgeBeforeCommit = "acknowledge-before-commit"
    case markBeforeSend = "mark-before-send"
    case doubleAlertAfterCrash = "double-alert-after-crash"
    case budgetForgottenAtRestart = "budget-forgotten-at-restart"
    case cardAgeForgottenAtRestart = "card-age-forgotten-at-restart"
    // At the sender
    case updateAfterEnd = "update-after-end"
    case oldStateResent = "old-state-resent"
    // At Apple's end of HTTP/2
    case refusedThoughTaken = "refused-though-taken"
    // At the loop, and at the door
    case lostWakeUp = "lost-wake-up"
    case tenantLeftOut = "tenant-left-out-of-a-key"
    // In the relay, in a build with PLANTED_BUGS
    case noTrailingValue = "no-trailing-value"
    case debounceFromLastEvent = "debounce-anchored-to-the-last-event"
    case retirementWithoutGeneration = "retirement-without-comparing-generations"
    case secondStartBeforeToken = "second-start-before-the-token"
    case clipSampledAtItsPeriod = "loop-clip-sampled-at-its-period"
    case windowReopenedByClock = "window-reopened-by-a-clock-step"
    case echoWithoutEnd = "echo-without-end"
    case channelOfAnotherIncarnation = "channel-of-another-incarnation"
    case predecessorKept = "predecessor-kept"
    case reloadForgottenWithToken = "reload-forgotten-with-its-token"
    case reloadNeverAtRest = "reload-never-at-rest"
    case reloadBudgetForgotten = "reload-budget-forgotten-at-restart"
    case reloadThroughPause = "reload-through-a-pause"
    case reloadToRetiredToken = "reload-to-a-retired-token"
    case endEchoedToSuccessor = "end-echoed-to-a-successor"
    case channelBeforeEnd = "channel-taken-before-the-end"
    case channelBudgetAnew = "channel-budget-anew"
    case channelGoneForgotten = "gone-channel-forgotten"
    case channelExpiration = "expiration-where-nothing-is-kept"
    case bundleLostWithChange = "bundle-lost-with-a-change"
    case bundleFrameByFrame = "bundle-frame-by-frame"
    case bundleBegunAnew = "bundle-begun-anew"
    case endHeldBack = "end-held-back"
    case timestampOfTheClock = "timestamp-of-the-clock"
    case framesAtTen = "frames-at-priority-10"

    /// Those that this build can plant.
    package static var planted: [Plant] {
        #if PLANTED_BUGS
            allCases
        #else
            allCases.filter { !$0.isInRelay }
        #endif
    }

    private var isInRelay: Bool {
        switch self {
        case .noTrailingValue, .debounceFromLastEvent, .retirementWithoutGeneration,
            .secondStartBeforeToken, .clipSampledAtItsPeriod, .windowReopenedByClock,
            .echoWithoutEnd, .channelOfAnotherIncarnation, .reloadForgottenWithToken,
            .reloadNeverAtRest, .reloadBudgetForgotten, .reloadThroughPause,
            .reloadToRetiredToken, .endEchoedToSuccessor, .channelBeforeEnd,
            .channelBudgetAnew, .channelGoneForgotten, .channelExpiration, .predecessorKept,
            .bundleLostWithChange, .bundleFrameByFrame, .bundleBegunAnew, .endHeldBack,
            .timestampOfTheClock, .framesAtTen:
            true
        default: false
        }
    }

    /// Plants what is planted in the relay itself.
    func spoil(_ configuration: inout CoreConfiguration) {
        #if PLANTED_BUGS
            configuration.planted =
                switch self {
                case .noTrailingValue: .noTrailingValue
                case .debounceFromLastEvent: .debounceFromLastEvent
                case .retirementWithoutGeneration: .retirementWithoutGeneration
                case .secondStartBeforeToken: .secondStartBeforeToken
                case .clipSampledAtItsPeriod: .clipSampledAtItsPeriod
                case .windowReopenedByClock: .windowReopenedByClock
                case .echoWithoutEnd: .echoWithoutEnd
                case .channelOfAnotherIncarnation: .channelOfAnotherIncarnation
                case .predecessorKept: .predecessorKept
                case .reloadForgottenWithToken: .reloadForgottenWithToken
                case .reloadNeverAtRest: .reloadNeverAtRest
                case .reloadBudgetForgotten: .reloadBudgetForgotten
                case .reloadThroughPause: .reloadThroughPause
                case .reloadToRetiredToken: .reloadToRetiredToken
                case .endEchoedToSuccessor: .endEchoedToSuccessor
                case .channelBeforeEnd: .channelBeforeEnd
                case .channelBudgetAnew: .channelBudgetAnew
                case .channelGoneForgotten: .channelGoneForgotten
                case .channelExpiration: .channelExpiration
                case .bundleLostWithChange: .bundleLostWithChange
                case .bundleFrameByFrame: .bundleFrameByFrame
                case .bundleBegunAnew: .bundleBegunAnew
                case .endHeldBack: .endHeldBack
                case .timestampOfTheClock: .timestampOfTheClock
                case .framesAtTen: .framesAtTen
                default: nil
                }
        #endif
    }

    /// Changes what is about to be stored.
    ///
    /// - Parameter marks: those on record, by number; kept up to date here.
    func spoil(_ batch: AppendBatch, _ marks: inout [Int64: [UInt8]], in world: World)
        -> AppendBatch
    {
        guard self == .markBeforeSend || self == .doubleAlertAfterCrash else { return batch }
        var batch = batch
        if self == .markBeforeSend { Self.markAll(&batch, marks) }
        for index in batch.records.indices where batch.records[index].space == .mark {
            let number = batch.records[index].number
            guard let value = batch.records[index].value else {
                marks[number] = nil
                continue
            }
            var text = String(decoding: value, as: UTF8.self)
            if self == .doubleAlertAfterCrash {
                text = Self.setting("al", in: text, to: "0")
            } else {
                let activity = Self.number("a", in: text)
                let version = world.newestVersion(activity, with: batch)
                text = Self.setting("v", in: text, to: "\(version)")
            }
            batch.records[index].value = Array(text.utf8)
            marks[number] = Array(text.utf8)
        }
        return batch
    }

    /// Every destination of an activity that is about to change is marked with the change.
    private static func markAll(_ batch: inout AppendBatch, _ marks: [Int64: [UInt8]]) {
        let changed = Set(batch.events.map(\.activity.rawValue))
        let own = Set(batch.records.lazy.filter { $0.space == .mark }.map(\.number))
        for (mark, value) in marks.sorted(by: { $0.key < $1.key }) where !own.contains(mark) {
            let activity = number("a", in: String(decoding: value, as: UTF8.self))
            guard changed.contains(activity) else { continue }
            batch.records.append(Record(space: .mark, number: mark, value: value))
        }
    }

    /// Changes what was read at start-up.
    func spoil(_ recovered: inout RecoveredLog, in world: World) {
        let forgotten: (name: String, value: String)
        switch self {
        case .budgetForgottenAtRestart: forgotten = ("b", "0")
        case .cardAgeForgottenAtRestart:
            forgotten = ("cs", "\(world.clock.now().nanoseconds)")
        default: return
        }
        for index in recovered.records.indices where recovered.records[index].space == .mark {
            guard let value = recovered.records[index].value else { continue }
            let text = String(decoding: value, as: UTF8.self)
            let changed = Self.setting(forgotten.name, in: text, to: forgotten.value)
            recovered.records[index].value = Array(changed.utf8)
        }
    }

    /// The digits after `"name":`.
    private static func place(_ name: String, in text: String) -> Range<String.Index>? {
        let utf8 = text.utf8
        let label = Array("\"\(name)\":".utf8)
        var start = utf8.startIndex
        while start < utf8.endIndex {
            if utf8[start...].starts(with: label) {
                let first = utf8.index(start, offsetBy: label.count)
                let end = utf8[first...].firstIndex { !(0x30...0x39).contains($0) && $0 != 0x2d }
                return first..<(end ?? utf8.endIndex)
            }
            start = utf8.index(after: start)
        }
        return nil
    }

    private static func setting(_ name: String, in text: String, to value: String) -> String {
        guard let place = place(name, in: text) else { return text }
        return text.replacingCharacters(place, with: value)
    }

    private static func number(_ name: String, in text: String) -> Int64 {
        place(name, in: text).flatMap { Int64(text[$0]) } ?? 0
    }
}

extension String {
    fileprivate func replacingCharacters(
        _ range: Range<String.Index>, with text: String
    ) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}

extension Plant {
    /// Plants what is planted in the loop.
    func spoil(_ world: World) {
        guard self == .lostWakeUp else { return }
        world.loop.losesTimer = { target in
            target is Relay && world.dice.happens(.machine, oneIn: 30)
        }
    }
}
