import TomboloLoop

extension EpollLoop {
    /// Reads again and again until there is a value; nil if there is none after `limit`.
    func poll<Value>(
        every pause: Duration, within limit: Duration, _ read: () async throws -> Value?
    ) async throws -> Value? {
        let start = now
        while true {
            if let value = try await read() { return value }
            guard now - start < limit else { return nil }
            try await sleep(for: pause)
        }
    }
}
