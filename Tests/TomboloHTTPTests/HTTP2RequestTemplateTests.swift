import TestSupport
import Testing
import TomboloLoop

@testable import TomboloHTTP

/// Requests from a template, against the server of this package.
struct HTTP2RequestTemplateTests {
    private static func template(
        fields: HTTPFields = ["x-kept": "kept"], keeping: HTTP2RequestTemplate.Keeping = .everything
    ) -> HTTP2RequestTemplate {
        HTTP2RequestTemplate(
            method: "POST", scheme: "http", authority: "localhost", pathPrefix: "/echo/",
            fields: fields,
            varying: [("authorization", .neverIndexed), ("x-number", .nameIndexed)],
            keeping: keeping)
    }

    @Test func `each request has its own path and values, however long they are`() async throws {
        try await withEcho { client, log in
            let template = Self.template()
            for tag in 0..<50 as Range<UInt64> {
                template.begin(path: "\(tag)" + String(repeating: "p", count: Int(tag) * 40))
                template.share(0, tag < 25 ? "first" : "second")
                template.addShared()
                template.add(1, "\(tag * tag)")
                client.submit(
                    template, body: [UInt8]("body \(tag)".utf8), before: .distantFuture, to: log,
                    tag: tag)
            }
            await log.wait(for: 50)
            for tag in 0..<50 as Range<UInt64> {
                guard case .answered(let answer) = log.outcomes[tag] else {
                    Issue.record("\(tag): \(log.kind(tag))")
                    continue
                }
                let path = "/echo/\(tag)" + String(repeating: "p", count: Int(tag) * 40)
                #expect(answer.fields["x-target"] == path)
                #expect(answer.fields["x-authorization"] == (tag < 25 ? "first" : "second"))
                #expect(answer.fields["x-number"] == "\(tag * tag)")
                #expect(answer.fields["x-kept"] == "kept")
                #expect(answer.body == [UInt8]("body \(tag)".utf8))
            }
        }
    }

    @Test func `of a 200 only the status is kept where that was asked for`() async throws {
        try await withEcho { client, log in
            let template = Self.template(keeping: .failures)
            for (tag, path) in ["a", "fail"].enumerated() {
                template.begin(path: path)
                template.share(0, "x")
                template.addShared()
                client.submit(
                    template, body: [1, 2], before: .distantFuture, to: log, tag: UInt64(tag))
            }
            await log.wait(for: 2)
            #expect(
                log.outcomes[0]
                    == .answered(HTTPAnswer(status: 200, fields: HTTPFields(), body: [])))
            guard case .answered(let failure) = log.outcomes[1] else {
                Issue.record("\(log.kind(1))")
                return
            }
            #expect(failure.status == 418)
            #expect(failure.body == [1, 2])
        }
    }

    @Test(arguments: [("a b", "v", "path"), ("a", "v\r\nx: y", "field 'x-number'")])
    func `what would be another request is not sent`(path: String, value: String, part: String)
        async throws
    {
        try await withEcho { client, log in
            let template = Self.template()
            template.begin(path: path)
            template.share(0, "x")
            template.addShared()
            template.add(1, value)
            client.submit(template, body: [], before: .distantFuture, to: log, tag: 0)
            template.begin(path: "good")
            template.share(0, "x\n")
            template.addShared()
            client.submit(template, body: [], before: .distantFuture, to: log, tag: 1)
            template.begin(path: "good")
            template.share(0, "x")
            template.addShared()
            client.submit(template, body: [], before: .distantFuture, to: log, tag: 2)
            await log.wait(for: 3)
            #expect(log.outcomes[0] == .notProcessed(.unsendable(part)))
            #expect(log.outcomes[1] == .notProcessed(.unsendable("field 'authorization'")))
            #expect(log.kind(2) == "200")
        }
    }

    private func withEcho(
        _ body: @escaping @Sendable (HTTP2Client, OutcomeLog) async throws -> Void
    ) async throws {
        try await onLoop { loop in
            let server = try HTTPServer(
                loop: loop, listen: ListenAddress(host: "127.0.0.1", port: 0), tls: nil,
                handler: Echo())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) { try await server.run() }
                let client = try await HTTP2Client.connect(
                    HTTP2Endpoint(scheme: .http, host: "127.0.0.1", port: server.address.port),
                    tls: nil, on: loop, within: .seconds(30))
                try await body(client, OutcomeLog(loop))
                client.close()
                group.cancelAll()
            }
        }
    }

    private struct Echo: HTTPHandler {
        func handle(_ exchange: HTTPExchange) async {
            // A body that does not come ends the exchange, and the test by its outcome.
            guard let body = try? await exchange.body(atMost: 1_000) else { return }
            var fields = HTTPFields()
            fields.append("x-target", exchange.head.target)
            for name in ["x-number", "x-kept"] {
                fields.append(name, exchange.head.fields[name] ?? "none")
            }
            fields.append("x-authorization", exchange.head.fields["authorization"] ?? "none")
            exchange.respond(exchange.head.target.hasSuffix("fail") ? 418 : 200, fields, body)
        }
    }
}
