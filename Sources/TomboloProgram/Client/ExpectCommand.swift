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
            if isThere || context.loop.now - start >= .nanoseconds(within.nanoseconds) {
                if !isThere { context.terminal.complain(complaint(view, activity, card, within)) }
                try conclude(phone, activity, shows, isThere, since: start, context)
                return isThere ? .succeeded : .failed
            }
            try await context.loop.sleep(for: interval)
        }
    }

    /// True if `state` has every member of `wanted` with an equal value. Others do not matter.
    static func covers(_ wanted: JSON, _ state: JSONView?) -> Bool {
        guard let state else { return false }
        return wanted.document.root.members.allSatisfy { name, value in
            state[name].map { value.isSame(as: $0, besides: nil) } ?? false
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
        words += phone.texts("trouble")
        return Printable.line(
            "tombolo: after \(within.text) \(name) \(words.joined(separator: ", "))")
            + "\n  try: tombolo "
            + (WidgetCommands.kind(activity) == nil
                ? "why \(activity) \(name)\n" : "phone widget ls \(name)\n")
    }

    private static func conclude(
        _ phone: String, _ activity: String, _ shows: JSONView?, _ isThere: Bool,
        since start: MonotonicInstant, _ context: CommandContext
    ) throws {
        guard !context.printsTable else { return }
        try context.terminal.printObject { writer in
            writer.member("phone", phone)
            writer.member("activity", activity)
            writer.member("shown", isThere)
            writer.member("state", shows?.json ?? .null)
            writer.member("took_ms", (context.loop.now - start).nanoseconds / 1_000_000)
        }
    }
}
