import Testing

@testable import TomboloCore

/// What is held for each live activity is small: there may be a million of them.
@Suite struct SizeTests {
    @Test func `an activity without a clip has no room for one`() {
        #expect(MemoryLayout<Projection>.stride <= 160)
        #expect(MemoryLayout<Activity>.stride <= 640)
    }
}
