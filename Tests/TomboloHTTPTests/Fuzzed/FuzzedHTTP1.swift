import TomboloHTTP

/// Any bytes as requests of HTTP/1.1: however they are cut, the same is read. Traps where not.
///
/// Run by `deploy/fuzz http1` with bytes of the fuzzer's choice, by a test with those that it kept.
func fuzzHTTP1(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let text = bytes.dropFirst()
    let whole = events(text, inPiecesOf: max(1, text.count))
    let cut = events(text, inPiecesOf: Int(first % 16) + 1)
    precondition(whole == cut, "cut into pieces it reads otherwise")
}

private func events(_ bytes: ArraySlice<UInt8>, inPiecesOf size: Int) -> [String] {
    var parser = HTTP1RequestParser()
    var told: [String] = []
    var body: [UInt8] = []
    var rest = bytes
    func endBody() {
        if !body.isEmpty { told.append("\(body)") }
        body = []
    }
    while !rest.isEmpty {
        parser.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let event = parser.next() {
            switch event {
            case .head(let request): told.append("\(request)")
            case .body(let piece): body += piece
            case .end:
                endBody()
                told.append("end")
            case .refused(let refusal):
                endBody()
                told.append("\(refusal)")
            }
        }
    }
    endBody()
    return told
}
