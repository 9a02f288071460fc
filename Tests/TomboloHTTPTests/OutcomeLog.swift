import TomboloHTTP
import TomboloLoop

/// Collects outcomes by tag, and notes whether one came twice.
final class OutcomeLog: HTTP2AnswerReceiver, @unchecked Sendable {  // used on its loop only
    private(set) var outcomes: [UInt64: HTTP2Outcome] = [:]
    private(set) var twice: [UInt64] = []
    var onAnswer: (UInt64, HTTP2Outcome) -> Void = { _, _ in }
    private let parking: Parking

    init(_ loop: EpollLoop) { parking = Parking(loop) }

    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome) {
        if outcomes[tag] != nil { twice.append(tag) }
        outcomes[tag] = outcome
        onAnswer(tag, outcome)
        parking.unpark()
    }

    func wait(for count: Int) async {
        while outcomes.count < count { await parking.park() }
    }

    func kind(_ tag: UInt64) -> String {
        switch outcomes[tag] {
        case nil: "open"
        case .answered(let answer): "\(answer.status)"
        case .notProcessed: "not processed"
        case .unknown: "unknown"
        }
    }
}

extension HTTP2Request {
    static func post(_ path: String = "/", body: [UInt8] = Array("{}".utf8)) -> HTTP2Request {
        HTTP2Request(
            method: "POST", scheme: "http", authority: "localhost", path: path,
            fields: ["content-type": "application/json"], body: body)
    }

    static func get(_ path: String = "/") -> HTTP2Request {
        HTTP2Request(method: "GET", scheme: "http", authority: "localhost", path: path)
    }
}
