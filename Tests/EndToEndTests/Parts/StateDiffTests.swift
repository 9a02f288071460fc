import Testing
import TomboloJSON

@testable import TomboloProgram

@Suite struct StateDiffTests {
    private func diff(_ before: String, _ after: String) throws -> [String] {
        let (old, new) = (
            try JSON(validating: Array(before.utf8)), try JSON(validating: Array(after.utf8))
        )
        return StateDiff(from: old.document.root, to: new.document.root).changes.map { change in
            let sides = [change.before, change.after].map { side in
                side.map { String(decoding: $0.raw, as: UTF8.self) } ?? "none"
            }
            return "\(change.pointer) \(sides[0]) \(sides[1])"
        }
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1}"#, []),
        (#"{"a":1,"b":"x"}"#, #"{"b":"x", "a":1}"#, []),
        (#"{"a":"\u00e9"}"#, #"{"a":"é"}"#, []),
        (#"{"a":1}"#, #"{"a":1.0}"#, ["/a 1 1.0"]),
        (#"{"a":1}"#, #"{"a":"1"}"#, [#"/a 1 "1""#]),
        (#"{"a":null}"#, #"{}"#, ["/a null none"]),
        (#"{}"#, #"{"a":null}"#, ["/a none null"]),
        (
            #"{"a":{"b":1,"c":2},"d":3}"#, #"{"e":4,"a":{"c":5},"d":3}"#,
            ["/a/b 1 none", "/a/c 2 5", "/e none 4"]
        ),
        (#"{"a":[1,2,3]}"#, #"{"a":[1,4]}"#, ["/a/1 2 4", "/a/2 3 none"]),
        (#"{"a":[1]}"#, #"{"a":{"0":1}}"#, [#"/a [1] {"0":1}"#]),
        (#"{"x/y":{"~":1}}"#, #"{"x/y":{"~":2}}"#, ["/x~1y/~0 1 2"]),
        (#"{"a":[]}"#, #"{"a":[{}]}"#, ["/a/0 none {}"]),
    ])
    func `each place that differs is a change, and no other`(
        _ before: String, _ after: String, _ expected: [String]
    ) throws {
        #expect(try diff(before, after) == expected)
    }
}
