/// An answer of the server itself when no handler could answer (RFC 9457,
/// `application/problem+json`).
package struct HTTPServerProblem: Hashable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// Last part of the problem's `type`. The server has a page for each code.
    package let code: String
    /// What is wrong and what to do.
    package let detail: String

    init(status: Int, code: String, detail: String) {
        self.status = status
        self.code = code
        self.detail = detail
    }

    init(_ refusal: HTTP1Refusal) {
        self.init(
            status: refusal.status, code: refusal.rawValue, detail: refusal.explanation)
    }

    static let bodyTooLarge = HTTPServerProblem(
        status: 413, code: "body-too-large", detail: "Send a smaller body.")
    static let bodyTooSlow = HTTPServerProblem(
        status: 408, code: "body-too-slow", detail: "Send a body at 1 KiB a second or faster.")
    static let headTooSlow = HTTPServerProblem(
        status: 408, code: "head-too-slow", detail: "Send the head of a request within 5 seconds.")
    static let tooMuchUnread = HTTPServerProblem(
        status: 429, code: "overloaded",
        detail: "The answers before this one are unread. Read them, then send the request again.")
    static let shuttingDown = HTTPServerProblem(
        status: 503, code: "shutting-down", detail: "The server is stopping; send it again.")
    static let noAnswer = HTTPServerProblem(
        status: 500, code: "no-answer", detail: "The server failed to answer; its log says why.")

    static let tlsExpected = HTTPServerProblem(
        status: 400, code: "tls-expected",
        detail: "This port speaks TLS. Write https:// in the place of http://.")

    /// All problems, so that each gets a page.
    package static let all =
        HTTP1Refusal.allCases.map(HTTPServerProblem.init(_:)) + [
            bodyTooLarge, bodyTooSlow, headTooSlow, tooMuchUnread, shuttingDown, noAnswer,
            tlsExpected,
        ]

    /// The code as a readable title, such as `Body too large`.
    private var title: String {
        let words = code.split(separator: "-").map { $0 == "tls" ? "TLS" : $0 }
            .joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The problem's page, as plain text.
    package var text: String {
        """
        \(title)
        code \(code), HTTP status \(status)

        Cause
          The server itself refused the request, before any route saw it.

        Fix
          \(detail)

        Command
          curl -v http://127.0.0.1:8780/livez

        """
    }

    var fields: HTTPFields {
        [
            "content-type": "application/problem+json", "cache-control": "no-store",
            "x-content-type-options": "nosniff",
        ]
    }

    /// The complete HTTP/1.1 answer, after which the connection closes.
    var wireForm: [UInt8] {
        let named = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        let length = "content-length: \(body.count)\r\nconnection: close\r\n\r\n"
        return Array("HTTP/1.1 \(status) Bad Request\r\n\(named)\(length)".utf8) + body
    }

    /// The JSON body. All its texts are constants, so none needs escaping.
    var body: [UInt8] {
        Array(
            """
            {"type":"/problems/\(code)","title":"\(title)","status":\(status),"code":"\(code)",\
            "detail":"\(detail)"}

            """.utf8)
    }
}
