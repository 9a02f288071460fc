import TomboloCore
import TomboloJSON

extension Setting {
    /// Reads the value into `owner`. If the value is missing, `owner` stays unchanged. A fault is
    /// added to the reader.
    func read(_ reader: inout FieldReader, into owner: inout Owner, directory: String) {
        switch form {
        case .address(let path): set(path, address(&reader), &owner)
        case .count(let path, let range):
            set(path, reader.integer(name, in: range).map { Int($0) }, &owner)
        case .duration(let path, let range): set(path, reader.span(name, in: range), &owner)
        case .environment(let path):
            set(path, APNsEnvironment.reading(name, &reader), &owner)
        case .file(let path):
            set(path, text(&reader).map { Configuration.path($0, in: directory) }, &owner)
        case .fileIfAny(let path):
            set(path, reader.string(name).map { Configuration.path($0, in: directory) }, &owner)
        case .flag(let path): set(path, reader.bool(name), &owner)
        case .logFormat(let path):
            let choices = OperatorLogFormat.allCases.map { ($0.rawValue, $0) }
            set(path, reader.choice(name, choices), &owner)
        case .origin(let path): set(path, origin(&reader), &owner)
        case .perHour(let path, let range):
            if reader.isNull(name) {
                owner[keyPath: path] = nil
            } else {
                set(path, perHour(&reader, range), &owner)
            }
        case .tenant(let path): set(path, reader.identifier(name).map { TenantID($0) }, &owner)
        case .text(let path): set(path, text(&reader), &owner)
        case .choice(let path, let words):
            set(path, reader.choice(name, words.map { ($0, $0) }), &owner)
        case .choiceIfAny(let path, let words):
            set(path, reader.choice(name, words.map { ($0, $0) }), &owner)
        case .word(let path): set(path, word(&reader), &owner)
        case .tokens(let path, let range): set(path, reader.integer(name, in: range), &owner)
        }
    }

    private func set<Value>(_ path: Path<Value>, _ value: Value?, _ owner: inout Owner) {
        if let value { owner[keyPath: path] = value }
    }

    private func set<Value>(_ path: Path<Value?>, _ value: Value?, _ owner: inout Owner) {
        if let value { owner[keyPath: path] = value }
    }

    /// Reads a text. A required text must be present and not empty.
    private func text(_ reader: inout FieldReader) -> String? {
        guard isRequired else { return reader.string(name) }
        let isThere = reader.value(name) != nil
        guard let text = reader.string(name) else {
            if !isThere { reader.fail(name, "is missing: \(meaning)") }
            return nil
        }
        guard text.isEmpty else { return text }
        reader.fail(name, "is empty: \(meaning)")
        return nil
    }

    private func word(_ reader: inout FieldReader) -> String? {
        guard let value = reader.value(name) else { return nil }
        if let text = value.string ?? value.integer.map({ "\($0)" }) { return text }
        let texts = value.kind == .array ? value.elements.map(\.string) : [nil]
        if !texts.contains(nil) { return texts.compactMap { $0 }.joined(separator: ",") }
        reader.fail(name, "must be text, a number, or a list of texts")
        return nil
    }

    private func address(_ reader: inout FieldReader) -> SocketAddressText? {
        guard let text = reader.string(name) else { return nil }
        if let address = SocketAddressText(text) { return address }
        reader.fail(name, "must be HOST:PORT, such as \"127.0.0.1:8780\" or \"[::1]:8780\"")
        return nil
    }

    private func origin(_ reader: inout FieldReader) -> Origin? {
        guard let text = reader.string(name) else { return nil }
        if let origin = Origin(text) { return origin }
        reader.fail(
            name, "must be an origin without a path, such as \"https://127.0.0.1:8443\"")
        return nil
    }

    private func perHour(
        _ reader: inout FieldReader, _ range: ClosedRange<Double>
    ) -> Double? {
        guard let rate = reader.double(name) else { return nil }
        if range.contains(rate) { return rate }
        reader.fail(
            name,
            "must be from \(range.lowerBound) to \(Int64(range.upperBound)), or null for no bucket")
        return nil
    }
}

extension FieldReader {
    mutating func read<Owner>(
        _ settings: [Setting<Owner>], into owner: inout Owner, directory: String = "."
    ) {
        for setting in settings { setting.read(&self, into: &owner, directory: directory) }
    }
}
