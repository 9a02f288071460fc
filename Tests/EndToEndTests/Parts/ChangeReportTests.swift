import Testing

@testable import TomboloProgram

@Suite struct ChangeReportTests {
    private func text(
        _ decision: String, sending: Int = 0, deferred: Int = 0, skipped: Int = 0
    ) -> String {
        let body = """
            {"activity":"cat","seq":7,"version":2,"status":"active","decision":\(decision),
            "destinations":{"sent":0,"sending":\(sending),"deferred":\(deferred),
            "skipped":\(skipped)},"lint":[]}
            """
        return ChangeReport(Array(body.utf8), name: "cat").text
    }

    @Test func `why a change waits, or was skipped, is said as a sentence`() {
        let until = "2026-11-20T09:03:01.000Z"
        #expect(
            text(
                #"{"action":"deferred","until":"\#(until)","reason":"bucket","reason_text":"Spent."}"#,
                deferred: 1)
                == "cat: version 2, seq 7, active, sent to 0, 1 waiting until \(until)\n"
                + "  waits: Spent.\n")
        #expect(
            text(
                #"{"action":"skipped","reason":"unchanged","reason_text":"It is so already."}"#,
                skipped: 2)
                == "cat: version 2, seq 7, active, sent to 0, 2 skipped\n"
                + "  skipped: It is so already.\n")
        // An older relay has no sentence.
        #expect(
            text(#"{"action":"skipped","reason":"no_route"}"#, skipped: 1).hasSuffix(
                "skipped: no_route\n"))
    }

    @Test func `what Apple refused has its status and reason, and a lint its place`() {
        let body = """
            {"activity":"cat","seq":7,"version":1,"status":"active",
            "destinations":{"sent":1,"deferred":0,"skipped":0},
            "deliveries":[{"device":"p9","result":"rejected","status":400,"reason":"BadDeviceToken",
            "took_ms":1},{"device":"p8","result":"accepted","status":200,"took_ms":2}],
            "lint":[{"code":"c","pointer":"/state/lab","message":"is not a member of the type"},
            {"code":"d","pointer":"","message":"nothing goes"}]}
            """
        #expect(
            ChangeReport(Array(body.utf8), name: "cat").text
                == "cat: version 1, seq 7, active, sent to 1\n"
                + "  p9 rejected (400 BadDeviceToken) in 1 ms\n  p8 accepted in 2 ms\n"
                + "  lint: /state/lab is not a member of the type\n  lint: nothing goes\n")
    }

    @Test func `what goes to a channel goes to nobody that is known`() {
        let body = """
            {"activity":"cat","seq":7,"version":1,"status":"active",
            "destinations":{"sent":1,"deferred":0,"skipped":0},
            "deliveries":[{"channel":"final","route":"channel","result":"accepted","took_ms":2}]}
            """
        #expect(
            ChangeReport(Array(body.utf8), name: "cat").text
                == "cat: version 1, seq 7, active, sent to 1\n"
                + "  final accepted in 2 ms: on the channel; who listens is unknown\n")
    }

    @Test func `a push whose cost is being written down does not wait, it is on its way`() {
        #expect(
            text(#"{"action":"sending"}"#, sending: 1)
                == "cat: version 2, seq 7, active, sent to 0, 1 on the way\n")
    }
}
