import TomboloHTTP

/// What a parser made of some bytes, told shortly: `GET /path`, `"body"`, `end`, `! refusal`.
func read(_ text: String, inPiecesOf size: Int = .max) -> [String] {
    var parser = HTTP1RequestParser()
    var told: [String] = []
    var body: [UInt8] = []
    func tell(_ word: String) {
        if !body.isEmpty { told.append("\"\(String(decoding: body, as: UTF8.self))\"") }
        body = []
        told.append(word)
    }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        parser.append(rest.prefix(size))
        rest = rest.dropFirst(size)
        while let event = parser.next() {
            switch event {
            case .head(let request): tell("\(request.method) \(request.target)")
            case .body(let piece): body += piece
            case .end: tell("end")
            case .refused(let refusal): tell("! \(refusal.rawValue)")
            }
        }
    }
    if !body.isEmpty { tell("…") }
    return told
}

/// The refusal with which the bytes end, or nil.
func refusal(_ text: String, inPiecesOf size: Int = .max) -> HTTP1Refusal? {
    read(text, inPiecesOf: size).last.flatMap { word in
        word.hasPrefix("! ") ? HTTP1Refusal(rawValue: String(word.dropFirst(2))) : nil
    }
}

/// The head that stands first in the bytes.
func firstHead(_ text: String) -> HTTP1Request? {
    var parser = HTTP1RequestParser()
    parser.append(Array(text.utf8))
    guard case .head(let request)? = parser.next() else { return nil }
    return request
}
