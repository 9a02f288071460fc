import TomboloCore
import TomboloJSON

/// One key of the configuration file. The tables of these settings are used for reading, `config
/// show` and `config doc`.
struct Setting<Owner>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Owner, Value> & Sendable

    /// The property that holds the value, and the valid values.
    enum Form: Sendable {
        case address(Path<SocketAddressText>)
        case count(Path<Int>, ClosedRange<Int64>)
        case duration(Path<Span>, ClosedRange<Span>)
        case environment(Path<APNsEnvironment>)
        /// A path. A relative path refers to the directory of the configuration file.
        case file(Path<String>)
        case flag(Path<Bool>)
        case fileIfAny(Path<String?>)
        case logFormat(Path<OperatorLogFormat>)
        case origin(Path<Origin?>)
        /// `null` means no bucket.
        case perHour(Path<Double?>, ClosedRange<Double>)
        case tenant(Path<TenantID>)
        case text(Path<String>)
        /// One of a few words.
        case choice(Path<String>, [String])
        case choiceIfAny(Path<String?>, [String])
        /// Text, a number, or a list of texts, which are joined by commas.
        case word(Path<String?>)
        case tokens(Path<Int64>, ClosedRange<Int64>)
    }

    /// How a running relay can get a new value.
    enum Change: String, Sendable {
        /// By a reload, for example SIGHUP.
        case reload
        case restart
    }

    let name: String
    let form: Form
    /// True if the object is invalid without this key.
    var isRequired = false
    var change = Change.restart
    /// A short description, for the reference and for the error about a missing key.
    let meaning: String

    init(
        _ name: String, _ form: Form, isRequired: Bool = false, change: Change = .restart,
        _ meaning: String
    ) {
        (self.name, self.form, self.isRequired) = (name, form, isRequired)
        (self.change, self.meaning) = (change, meaning)
    }

    /// Describes the valid values.
    var range: String {
        switch form {
        case .address: "`HOST:PORT`"
        case .count(_, let range), .tokens(_, let range):
            "\(range.lowerBound) to \(range.upperBound)"
        case .duration(_, let range):
            "duration, \(range.lowerBound.text) to \(range.upperBound.text)"
        case .environment: "`production` or `sandbox`"
        case .file, .fileIfAny: "path"
        case .flag: "`true` or `false`"
        case .logFormat: "`text` or `json`"
        case .origin: "`https://HOST:PORT`"
        case .perHour(_, let range):
            "\(range.lowerBound) to \(Int64(range.upperBound)), or `null`: no limit"
        case .tenant: "name"
        case .text: "text"
        case .choice(_, let words), .choiceIfAny(_, let words):
            words.map { "`\($0)`" }.joined(separator: " or ")
        case .word: "text, number or list"
        }
    }

    /// The value in the format of the file; nil if there is none.
    func value(of owner: Owner) -> JSON? {
        var writer = JSONWriter()
        switch form {
        case .address(let path): writer.string(owner[keyPath: path].description)
        case .count(let path, _): writer.integer(Int64(owner[keyPath: path]))
        case .duration(let path, _): writer.string(owner[keyPath: path].text)
        case .environment(let path): writer.string(owner[keyPath: path].name)
        case .file(let path), .text(let path), .choice(let path, _):
            writer.string(owner[keyPath: path])
        case .fileIfAny(let path), .choiceIfAny(let path, _), .word(let path):
            guard let file = owner[keyPath: path] else { return nil }
            writer.string(file)
        case .flag(let path): writer.bool(owner[keyPath: path])
        case .logFormat(let path): writer.string(owner[keyPath: path].rawValue)
        case .origin(let path):
            guard let origin = owner[keyPath: path] else { return nil }
            writer.string(origin.description)
        case .perHour(let path, _):
            if let rate = owner[keyPath: path] { writer.double(rate) } else { writer.null() }
        case .tenant(let path): writer.string(owner[keyPath: path].name.rawValue)
        case .tokens(let path, _): writer.integer(owner[keyPath: path])
        }
        return writer.json
    }
}
