package import TomboloLoop

/// Runs `body` on a loop of its own, on a thread of its own, and stops the loop afterwards.
package func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (EpollLoop) async throws -> Value
) async throws -> Value {
    let thread = try EpollLoop.start(name: "test")
    defer { thread.stop() }
    let loop = thread.loop
    return try await loop.perform { try await body(loop) }
}
