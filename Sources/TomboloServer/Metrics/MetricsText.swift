/// Writes Prometheus' text format, version 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    enum Kind: String { case counter, gauge }

    /// One metric with one value.
    mutating func write(_ name: String, _ kind: Kind, _ help: String, _ value: Int64) {
        write(name, kind, help, label: nil, [("", value)])
    }

    /// One metric with a value for each value of a label. The values come from enums, so that none
    /// needs escaping.
    mutating func write(
        _ name: String, _ kind: Kind, _ help: String, label: String?,
        _ values: [(String, Int64)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for (labelValue, value) in values {
            let labels = label.map { "{\($0)=\"\(labelValue)\"}" } ?? ""
            text += "\(name)\(labels) \(value)\n"
        }
    }
}
