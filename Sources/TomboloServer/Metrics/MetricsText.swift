import TomboloCore
import TomboloRelay

/// Writes Prometheus' text format, version 0.0.4.
struct MetricsText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    /// A series' labels, in the order of its family's names.
    typealias Labels = [String]

    /// A family with one value.
    mutating func write(_ family: MetricFamily, _ value: Int64) { write(family, [([], value)]) }

    /// A family with one value, which need not be whole.
    mutating func write(_ family: MetricFamily, seconds value: Double) {
        head(family)
        text += "\(family.name) \(value)\n"
    }

    /// The same of values that need not be whole.
    mutating func write(_ family: MetricFamily, seconds series: [(Labels, Double)]) {
        head(family)
        for (labels, value) in series {
            text += "\(family.name)\(Self.labels(family.labels, labels)) \(value)\n"
        }
    }

    /// A family with a value for each of its series.
    mutating func write(_ family: MetricFamily, _ series: [(Labels, Int64)]) {
        head(family)
        for (labels, value) in series {
            text += "\(family.name)\(Self.labels(family.labels, labels)) \(value)\n"
        }
    }

    /// A family of histograms.
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

    /// Text format, *Comments, help text, and type information*.
    private static func escaped(_ text: String, quotes: Bool = false) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quotes ? escaped.replacing("\"", with: "\\\"") : escaped
    }
}
