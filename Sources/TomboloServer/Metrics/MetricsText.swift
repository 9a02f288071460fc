import TomboloCore
import TomboloRelay

/// Writes Prometheus' text format, version 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// A series' label values, in the order of the family's label names.
    typealias Labels = [String]

    mutating func write(_ family: MetricFamily, _ value: some Numeric) {
        write(family, [([], value)])
    }

    mutating func write(_ family: MetricFamily, _ series: [(Labels, some Numeric)]) {
        head(family)
        for (labels, value) in series {
            text += "\(family.name)\(Self.labels(family.labels, labels)) \(value)\n"
        }
    }

    mutating func write(_ family: MetricFamily, _ series: [(Labels, DurationHistogram)]) {
        head(family)
        for (labels, histogram) in series {
            let names = family.labels + ["le"]
            let steps = zip(DurationHistogram.bounds.map { "\($0.seconds)" }, histogram.cumulative)
            for (bound, count) in Array(steps) + [("+Inf", histogram.count)] {
                text += "\(family.name)_bucket\(Self.labels(names, labels + [bound])) \(count)\n"
            }
            let own = Self.labels(family.labels, labels)
            text += "\(family.name)_sum\(own) \(histogram.sum.seconds)\n"
            text += "\(family.name)_count\(own) \(histogram.count)\n"
        }
    }

    private mutating func head(_ family: MetricFamily) {
        text += "# HELP \(family.name) \(Self.escaped(family.help))\n"
        text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
    }

    private static func labels(_ names: [String], _ values: Labels) -> String {
        guard !names.isEmpty else { return "" }
        let pairs = zip(names, values).map { "\($0)=\"\(escaped($1, quotes: true))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// Escapes a text as the format requires (*Comments, help text, and type information*).
    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        // Nearly no text needs it, and there are thousands of them.
        guard text.utf8.contains(where: { $0 == 0x5c || $0 == 0x0a || quotes && $0 == 0x22 })
        else { return text }
        let escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? escaped.replacing("\"", with: "\\\"") : escaped
    }
}
