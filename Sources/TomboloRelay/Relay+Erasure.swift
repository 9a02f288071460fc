package import TomboloCore
package import TomboloEventLog

/// Result of an erasure.
package enum ErasureAnswer: Sendable {
    case erased(LogErased)
    case refused(Refusal)
    case failed(EventLogError)
}

extension Relay {
    /// Erases an ended activity in memory and in the log; durable on return. If the relay crashes
    /// meanwhile, the caller must repeat the call.
    package func erase(activity key: ActivityKey, deed: Deed? = nil) async -> ErasureAnswer {
        guard await recall([key]) else { return .refused(Self.stillness) }
        let answer = await ask(deed: deed) { .erase(.activity(key, number: nil), $0) }
        guard case .stored(let stored) = answer, let number = stored.number else {
            return .refused(Self.refusal(answer))
        }
        let activity = ActivityNumber(number)
        let erased = await erase(LogErasure(.activity(activity), of: key.tenant))
        // Meanwhile a query may have loaded the activity back from the log: remove it again.
        _ = await ask { .erase(.activity(key, number: activity), $0) }
        return erased
    }

    /// Erases a device, registered or not, and everything that names it. Activities for this device
    /// alone are erased whole, even running ones.
    package func erase(device key: DeviceKey, deed: Deed? = nil) async -> ErasureAnswer {
        let answer = await ask(deed: deed) { .erase(.device(key), $0) }
        guard case .stored = answer else { return .refused(Self.refusal(answer)) }
        let erased = await erase(LogErasure(.device(key.id), of: key.tenant))
        _ = await ask { .erase(.device(key), $0) }
        return erased
    }

    private func erase(_ erasure: LogErasure) async -> ErasureAnswer {
        do throws(EventLogError) { return .erased(try await log.erase(erasure)) } catch {
            return .failed(error)
        }
    }

    static let stillness = Refusal(
        .stopping, "the log cannot say whether there is such an activity: ask again")

    private static func refusal(_ answer: Answer) -> Refusal {
        if case .refused(let refusal) = answer { refusal } else { stillness }
    }

    /// A snapshot: see `EventLog.snapshot`.
    package nonisolated(nonsending) func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead? {
        try await log.snapshot(of: activity, tenant: tenant, at: moment, newest: newest)
    }
}
