import Testing

@testable import tombolo

@Suite struct ChangeReportTests {
    private func text(_ decision: String, deferred: Int = 0, skipped: Int = 0) -> String {
        let body = """
            {"activity":"cat","seq":7,"version":2,"status":"active","decision":\(decision),
            "destinations":{"sent":0,"deferred":\(deferred),"skipped":\(skipped)},"lint":[]}
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
}
