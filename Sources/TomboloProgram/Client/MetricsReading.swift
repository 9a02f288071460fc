/// Reads Prometheus' text format as the relay writes it. Skips lines that look different.
struct MetricsReading {
    struct Series {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    private let all: [Series]

    init(_ text: String) {
        all = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap(Self.series)
    }

    func value(_ name: String) -> Double? { series(name).first?.value }

    func series(_ name: String) -> [Series] { all.filter { $0.name == name } }

    private static func series(_ line: Substring) -> Series? {
        let name = line.prefix { $0 != "{" && $0 != " " }
        var rest = line.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.hasPrefix("{") {
            rest = rest.dropFirst()
            while !rest.hasPrefix("}") {
                guard let (label, value) = Self.label(&rest) else { return nil }
                labels[label] = value
            }
            rest = rest.dropFirst()
        }
        // The relay writes no such value: NaN, infinities, and numbers too large for an Int64.
        guard let value = Double(rest.drop { $0 == " " }), value.magnitude < 1e18 else {
            return nil
        }
        return Series(name: String(name), labels: labels, value: value)
    }

    /// Reads `name="value"` and the comma that follows it.
    private static func label(_ rest: inout Substring) -> (String, String)? {
        let name = rest.prefix { $0 != "=" }
        rest = rest.dropFirst(name.count)
        guard rest.hasPrefix("=\"") else { return nil }
        rest = rest.dropFirst(2)
        var value = ""
        while let letter = rest.popFirst(), letter != "\"" {
            guard letter == "\\" else {
                value.append(letter)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            value.append(escaped == "n" ? "\n" : escaped)
        }
        if rest.hasPrefix(",") { rest = rest.dropFirst() }
        // Labels may contain text of strangers and are shown on a terminal: replace control
        // characters.
        return (String(name), OperatorLog.shown(value))
    }
}
