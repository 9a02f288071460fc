import Glibc
import TomboloCore
import TomboloJSON
import TomboloLoop

/// `expect`: waits until a simulated phone shows a state. It is for tests of backends with `dev`.
enum ExpectCommand {
    /// How often the phone's state is read.
    private static let interval = Duration.milliseconds(50)

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let (phone, activity) = (invocation.arguments[0], invocation.arguments[1])
        let wanted = try StateInput.read(context, readsInput: false)
        let isGone = invocation.isGiven(.expectGone)
        guard (wanted != nil) != isGone else {
            throw ProgramError.usage(
                "expect needs a state, or --gone, and not both",
                remedy: "tombolo expect \(phone) \(activity) -s step=baking --within 5s")
        }
        let within = invocation.duration(.expectWithin) ?? .seconds(5)
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let request = RelayRequest("GET", "/v1/phones/\(PathText.escaped(phone))")
        let kind = WidgetCommands.kind(activity)
        let start = context.loop.now
        while true {
            let answer = try await client.send(request, name: phone)
            let view = try answer.document().root
            // Two starts make two cards. The newest is on top.
            let card =
                kind.map { WidgetCommands.widget($0, on: view, context) }
                ?? view["cards"]?.elements.filter { $0["activity"]?.string == activity }.last
            let isHidden = card?["overlay"]?.bool == true || card?["placeholder"]?.bool == true
            let shows = isHidden ? nil : card?[kind == nil ? "drawn_state" : "state"]
            let isThere = isGone ? card == nil : wanted.map { covers($0, shows) } ?? false
            if isThere {
                try context.terminal.write(
                    line(phone, activity, shows, true, since: start, context))
                return .succeeded
            }
            guard context.loop.now - start < .nanoseconds(within.nanoseconds) else {
                context.terminal.complain(complaint(view, activity, card, within))
                try context.terminal.write(
                    line(phone, activity, shows, false, since: start, context))
                return .failed
            }
            try await context.loop.sleep(for: interval)
        }
    }

    /// True if `state` has every member of `wanted` with an equal value. Others do not matter.
    static func covers(_ wanted: JSON, _ state: JSONView?) -> Bool {
        guard let state else { return false }
        return wanted.document.root.members.allSatisfy { name, value in
            state[name].map { same(value, $0) } ?? false
        }
    }

    private static func same(_ one: JSONView, _ other: JSONView) -> Bool {
        guard one.kind == other.kind else { return false }
        switch one.kind {
        case .object:
            let members = Array(one.members)
            return members.count == Array(other.members).count
                && members.allSatisfy { name, value in other[name].map { same(value, $0) } ?? false
                }
        case .array:
            let (these, those) = (Array(one.elements), Array(other.elements))
            return these.count == those.count && zip(these, those).allSatisfy(same)
        case .number: return one.double == other.double
        case .string: return one.string == other.string
        case .bool, .null: return one.raw.elementsEqual(other.raw)
        }
    }

    private static func complaint(
        _ phone: JSONView, _ activity: String, _ card: JSONView?, _ within: Span
    ) -> String {
        let name = phone["phone"]?.string ?? ""
        var words = ["has no card of the activity"]
        if let kind = WidgetCommands.kind(activity) {
            words = ["has no widget \(kind): tombolo phone widget add"]
            if let card {
                words = ["shows \(WidgetCommands.shows(card))"]
                if let at = card["next_fetch_at"]?.string {
                    words.append("its widget fetches at \(at)")
                }
            }
        } else if let card {
            let state = card["drawn_state"].map { Printable.json($0.raw) } ?? ""
            words = ["shows \(state)"] + PhoneCommands.notes(card: card)
            if card["phase"]?.string == "ended" {
                words.append("has ended and is in sight for up to 4 h: end it with --dismiss now")
            }
        }
        if phone["locked"]?.bool == true { words.append("is locked") }
        if phone["online"]?.bool == false { words.append("is offline") }
        if phone["budget"]?["holds"]?.bool == true { words.append("holds a push over its budget") }
        words += phone["trouble"].map { $0.elements.compactMap(\.string) } ?? []
        return Printable.line(
            "tombolo: after \(within.text) \(name) \(words.joined(separator: ", "))")
            + "\n  try: tombolo "
            + (WidgetCommands.kind(activity) == nil
                ? "why \(activity) \(name)\n" : "phone widget ls \(name)\n")
    }

    private static func line(
        _ phone: String, _ activity: String, _ shows: JSONView?, _ isThere: Bool,
        since start: MonotonicInstant, _ context: CommandContext
    ) -> [UInt8] {
        guard OutputFormat(context) != .table else { return [] }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("phone", phone)
        writer.member("activity", activity)
        writer.member("shown", isThere)
        writer.name("state")
        if let shows { writer.raw(shows.json) } else { writer.null() }
        let took = (context.loop.now - start).components
        writer.member("took_ms", took.seconds * 1_000 + took.attoseconds / 1_000_000_000_000_000)
        writer.endObject()
        return writer.bytes + [10]
    }
}
