@testable import TomboloHTTP

/// Any bytes as what a server of HTTP/2 sends to a client with four requests open: each ends in
/// exactly one outcome. Traps where not.
///
/// Run by `deploy/fuzz client` with bytes of the fuzzer's choice, by a test with those that it
/// kept.
func fuzzClient(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let rig = FuzzedClient()
    for _ in 0..<2 { rig.submit() }
    let size = Int(first % 32) + 1
    var rest = bytes.dropFirst()
    while !rest.isEmpty, !rig.hasFailed {
        rig.receive(rest.prefix(size))
        rest = rest.dropFirst(size)
    }
    rig.finish()
}

private final class FuzzedClient: HTTP2AnswerReceiver {
    private let session = HTTP2ClientSession(limits: HTTP2ClientLimits())
    private let template = HTTP2RequestTemplate(
        method: "POST", scheme: "https", authority: "a", pathPrefix: "/3/device/",
        fields: ["apns-priority": "10"],
        varying: [("authorization", .neverIndexed), ("apns-id", .nameIndexed)],
        keeping: .failures)
    private let output = OutputBuffer()
    private var outcomes: [UInt64: Int] = [:]
    private var submitted: UInt64 = 0
    private var sent: UInt64 = 0
    private(set) var hasFailed = false

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {}

    /// A request from a template and another one, the second with more of a body than a window.
    func submit() {
        template.begin(path: "aa")
        template.share(0, "bearer x")
        template.addShared()
        template.add(1, "\(submitted)")
        if session.submit(template, body: [1, 2, 3], deadline: .max, tag: submitted) == nil {
            submitted += 1
        }
        let request = HTTP2Request(
            method: "POST", scheme: "https", authority: "a", path: "/",
            body: [UInt8](repeating: 65, count: 70_000))
        let result = session.submit(request, deadline: .max, receiver: self, tag: submitted)
        if case .success = result { submitted += 1 }
        flush()
    }

    func receive(_ bytes: ArraySlice<UInt8>) {
        if bytes.withUnsafeBytes({ session.receive($0) }) != nil { hasFailed = true }
        flush()
        collect()
    }

    private func flush() {
        while !hasFailed {
            output.removeAll()
            if session.fill(output) != nil { hasFailed = true }
            sent += UInt64(output.count)
            if output.isEmpty { return }
        }
    }

    private func collect() {
        var batch: [HTTP2ClientSession.Finished] = []
        session.takeFinished(into: &batch)
        for finished in batch { outcomes[finished.tag, default: 0] += 1 }
        var accepted: [UInt64] = []
        session.takeAccepted(into: &accepted)
        for tag in accepted { outcomes[tag, default: 0] += 1 }
    }

    func finish() {
        session.terminate()
        flush()
        session.end(.closedHere, sentBytes: sent)
        collect()
        precondition(session.openCount == 0, "a slot is left")
        for tag in 0..<submitted {
            precondition(outcomes[tag] == 1, "request \(tag): \(outcomes[tag] ?? 0) outcomes")
        }
    }
}
