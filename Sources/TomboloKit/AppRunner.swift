#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
internal import Foundation
internal import TomboloContract
internal import TomboloWidgets

/// A type of cards that the app observes.
@MainActor protocol ObservedType: AnyObject {
    /// The whole of `Activity.activities`.
    func readCards() -> [SeenCard]
    func begin()
    func readStartToken()
    func observe(_ card: String)
    func end(_ card: String)
}

/// Carries out what the contract decides.
@MainActor final class AppRunner {
    private var contract: AppContract
    private var types: [any ObservedType] = []
    private var isSending = false
    private var keyRequests = 0
    private var written: [UInt8] = []
    private var next: Task<Void, any Error>?
    private let start = ContinuousClock.now
    private let controlCenter: ScenePresence.Edge?
    private let key: @Sendable () async throws -> String
    private static let (folder, file) = (Folder("app"), "contract")

    init(
        device: String, controlCenter: ScenePresence.Edge?,
        key: @escaping @Sendable () async throws -> String
    ) {
        self.controlCenter = controlCenter
        self.key = key
        contract = AppContract(device: device, facts: .current(controlCenter: controlCenter))
    }

    func add(_ type: any ObservedType) { types.append(type) }

    /// Takes up the state of the last process, once it can be read.
    func launch() async {
        while Self.folder.isLocked(Self.file) { try? await Task.sleep(for: .seconds(2)) }
        contract = AppContract(
            device: contract.device, facts: .current(controlCenter: controlCenter),
            kept: Self.folder.read(Self.file) ?? [])
        types.forEach { $0.begin() }
        handle(.launched)
        begin()
    }

    private var now: Duration { ContinuousClock.now - start }

    /// A touch alone changes nothing that is kept or sent.
    func note(_ touch: AppEvent) {
        _ = contract.handle(touch, at: now, time: Date.now.rfc3339)
    }

    func handle(_ event: AppEvent) {
        carryOut(contract.handle(event, at: now, time: Date.now.rfc3339))
    }

    /// The facts may have changed, such as the permission for frequent updates.
    func readFacts() { handle(.facts(.current(controlCenter: controlCenter))) }

    private func carryOut(_ actions: [AppAction]) {
        // The state outlives the process, which the system may end at any time.
        let state = contract.kept
        if state != written { Self.folder.write(state, Self.file) }
        written = state
        for action in actions {
            switch action {
            case .readStartTokens:
                types.forEach { $0.readStartToken() }
                readSurfaceTokens()
            case .readActivities: handle(.activities(types.flatMap { $0.readCards() }))
            case .observe(let card): types.forEach { $0.observe(card) }
            case .end(let card): types.forEach { $0.end(card) }
            case .askForKey: Task { await askForKey() }
            case .signOut:
                keyRequests += 1
                _ = KeyStore.save(nil)
                Tombolo.forgetEntries()
                Task { await BackgroundUploads.cancel() }
            }
        }
        Task { await send() }
    }

    /// Gets a key from the backend. Only the newest request counts: a former key may come late.
    func askForKey() async {
        keyRequests += 1
        let number = keyRequests
        // Without a signed-in user the backend has no key.
        guard let key = try? await key(), number == keyRequests, KeyStore.save(key) else { return }
        Tombolo.forgetEntries()
        handle(.signedIn(user: nil))
    }

    /// Sends what is due, one upload at a time, and comes back when the next is due.
    private func send() async {
        guard !isSending else { return }
        guard let due = contract.queue.deadline, due <= now else { return schedule() }
        isSending = true
        let end = Transport.beginExpiringActivity()
        while let upload = contract.queue.next(at: now) {
            let outcome = await Transport.put(
                upload.path, upload.body, mayBeLate: upload.mayBeLate)
            carryOut(contract.answered(upload, outcome, at: now))
        }
        end.signal()
        isSending = false
        schedule()
    }

    private func schedule() {
        next?.cancel()
        next = contract.queue.deadline.map { due in
            Task {
                try await Task.sleep(for: max(.zero, due - now))
                await send()
            }
        }
    }
}
#endif
