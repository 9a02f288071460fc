import TomboloJSON

/// Finds values, at any depth, that are probably dates in another form than the app decodes.
///
/// It is for states whose type has no schema. It guesses by the value, so it only warns.
enum DateLint {
    /// Seconds from 1970 to 2001, the reference date of Foundation.
    private static let referenceOffset: Double = 978_307_200
    /// Unix seconds from 2014 to 2096.
    private static let unixSeconds: ClosedRange<Double> = 1_400_000_000...4_000_000_000

    /// False if no value of a JSON text can be such a date: a number that large has ten digits or
    /// an exponent, a time has a hyphen behind a digit, and an escape may be any character. Without
    /// a branch for each byte, the processor looks at many at once.
    static func mayBeIn(_ text: [UInt8]) -> Bool {
        text.withUnsafeBufferPointer { text in
            var found: UInt8 = 0
            for place in 1..<max(1, text.count) {
                let byte = text[place]
                let follows: UInt8 =
                    (byte | 0x20 == UInt8(ascii: "e") ? 1 : 0)
                    | (byte == UInt8(ascii: "-") ? 1 : 0)
                found |= byte == UInt8(ascii: "\\") ? 1 : 0
                found |= follows & digit(text[place &- 1])
            }
            for place in 9..<max(9, text.count) {
                found |=
                    digit(text[place]) & digit(text[place &- 4]) & digit(text[place &- 9])
            }
            return found != 0
        }
    }

    /// 1 for a digit, else 0.
    @inline(__always)
    private static func digit(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "0") < 10 ? 1 : 0 }

    /// Returns at most `Lint.countMax` lints.
    static func lints(of state: JSONView, at pointer: String, dates: DateEncoding) -> [Lint] {
        var (lints, path) = ([Lint](), ValuePath(pointer))
        collect(state, at: &path, dates, &lints)
        return lints
    }

    private static func collect(
        _ value: JSONView, at path: inout ValuePath, _ dates: DateEncoding, _ lints: inout [Lint]
    ) {
        guard lints.count < Lint.countMax else { return }
        switch value.kind {
        case .object:
            for (name, member) in value.members {
                path.enter(.name(name))
                collect(member, at: &path, dates, &lints)
                path.leave()
            }
        case .array:
            for (index, element) in value.elements.enumerated() {
                path.enter(.index(index))
                collect(element, at: &path, dates, &lints)
                path.leave()
            }
        case .number, .string:
            if let lint = lint(value, at: path.pointer(nil), dates: dates) { lints.append(lint) }
        case .bool, .null: break
        }
    }

    /// The lint for a value that the phone would decode as another date; nil if the value may be
    /// right.
    static func lint(_ value: JSONView, at pointer: String, dates: DateEncoding) -> Lint? {
        if dates != .iso8601, let text = value.string, let date = Instant(rfc3339: text) {
            let number = Int64(Double(date.seconds) - referenceOffset)
            return Lint(
                .dateInAnotherEpoch, pointer,
                "is text: a Swift Date is a number there (\(number) for this time), and the push "
                    + "would be dropped; register the type with \"format\":\"date-time\" here and "
                    + "the relay encodes it, or ignore this where the app reads text")
        }
        guard dates == .swiftReference, let number = value.double else { return nil }
        let seconds = unixSeconds.contains(number / 1_000) ? number / 1_000 : number
        guard unixSeconds.contains(seconds) else { return nil }
        // A Gregorian year has 31,556,952 seconds on average.
        let shown =
            number == seconds
            ? Instant(seconds: Int64(number + referenceOffset)).rfc3339InSeconds
            : "the year \(2001 + Int64(number / 31_556_952))"
        return Lint(
            .dateInAnotherEpoch, pointer,
            "looks like Unix time: a Swift Date counts seconds from 2001 and reads \(shown); send "
                + "\(Int64(seconds - referenceOffset)), or declare dates with the type")
    }
}

extension StateSchema {
    /// Lints for a state as the phone decodes it: values that do not match the schema, and dates in
    /// another epoch.
    func phoneFaults(
        in state: JSONView, _ dates: DateEncoding, _ pointer: String
    ) -> [Lint] {
        var lints = forPhone(dates).faults(in: state, at: pointer).map {
            Lint(
                .stateDoesNotDecode, $0.pointer, $0.message + "; the phone would drop the push")
        }
        lints += epochLints(state, dates, pointer)
        return lints
    }

    /// The schema in which dates have the encoding that the payload has.
    private func forPhone(_ dates: DateEncoding) -> StateSchema {
        guard hasDates, dates != .iso8601 else { return self }
        var schema = self
        if isDate {
            schema.isDate = false
            schema.kinds = kinds.contains(.null) ? [.number, .null] : [.number]
        }
        schema.properties = properties.map {
            Property(name: $0.name, schema: $0.schema.forPhone(dates))
        }
        schema.items = items.map { $0.forPhone(dates) }
        schema.finish()
        return schema
    }

    private func epochLints(
        _ value: JSONView, _ dates: DateEncoding, _ pointer: String
    ) -> [Lint] {
        if isDate { return DateLint.lint(value, at: pointer, dates: dates).map { [$0] } ?? [] }
        guard hasDates, value.kind == .object else { return [] }
        return value.members.flatMap { name, member in
            self[name]?.epochLints(member, dates, ValuePath(pointer).pointer(name)) ?? []
        }
    }

    /// Lints for members that the schema does not have, so that no app reads them; at most
    /// `Lint.countMax`.
    func unknownMembers(in value: JSONView, at pointer: String) -> [Lint] {
        var (lints, path) = ([Lint](), ValuePath(pointer))
        collectUnknown(in: value, at: &path, &lints)
        return lints
    }

    /// A lint if the schema has no member at this place; else empty.
    ///
    /// - Parameter pointer: where the request names the place.
    func unknownMember(at place: JSONPointer, pointer: String) -> [Lint] {
        var schema = self
        for name in place.tokens {
            guard let next = schema[name] else {
                // A schema without named members accepts any.
                guard !schema.properties.isEmpty else { return [] }
                let nearest = nearestName(to: name, among: schema.properties.lazy.map(\.name))
                return [
                    Lint(
                        .stateUnknownMember, pointer,
                        "\"\(name)\" is not a member of the type: the phone ignores it"
                            + didYouMean(nearest))
                ]
            }
            schema = next
        }
        return []
    }

    private func collectUnknown(
        in value: JSONView, at path: inout ValuePath, _ lints: inout [Lint]
    ) {
        guard namesMembers else { return }
        switch value.kind {
        case .object:
            guard !properties.isEmpty else { return }
            for (name, member) in value.members {
                guard lints.count < Lint.countMax else { return }
                if let schema = self[name] {
                    path.enter(.name(name))
                    schema.collectUnknown(in: member, at: &path, &lints)
                    path.leave()
                    continue
                }
                let nearest =
                    lints.count < suggestionsMax
                    ? nearestName(to: name, among: properties.lazy.map(\.name)) : nil
                lints.warn(
                    .stateUnknownMember, path.pointer(name),
                    "is not a member of the type: the phone ignores it"
                        + didYouMean(nearest))
            }
        case .array:
            guard let schema = items.first else { return }
            for (index, element) in value.elements.enumerated() {
                guard lints.count < Lint.countMax else { return }
                path.enter(.index(index))
                schema.collectUnknown(in: element, at: &path, &lints)
                path.leave()
            }
        default: break
        }
    }
}
