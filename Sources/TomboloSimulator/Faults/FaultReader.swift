import TomboloJSON

/// Reads the members of one fault rule. Each method returns nil if the member is missing.
struct FaultReader {
    let view: JSONView
    let pointer: String

    func path(_ name: String) -> String { pointer + "/" + name }

    /// Throws unless the view is an object whose members are all in `names`.
    func checkMembers(_ names: [String]) throws(FaultScriptError) {
        guard view.kind == .object else {
            throw FaultScriptError(pointer, "must be an object")
        }
        for (name, _) in view.members where !names.contains(name) {
            throw FaultScriptError(
                path(name), "is unknown; a rule has " + names.joined(separator: ", "))
        }
    }

    func string(_ name: String) throws(FaultScriptError) -> String? {
        try value(name, "must be a string") { $0.string }
    }

    func bool(_ name: String) throws(FaultScriptError) -> Bool? {
        try value(name, "must be true or false") { $0.bool }
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(FaultScriptError) -> Int? {
        let message = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        return try value(name, message) { view in
            view.integer.map { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// The rule's target. If it is missing, `device`; for the value `any`, nil.
    func target(_ name: String) throws(FaultScriptError) -> FaultRule.Target? {
        let choices = FaultRule.Target.allCases.map(\.rawValue) + ["any"]
        let message = "must be one of " + choices.joined(separator: ", ")
        let given = try value(name, message) { view in
            view.string.flatMap { choices.contains($0) ? $0 : nil }
        }
        return given == nil ? .device : given.flatMap(FaultRule.Target.init(rawValue:))
    }

    /// Reads a fraction above 0 and at most 1.
    func share(_ name: String) throws(FaultScriptError) -> Double? {
        try value(name, "must be a number above 0 and at most 1") { view in
            view.double.flatMap { $0 > 0 && $0 <= 1 ? $0 : nil }
        }
    }

    /// Reads a duration such as `"90s"`: a whole number with `ms`, `s`, `m` or `h`, at most a year.
    func duration(_ name: String) throws(FaultScriptError) -> Duration? {
        try value(name, "must be a duration such as \"250ms\", \"30s\", \"10m\" or \"8h\"") {
            $0.string.flatMap(Self.duration)
        }
    }

    static func duration(_ text: String) -> Duration? {
        let units: [(String, Duration)] = [
            ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)),
            ("h", .seconds(3_600)),
        ]
        guard let (unit, length) = units.first(where: { text.hasSuffix($0.0) }),
            let count = Int(text.dropLast(unit.count)), count >= 0, count <= 31_536_000_000
        else { return nil }
        let duration = length * count
        return duration <= .seconds(31_536_000) ? duration : nil
    }

    /// Reads an error code: the name of a code of RFC 9113, 7, or any number.
    func resetCode(_ name: String) throws(FaultScriptError) -> UInt32? {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT", "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL",
            "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        ]
        return try value(name, "must be a code of RFC 9113 such as \"REFUSED_STREAM\"") { view in
            if let number = view.integer { return UInt32(exactly: number) }
            return view.string.flatMap { names.firstIndex(of: $0) }.map { UInt32($0) }
        }
    }

    private func value<Value>(
        _ name: String, _ message: String, _ read: (JSONView) -> Value?
    ) throws(FaultScriptError) -> Value? {
        guard let member = view[name] else { return nil }
        guard let value = read(member) else { throw FaultScriptError(path(name), message) }
        return value
    }
}
