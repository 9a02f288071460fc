import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON

@Suite struct CloudEventTests {
    private func fault(_ members: String) -> Problem? {
        let text =
            #"{"specversion":"1.0","id":"e1","source":"/a","type":"tombolo.end","subject":"c"\#(members)}"#
        do {
            _ = try EventLine(cloudEvent: Array(text.utf8))
            return nil
        } catch {
            return error.problem
        }
    }

    @Test(arguments: [
        #","data":{"dismiss":"now"}"#, #","datacontenttype":null"#,
        #","datacontenttype":"application/json; charset=utf-8""#, #","data_base64":null"#,
        #","datacontenttype":"application/vnd.shop+json""#, #","time":7,"extension":true"#,
        #","datacontenttype":"text/plain""#, #","datacontenttype":1,"data":{}"#,
        #","data_base64":"e30=","data":{}"#,
    ])
    func `an event of the JSON format is read`(_ members: String) {
        #expect(fault(members) == nil)
    }

    @Test(arguments: [
        (#","data":"{}""#, "/data"), (#","data":null"#, "/data"),
        (#","data":{"dismiss":7}"#, "/data/dismiss"),
        (#","data":{"\u0000":7}"#, "/data/\u{0}"), (#","data_base64":"e30=""#, "/data_base64"),
        (#","datacontenttype":"text/plain","data":"{}""#, "/datacontenttype"),
        (#","datacontenttype":1,"data":"{}""#, "/datacontenttype"),
    ])
    func `a fault is named by its place in the event`(_ members: String, _ pointer: String) {
        #expect(fault(members)?.errors.map(\.pointer) == [pointer])
    }

    @Test func `an event has at most its number of attributes`() {
        let most = (6...EventLine.attributesMax).map { #","x\#($0)":1"# }.joined()
        #expect(fault(most) == nil)
        #expect(fault(most + #","y":1"#)?.detail.contains("more than 64 attributes") == true)
    }

    @Test func `a body is as deep as in a single call`() {
        func data(_ depth: Int) -> String {
            #","data":{"state":"#
                + String(repeating: #"{"a":"#, count: depth - 1) + "1"
                + String(repeating: "}", count: depth)
        }
        #expect(fault(data(JSONLimits.receivedDepthMax)) == nil)
        #expect(fault(data(JSONLimits.receivedDepthMax + 1))?.code == .invalidJSON)
    }

    @Test(arguments: ["\\u0000", "a\\nb", "\\u0085"])
    func `an attribute has no control characters`(_ id: String) {
        let text =
            #"{"specversion":"1.0","id":"\#(id)","source":"/a","type":"tombolo.end","subject":"c"}"#
        let fault = #expect(throws: EventLine.Fault.self) {
            try EventLine(cloudEvent: Array(text.utf8))
        }
        #expect(fault?.problem.errors.map(\.pointer) == ["/id"])
    }
}
