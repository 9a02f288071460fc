import Testing
import TomboloContract
import TomboloJSON

/// What the kit for phones leaves to the contract: answers, tokens of an extension, the
/// environment, and a widget's entries.
@Suite struct KitHalfTests {
    @Test(arguments: [
        (nil, "", UploadQueue.Outcome.unreachable),
        (200, "{}", .answered(status: 200, code: nil)),
        (
            403, #"{"code":"key-of-former-user"}"#,
            .answered(status: 403, code: "key-of-former-user")
        ),
        (502, "<html>", .answered(status: 502, code: nil)),
    ])
    func `an answer is an outcome`(status: Int?, body: String, outcome: UploadQueue.Outcome) {
        #expect(UploadQueue.Outcome(status: status, body: Array(body.utf8)) == outcome)
    }

    @Test func `an extension uploads a token without a queue`() throws {
        let time = "2026-11-28T09:00:00Z"
        let widget = try #require(
            UploadQueue.token("a1", name: "widget", device: "phone 1", time: time))
        #expect(widget.path == "/devices/phone%201/tokens/widget")
        let body = try JSONDocument(widget.body).root
        #expect(body["token"]?.string == "a1" && body["observed_at"]?.string == time)
        let control = try #require(
            UploadQueue.token("b2", name: "control:Door", device: "a", time: time))
        #expect(control.path == "/devices/a/tokens/control:Door")
        #expect(UploadQueue.token("", name: "widget", device: "a", time: time) == nil)
    }

    @Test func `a key that is refused at once is asked for once`() throws {
        let facts = DeviceFacts(app: "a", environment: "sandbox", os: "26.1", frequentUpdates: true)
        var contract = AppContract(device: "phone-1", facts: facts)
        func answered(_ status: Int) throws -> [AppAction] {
            let next = contract.queue.next(at: .zero)
            let upload = try #require(next)
            return contract.answered(upload, .answered(status: status), at: .zero)
        }
        _ = contract.handle(.launched, at: .zero, time: "")
        #expect(try answered(401) == [.askForKey])
        _ = contract.handle(.signedIn(user: nil), at: .zero, time: "")
        #expect(try answered(401) == [])
        // The next time in front asks again; a key that works may be over later.
        let inFront = contract.handle(.scene(.active), at: .zero, time: "")
        #expect(inFront.contains(.askForKey))
        _ = contract.handle(.signedIn(user: nil), at: .zero, time: "")
        #expect(try answered(200) == [])
        _ = contract.handle(.scene(.background), at: .zero, time: "")
        #expect(try answered(401) == [.askForKey])
    }

    private static let facts = DeviceFacts(
        app: "a", environment: "sandbox", os: "26.1", frequentUpdates: true)

    /// Launches the contract, and answers what is sent until nothing is due.
    private func launched(_ contract: inout AppContract, _ outcome: UploadQueue.Outcome) -> [String]
    {
        _ = contract.handle(.launched, at: .zero, time: "")
        _ = contract.handle(.startToken(type: "A", "a1"), at: .zero, time: "2026-11-28T09:00:00Z")
        var paths: [String] = []
        while let upload = contract.queue.next(at: .zero) {
            paths.append(upload.path)
            _ = contract.answered(upload, outcome, at: .zero)
        }
        return paths
    }

    @Test func `a token does not wait for a device that the relay knows`() {
        var first = AppContract(device: "b", facts: Self.facts)
        #expect(launched(&first, .unreachable) == ["/devices/b"])
        var known = AppContract(device: "b", facts: Self.facts)
        #expect(launched(&known, .answered(status: 200)).count == 2)
        var again = AppContract(device: "b", facts: Self.facts, kept: known.kept)
        #expect(launched(&again, .unreachable).contains("/devices/b/tokens/start:A"))
        // Another phone, to which a backup was restored, has nothing of the first one.
        var other = AppContract(device: "c", facts: Self.facts, kept: known.kept)
        #expect(launched(&other, .answered(status: 200)).allSatisfy { $0.hasPrefix("/devices/c") })
    }

    @Test func `a former key's refusal does not stop the newest one`() throws {
        var contract = AppContract(device: "b", facts: Self.facts)
        _ = contract.handle(.launched, at: .zero, time: "")
        let next = contract.queue.next(at: .zero)
        let upload = try #require(next)
        _ = contract.handle(.signedIn(user: nil), at: .zero, time: "")
        #expect(contract.answered(upload, .answered(status: 401), at: .zero) == [])
        #expect(!contract.queue.isKeyRefused)
    }

    @Test func `an app without users leaves the cards of a former user`() throws {
        var contract = AppContract(device: "b", facts: Self.facts)
        _ = contract.handle(.launched, at: .zero, time: "")
        _ = contract.handle(.appeared(SeenCard(id: "1", name: "order")), at: .zero, time: "")
        let next = contract.queue.next(at: .zero)
        let upload = try #require(next)
        let refused = UploadQueue.Outcome.answered(status: 403, code: "key-of-former-user")
        #expect(contract.answered(upload, refused, at: .zero) == [.askForKey])
        #expect(contract.handle(.networkReturned, at: .zero, time: "") == [.askForKey])
        #expect(contract.handle(.signedIn(user: nil), at: .zero, time: "") == [.end(card: "1")])
        #expect(contract.handle(.signedIn(user: nil), at: .zero, time: "") == [])
    }

    @Test func `a report outlives a relay that is away, and not one that refuses it`() {
        for (status, stays) in [(503, true), (429, true), (502, true), (422, false)] {
            var queue = UploadQueue()
            queue.put("/a", .report, [1], isLast: true, at: .zero)
            var now = Duration.zero
            for _ in 0..<UploadQueue.refusedReportsMax {
                now += .seconds(60)
                guard let upload = queue.next(at: now) else { continue }
                queue.ended(upload, .answered(status: status), at: now)
            }
            #expect((queue.count == 1) == stays, "\(status)")
        }
    }

    @Test func `a late refusal of a former key says nothing about its user`() throws {
        var contract = AppContract(device: "b", facts: Self.facts)
        _ = contract.handle(.launched, at: .zero, time: "")
        _ = contract.handle(.scene(.active), at: .zero, time: "")
        _ = contract.handle(.appeared(SeenCard(id: "1", name: "order")), at: .zero, time: "")
        let next = contract.queue.next(at: .zero)
        let upload = try #require(next)
        _ = contract.handle(.signedIn(user: nil), at: .zero, time: "")
        let refused = UploadQueue.Outcome.answered(status: 403, code: "key-of-former-user")
        #expect(contract.answered(upload, refused, at: .zero) == [])
        #expect(contract.handle(.signedIn(user: nil), at: .zero, time: "") == [])
        // For another user the phase of now goes again.
        _ = contract.handle(.signedIn(user: "a"), at: .zero, time: "")
        #expect(!contract.handle(.signedIn(user: "b"), at: .zero, time: "").isEmpty)
        #expect(contract.queue.paths(of: .presence, waiting: true) == ["/devices/b/presence"])
    }

    @Test func `only tokens may arrive late`() {
        var queue = UploadQueue()
        queue.put("/a", .token, [], at: .zero)
        queue.put("/b", .report, [], at: .zero)
        let kinds = [queue.next(at: .zero), queue.next(at: .zero)].compactMap { $0?.mayBeLate }
        #expect(kinds == [true, false])
    }

    @Test(arguments: [
        (nil, "production"), ("", "production"),
        ("\u{1}<key>aps-environment</key>\n\t<string>development</string>\u{2}", "sandbox"),
        ("<key>aps-environment</key><string>production</string>", "production"),
        ("<key>other</key><string>development</string>", "production"),
        ("<key>aps-environment</key>", "production"),
    ])
    func `the environment is that of the profile`(profile: String?, environment: String) {
        #expect(
            DeviceFacts.environment(ofProfile: profile.map { Array($0.utf8) }) == environment)
    }

    @Test func `a timeline is read with its pictures`() throws {
        let text = #"""
            {"entries":[{"date":"2026-11-20T09:03:00Z","content":{"name":"Ada","image":
            "https://a.example/ada.png?s=2","page":"https://a.example/","old":"http://a.example/b.png",
            "list":["https://a.example/c.JPG"]},"url":"app://me","links":["app://me"],"relevance":0.5,
            "provisional":false},{"date":1}],"policy":{"after":"2026-11-21T09:03:00Z"}}
            """#
        let known = try #require(WidgetEntries(Array(text.utf8)))
        let entry = try #require(known.entries.first)
        #expect(known.entries.count == 1 && known.after == "2026-11-21T09:03:00Z")
        #expect(!known.isAtEnd)
        #expect(entry.pictures == ["https://a.example/ada.png?s=2", "https://a.example/c.JPG"])
        #expect(entry.url == "app://me" && entry.links == ["app://me"] && entry.relevance == 0.5)
        #expect(WidgetEntries(Array(#"{"entries":[],"policy":"atEnd"}"#.utf8))?.isAtEnd == true)
        #expect(WidgetEntries(Array("<html>".utf8)) == nil)
    }

    @Test func `an entry has at most so many pictures`() {
        let list = (0...WidgetEntries.picturesMax).map { "\"https://a.example/\($0).png\"" }
        let content = "{\"list\":[\(list.joined(separator: ","))]}"
        let text = "{\"entries\":[{\"date\":\"d\",\"content\":\(content)}],\"policy\":\"never\"}"
        let known = WidgetEntries(Array(text.utf8))
        #expect(known?.entries.first?.pictures.count == WidgetEntries.picturesMax)
    }

    @Test func `what is kept goes when the key is refused`() {
        let (old, new): ([UInt8], [UInt8]) = ([1], [2])
        func kept(_ status: Int?, before: [UInt8]?) -> [UInt8]? {
            WidgetEntries.kept(status: status, body: new, before: before)
        }
        #expect(kept(200, before: old) == new)
        #expect(kept(401, before: old) == nil && kept(403, before: old) == nil)
        #expect(kept(nil, before: old) == old && kept(503, before: old) == old)
        #expect(kept(nil, before: nil) == [])
        #expect(WidgetEntries(kept(404, before: old) ?? []) == .empty)
    }
}
