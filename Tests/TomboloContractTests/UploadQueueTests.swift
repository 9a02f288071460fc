import Testing

@testable import TomboloContract

@Suite struct UploadQueueTests {
    private static func at(_ seconds: Double) -> Duration {
        .nanoseconds(Int64((seconds * 1e9).rounded()))
    }

    private func put(
        _ queue: inout UploadQueue, _ path: String, _ kind: UploadQueue.Kind, _ body: String,
        isLast: Bool = false, at seconds: Double = 0
    ) {
        queue.put(path, kind, [UInt8](body.utf8), isLast: isLast, at: Self.at(seconds))
    }

    /// Sends the next upload and tells the queue what became of it.
    private func send(
        _ queue: inout UploadQueue, _ outcome: UploadQueue.Outcome = .answered(status: 204),
        at seconds: Double = 0
    ) -> String? {
        guard let upload = queue.next(at: Self.at(seconds)) else { return nil }
        queue.ended(upload, outcome, at: Self.at(seconds))
        return upload.path + "=" + String(decoding: upload.body, as: UTF8.self)
    }

    private func fail(_ queue: inout UploadQueue, at now: Duration) throws {
        let next = queue.next(at: now)
        queue.ended(try #require(next), .unreachable, at: now)
    }

    @Test func `the device goes first, and nothing before the relay knows it`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "w")
        put(&queue, "token", .token, "t")
        put(&queue, "device", .device, "d")
        #expect(send(&queue, .unreachable) == "device=d")
        #expect(send(&queue) == nil)
        #expect(queue.deadline == Self.at(0.1))
        #expect(send(&queue, at: 0.1) == "device=d")
        #expect(send(&queue, at: 0.1) == "token=t")
        #expect(send(&queue, at: 0.1) == "word=w")
        #expect(send(&queue, at: 0.1) == nil)
        #expect(queue.deadline == nil)
    }

    @Test func `a report goes at most once a second, and the newest goes last`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "1")
        #expect(send(&queue) == "word=1")
        for index in 2..<9 { put(&queue, "word", .report, "\(index)", at: Double(index) / 10) }
        #expect(send(&queue, at: 0.9) == nil)
        #expect(queue.deadline == Self.at(1))
        #expect(send(&queue, at: 1) == "word=8")
        #expect(send(&queue, at: 5) == nil)
    }

    @Test func `a value that changes while it is under way goes again`() {
        var queue = UploadQueue()
        put(&queue, "token", .token, "old")
        let upload = queue.next(at: Self.at(0))
        put(&queue, "token", .token, "new")
        #expect(queue.next(at: Self.at(0)) == nil)
        if let upload { queue.ended(upload, .answered(status: 200), at: Self.at(0)) }
        #expect(send(&queue) == "token=new")
    }

    @Test func `while nobody answers the wait doubles up to 2 s and the newest value stays`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "a")
        var now = 0.0
        var waits: [Double] = []
        for _ in 0..<8 {
            _ = send(&queue, .unreachable, at: now)
            let next = (queue.deadline ?? .zero) / .seconds(1)
            waits.append(((next - now) * 10).rounded() / 10)
            now = next
        }
        #expect(waits == [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2])
        put(&queue, "word", .report, "b", at: now)
        #expect(send(&queue, at: now) == "word=b")
    }

    @Test func `an unknown device is introduced again`() {
        var queue = UploadQueue()
        put(&queue, "device", .device, "d")
        put(&queue, "token", .token, "t")
        #expect(send(&queue) == "device=d")
        #expect(send(&queue, .answered(status: 404)) == "token=t")
        #expect(send(&queue) == "device=d")
        #expect(send(&queue, at: 1) == "token=t")
    }

    @Test func `a report that is refused is given up, its next value is not`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "a")
        var sent = 0
        for second in stride(from: 0.0, to: 1_000, by: 40) {
            if send(&queue, .answered(status: 422), at: second) != nil { sent += 1 }
        }
        #expect(sent == UploadQueue.refusedReportsMax)
        put(&queue, "word", .report, "b", at: 2_000)
        #expect(send(&queue, at: 2_000) == "word=b")
    }

    @Test func `a last report is forgotten once told, the others are bounded`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "dismissed", isLast: true)
        #expect(send(&queue) == "word=dismissed")
        #expect(queue.count == 0)
        put(&queue, "device", .device, "d")
        for index in 0..<UploadQueue.resourcesMax { put(&queue, "word\(index)", .report, "w") }
        #expect(queue.count == UploadQueue.resourcesMax)
        #expect(send(&queue) == "device=d")
        #expect(send(&queue) == "word1=w")
    }

    @Test func `a refresh tells tokens again, and the device only where it is unknown`() {
        var queue = UploadQueue()
        put(&queue, "device", .device, "d")
        put(&queue, "token", .token, "t")
        put(&queue, "word", .report, "w")
        while send(&queue) != nil {}
        queue.refresh(at: Self.at(30))
        #expect(send(&queue, at: 30) == "token=t")
        #expect(send(&queue, at: 30) == nil)
        queue.refresh(at: Self.at(60))
        #expect(send(&queue, .answered(status: 404), at: 60) == "token=t")
        #expect(send(&queue, at: 60) == "device=d")
        #expect(send(&queue, at: 61) == "token=t")
        #expect(send(&queue, at: 61) == nil)
    }

    @Test func `a value is retried for two hours, then it waits until it is resumed`() throws {
        var queue = UploadQueue()
        put(&queue, "token", .token, "t")
        var now = Duration.zero
        while let deadline = queue.deadline {
            now = deadline
            try fail(&queue, at: now)
        }
        #expect(now >= UploadQueue.retryTimeMax)
        #expect(now < UploadQueue.retryTimeMax + UploadQueue.unreachableBackOffMax)
        #expect(queue.next(at: now * 2) == nil)
        #expect(queue.waitingCount == 1)
        queue.resume(at: now)
        #expect(send(&queue, at: now / .seconds(1)) == "token=t")
    }

    @Test func `just below two hours a value is still retried`() throws {
        var queue = UploadQueue()
        put(&queue, "token", .token, "t")
        for time in [Duration.zero, UploadQueue.retryTimeMax - .nanoseconds(1)] {
            try fail(&queue, at: time)
            #expect(queue.deadline != nil)
        }
        try fail(&queue, at: UploadQueue.retryTimeMax * 2)
        #expect(queue.deadline == nil)
    }

    @Test func `a newer token begins its two hours again, also where the older one rests`() throws {
        var queue = UploadQueue()
        put(&queue, "token", .token, "old")
        for time in [Duration.zero, UploadQueue.retryTimeMax] {
            try fail(&queue, at: time)
        }
        #expect(queue.deadline == nil)
        put(&queue, "token", .token, "new", at: 8_000)
        #expect(send(&queue, at: 8_000) == "token=new")
    }

    @Test(arguments: [
        (401, nil, true), (403, "key-of-former-user", true), (403, "user-not-bound", false),
        (403, "key-not-signed-in", false),
        (403, nil, false), (404, "unknown-device", false),
    ])
    func `a refused key stops all until the next key`(status: Int, code: String?, stops: Bool) {
        var queue = UploadQueue()
        put(&queue, "token", .token, "t")
        #expect(send(&queue, .answered(status: status, code: code)) != nil)
        #expect(queue.isKeyRefused == stops)
        queue.resume(at: .zero)
        #expect((queue.next(at: .zero) == nil) == stops)
        queue.keyArrived(at: .zero)
        #expect(stops == (send(&queue) == "token=t"))
    }

    @Test func `where the key has not signed in, the device goes again, and then the upload`() {
        var queue = UploadQueue()
        put(&queue, "device", .device, "d")
        #expect(send(&queue) == "device=d")
        put(&queue, "word", .report, "a")
        let refused = UploadQueue.Outcome.answered(status: 403, code: "key-not-signed-in")
        for round in 0..<2 * UploadQueue.refusedReportsMax {
            let time = 100 * Double(round)
            #expect(send(&queue, refused, at: time) == "word=a")
            #expect(send(&queue, at: time) == "device=d")
        }
        #expect(send(&queue, at: 10_000) == "word=a")
    }

    @Test func `a report that says the same is not sent again`() {
        var queue = UploadQueue()
        put(&queue, "word", .report, "a")
        #expect(send(&queue) == "word=a")
        put(&queue, "word", .report, "a", at: 5)
        #expect(send(&queue, at: 5) == nil)
        queue.finish("word")
        #expect(queue.count == 0)
    }

    @Test func `what fails again after it was resumed waits as long as before`() throws {
        var queue = UploadQueue()
        put(&queue, "token", .token, "t")
        for time in [0, 0.1, 0.3] { try fail(&queue, at: Self.at(time)) }
        #expect(queue.deadline == Self.at(0.7))
        queue.refresh(at: Self.at(0.4))
        #expect(queue.deadline == Self.at(0.7), "a refresh does not hurry what fails")
        queue.resume(at: Self.at(0.4))
        try fail(&queue, at: Self.at(0.4))
        #expect(queue.deadline == Self.at(1.2))
    }
}
