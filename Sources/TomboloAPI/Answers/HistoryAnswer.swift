package import TomboloCore
package import TomboloJSON

/// What was in the last minutes, in `GET /v1/overview?history=1h`.
package struct HistoryAnswer: AnswerObject, Sendable {
    /// What happened in ten seconds, and what was true at their end.
    ///
    /// 40 bytes: the relay keeps many.
    package struct Point: Hashable, Sendable {
        /// End of the ten seconds, by the relay's clock, in Unix seconds.
        package var seconds: UInt32
        package var accepted: UInt32 = 0
        package var refused: UInt32 = 0
        package var sent: UInt32 = 0
        /// Destinations where a change waits.
        package var waiting: UInt32 = 0
        /// Upstreams that are closed.
        package var closed: UInt32 = 0
        /// Memory of the process in KiB; 0 for a tenant.
        package var residentKiB: UInt32 = 0
        /// CPU of the process, as a share of one core; 0 for a tenant.
        package var cpu: Float = 0
        /// Times from event to Apple's answer in milliseconds; negative if Apple answered nothing.
        package var median: Float = -1
        package var p99: Float = -1

        /// A point in which nothing happened.
        package init(at instant: Instant) { seconds = UInt32(clamping: instant.seconds) }
    }

    /// Something that an operator did, or that happened to the relay.
    package struct Moment: Hashable, Sendable {
        package var at: Instant
        package var kind: String
        /// Place in the log.
        package var seq: Int64
        /// What it was about, such as an app or a pause; nil if the kind says all.
        package var about: String?

        /// Makes a moment from all its values.
        package init(at: Instant, kind: String, seq: Int64, about: String?) {
            (self.at, self.kind, self.seq, self.about) = (at, kind, seq, about)
        }
    }

    /// Time between two points.
    package var step: Span
    /// True for the whole relay, with CPU and memory; false for one tenant.
    package var isWhole: Bool
    /// Oldest first.
    package var points: [Point]
    /// Oldest first.
    package var moments: [Moment]

    /// Makes an answer from all its values.
    package init(step: Span, isWhole: Bool, points: [Point], moments: [Moment]) {
        (self.step, self.isWhole) = (step, isWhole)
        (self.points, self.moments) = (points, moments)
    }

    /// Writes a list for each figure, because 360 objects would repeat each name 360 times.
    package func write(membersTo writer: inout JSONWriter) {
        writer.member("step", step.text)
        writer.array("at", of: points) { $0.integer(Int64($1.seconds)) }
        writer.array("accepted", of: points) { $0.integer(Int64($1.accepted)) }
        writer.array("refused", of: points) { $0.integer(Int64($1.refused)) }
        writer.array("sent", of: points) { $0.integer(Int64($1.sent)) }
        writer.array("waiting", of: points) { $0.integer(Int64($1.waiting)) }
        writer.array("closed", of: points) { $0.integer(Int64($1.closed)) }
        writer.array("median_ms", of: points) { Self.write($1.median, to: &$0) }
        writer.array("p99_ms", of: points) { Self.write($1.p99, to: &$0) }
        if isWhole {
            writer.array("cpu", of: points) { $0.number(Self.rounded($1.cpu, to: 1_000)) }
            writer.array("resident_kib", of: points) { $0.integer(Int64($1.residentKiB)) }
        }
        writer.array("moments", of: moments) { writer, moment in
            writer.object { writer in
                writer.member("at", moment.at.rfc3339)
                writer.member("kind", moment.kind)
                writer.member("seq", moment.seq)
                writer.optional("about", moment.about)
            }
        }
    }

    private static func write(_ milliseconds: Float, to writer: inout JSONWriter) {
        guard milliseconds >= 0 else { return writer.null() }
        writer.number(rounded(milliseconds, to: 10))
    }

    private static func rounded(_ value: Float, to parts: Double) -> Double {
        (Double(value) * parts).rounded() / parts
    }
}
