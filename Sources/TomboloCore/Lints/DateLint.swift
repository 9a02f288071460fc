import TomboloJSON

/// Finds members that look like a date of another epoch than the app's type decodes.
///
/// A guess by name and size, for states whose type says nothing: it never refuses.
enum DateLint {
    private static let endings = ["date", "_at", "At", "Date", "time", "Time", "deadline", "eta"]

    /// The members of one object; what is nested deeper is left to a registered type.
    static func lints(of state: JSONView, at pointer: String, dates: DateEncoding) -> [Lint] {
        guard state.kind == .object else { return [] }
        return state.members.compactMap { name, value in
            guard endings.contains(where: name.hasSuffix) else { return nil }
            return lint(value, at: ValuePath(pointer).pointer(name), dates: dates)
        }
    }

    /// What a value that is a date would be for the phone; nil where it may be right.
    static func lint(_ value: JSONView, at pointer: String, dates: DateEncoding) -> Lint? {
        if dates != .iso8601, let text = value.string, Instant(rfc3339: text) != nil {
            return Lint(
                .dateInAnotherEpoch, pointer,
                "is text: a default Date is a number, and the push would be dropped; register "
                    + "the type with \"format\":\"date-time\" here and the relay encodes it")
        }
        guard dates == .swiftReference, let number = value.double,
            (1_400_000_000...4_000_000_000).contains(number)
                || (1_400_000_000_000...4_000_000_000_000).contains(number)
        else { return nil }
        return Lint(
            .dateInAnotherEpoch, pointer,
            "looks like Unix time: a default Date counts from 2001, so that the phone would show "
                + "a year 31 later; take off 978307200, or declare dates with the type")
    }
}

extension StateSchema {
    /// What a state as it goes to the phone would meet there: faults, members that the type does
    /// not have, and dates of another epoch.
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

    /// The same schema with dates as they are on the wire.
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

    /// Members that no decoder would look at; the first of them, where there are many.
    func unknownMembers(in value: JSONView, at pointer: String) -> [Lint] {
        var (lints, path) = ([Lint](), ValuePath(pointer))
        collectUnknown(in: value, at: &path, &lints)
        return lints
    }

    /// The lint for a place where the type has no member; empty where it has one.
    ///
    /// - Parameter pointer: where the request names the place.
    func unknownMember(at place: JSONPointer, pointer: String) -> [Lint] {
        var schema = self
        for name in place.tokens {
            guard let next = schema[name] else {
                // Without members of its own, or with elements, it takes anything.
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
                lints.append(
                    Lint(
                        .stateUnknownMember, path.pointer(name),
                        "is not a member of the type: the phone ignores it"
                            + didYouMean(nearest)))
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
