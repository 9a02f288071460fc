@testable import TomboloJSON

/// A text as bytes.
func text(_ string: String) -> [UInt8] { Array(string.utf8) }

func document(_ string: String, comments: Bool = false) throws -> JSONDocument {
    try JSONDocument(text(string), comments: comments)
}

func json(_ string: String) throws -> JSON { try JSON(validating: text(string)) }

/// The fault that scanning finds, nil if there is none.
func fault(
    _ bytes: [UInt8], limits: JSONLimits = JSONLimits(), comments: Bool = false
) -> JSONError? {
    do {
        _ = try JSONDocument(bytes, limits: limits, comments: comments)
        return nil
    } catch {
        return error
    }
}

func fault(_ string: String, comments: Bool = false) -> JSONError? {
    fault(text(string), comments: comments)
}

/// SplitMix64: the same numbers from the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Valid texts that mutation starts from.
let seedTexts = [
    #"{"app":"cat","id":"run-7","state":{"phase":"running","frame":12,"speed":3.25,"next":null}}"#,
    #"[0,-0,1,-1,1.5,1e3,1E+3,1e-3,12345678901234567890,1.0,0.1,-0.0e0,9223372036854775807]"#,
    #"["","a","\"\\\/\b\f\n\r\t","\u0000\u00e9\ud83d\ude00","über 𝄞 \u20AC","\u007f"]"#,
    "{ \"a\" : { \"b\" : [ { } , [ ] , true , false , null ] } ,\r\n\t\"c\" : \"d\" }\n",
    #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"#
        + #""n":14,"o":15,"p":16,"q":17,"r":18}"#,
    #"{"":0," ":1,"a/b":2,"m~n":3,"\u0061":4,"k\"l":5,"i\\j":6,"~1":7,"é":8}"#,
    #"[[[[[[[[1],2],3],4],[[]]]],{"x":{"x":{"x":{}}}}]]"#,
    " true ", "null", "\"x\"", "-12.75e-2", "{}", "[]",
]

/// One of the seed texts with up to four changes: bytes replaced, inserted, removed, doubled, cut.
func mutatedText(_ generator: inout SeededGenerator) -> [UInt8] {
    let fragments = [
        "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "-", "+", ".", "e", "E", "/", " ", "\n",
        "\t",
        "true", "null", "NaN", "\\u", "\\ud83d", "\\ude00", "\\u0061", "\"a\":", ",\"b\":1", "é",
        "😀",
        "\u{FEFF}", "\0", "9999999999999999999", "e400", "0.0", "//", "/**/", "[[", "{}",
    ].map(text)
    var bytes = text(seedTexts.randomElement(using: &generator) ?? "")
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
        let place = Int.random(in: 0...bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 0...6, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes.removeSubrange(place..<end)
        case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 3 where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 4: bytes.removeSubrange(place...)
        default:
            bytes.insert(contentsOf: fragments.randomElement(using: &generator) ?? [], at: place)
        }
    }
    return bytes
}
