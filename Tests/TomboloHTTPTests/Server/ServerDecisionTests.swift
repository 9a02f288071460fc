import Testing
import TomboloHTTP
import TomboloLoop

/// What the server decides in pure values, on both edges.
@Suite struct `Decisions of the server` {
    @Test func `a body has its grace, then what its bytes have earned, up to the longest pause`() {
        var limits = HTTPServerLimits()
        limits.bodyGrace = .seconds(5)
        limits.bodyBytesPerSecondMin = 1024
        limits.bodyPauseMax = .seconds(10)
        var rate = HTTPBodyRate(limits)
        #expect(rate.patience == .seconds(5))
        rate.waited(.seconds(4))
        rate.received(2048)
        #expect(rate.patience == .seconds(3))
        rate.waited(.seconds(4))
        #expect(rate.patience == .zero)
        rate.received(.max)
        #expect(rate.patience == .seconds(10))
    }

    @Test func `resets are allowed up to the burst, and again as time passes`() {
        var limits = HTTPServerLimits()
        limits.resetsBurst = 3
        limits.resetsPerSecond = 2
        let start = MonotonicInstant(nanoseconds: 0)
        var allowance = HTTP2ResetAllowance(limits, now: start)
        func take(after seconds: Double) -> Bool { allowance.take(now: start + .seconds(seconds)) }
        #expect((1...4).map { _ in take(after: 0) } == [true, true, true, false])
        #expect(!take(after: 0.4))
        #expect(take(after: 0.6))
        #expect(!take(after: 0.6))
        #expect((1...4).map { _ in take(after: 3600) } == [true, true, true, false])
    }

    @Test func `a peer owes the rest of a preface, a frame's head, a payload, a head's frames`() {
        func owes(_ bytes: some Collection<UInt8>) -> Bool {
            var whole = HTTP2FrameTracker()
            var pieces = HTTP2FrameTracker()
            Array(bytes).withUnsafeBytes { all in
                whole.receive(all)
                for index in all.indices {
                    pieces.receive(UnsafeRawBufferPointer(rebasing: all[index...index]))
                }
            }
            #expect(whole.isWithinUnit == pieces.isWithinUnit)
            #expect(whole.unitsComplete == pieces.unitsComplete)
            return whole.isWithinUnit
        }
        let preface = RawHTTP2.preface
        let ping = RawHTTP2.frame(RawHTTP2.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
        let data = RawHTTP2.frame(RawHTTP2.data, 0, 1, [1, 2, 3])
        let open = RawHTTP2.frame(RawHTTP2.headers, 1, 1, RawHTTP2.head())
        #expect(owes(preface.prefix(23)))
        #expect(!owes(preface.prefix(24)))
        #expect(!owes(preface))
        #expect(owes(preface + ping.prefix(1)))
        #expect(owes(preface + ping.dropLast()))
        #expect(!owes(preface + ping))
        #expect(owes(preface + data.prefix(8)))
        #expect(!owes(preface + data.prefix(9)))
        #expect(owes(preface + open))
        #expect(owes(preface + open + RawHTTP2.frame(RawHTTP2.continuation, 0, 1, [])))
        #expect(!owes(preface + open + RawHTTP2.frame(RawHTTP2.continuation, 4, 1, [])))
    }
}
