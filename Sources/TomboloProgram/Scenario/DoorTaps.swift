import TomboloCore
import TomboloJSON
import TomboloSimulator

/// Taps that unlock the door of scenario `door`, in time or too late, on virtual time. Phone, relay
/// and producer may be offline meanwhile. The age of an action counts from the tap.
enum DoorTaps {
    /// Describes one tap.
    private struct Case {
        var name: String
        /// The user whom the door admits.
        var reader = "u1"
        var isOnline = true
        /// Times after the tap at which it reaches the relay, and the producer reads the log.
        var arrives: Span
        var looks: Span
    }

    private static let cases = [
        Case(name: "at once", arrives: .milliseconds(200), looks: .milliseconds(300)),
        Case(
            name: "on the way for 29.9 s", arrives: .milliseconds(29_900),
            looks: .milliseconds(29_950)),
        Case(name: "on the way for 30 s", arrives: .seconds(30), looks: .seconds(31)),
        Case(
            name: "the producer is away for 29.9 s", arrives: .seconds(1),
            looks: .milliseconds(29_900)),
        Case(name: "the producer is away for 30 s", arrives: .seconds(1), looks: .seconds(30)),
        Case(
            name: "the relay has it, and is away for a minute", arrives: .seconds(1),
            looks: .seconds(61)),
        Case(
            name: "the phone has no network, and has it again after 10 s", isOnline: false,
            arrives: .seconds(10), looks: .seconds(11)),
        Case(
            name: "by a user who may not open it", reader: "u2", arrives: .milliseconds(200),
            looks: .milliseconds(300)),
    ]

    /// Returns one JSON object for each case.
    static func run() throws -> [JSON] { try cases.map(watch) }

    /// The table that `trigger door --steps` prints for people.
    static func table(of cases: [JSON], for terminal: Terminal) -> String {
        let rows = cases.map(\.document.root).map { view in
            ["case", "relay", "producer", "shows"].map { view[$0]?.string ?? "-" }
        }
        return TextTable(["TAP", "RELAY", "PRODUCER", "THE WIDGET SHOWS"], rows)
            .text(for: terminal)
    }

    private static func watch(_ item: Case) throws -> JSON {
        let begins = Instant(seconds: 1_800_000_000)
        let home = try VirtualHome(user: "u1", zone: "Europe/Berlin", begins: begins)
        try home.register(
            #"{"families":{"systemMedium":["/word"]},"intents":["UnlockDoor"]}"#, type: "Door")
        try home.command(
            .start, "door-7",
            #"{"type":"Door","audience":{"user":"u1","start":"adopt"},"state":{"word":"locked"}}"#)
        try home.put(
            #"{"subject":{"key":"door-7","readers":{"users":["\#(item.reader)"]}},"#
                + #""from":{"activity":"door-7"}}"#, kind: "door")
        let widget = Widget.Key(kind: "door", family: .systemMedium, config: "door-7")
        var word: String?
        var sent: PhoneTap?
        var actions: [JSON] = []
        home.saw = { sight in
            switch sight {
            case .drawn(let widget):
                let state = widget.current.map { JSON(unchecked: $0.content).document.root }
                word = state?["word"]?.string
            case .tapped(let tap): sent = tap
            case .fact(let fact) where fact.kind == DeviceAction.factKind:
                actions.append(JSON(unchecked: fact.body))
            case .fact, .fetched: break
            }
        }
        try home.place(widget)
        try home.advance(to: begins + .seconds(60))
        let tappedAt = home.now
        if !item.isOnline { try home.use { $0.setOnline(false, at: $1) } }
        try home.use {
            $0.tapWidget(widget, link: nil, intent: "UnlockDoor", parameters: nil, at: $1)
        }
        try home.advance(to: tappedAt + item.arrives)
        if !item.isOnline { try home.use { $0.setOnline(true, at: $1) } }
        let refusal = try sent.map { try home.deliver($0) }
        try home.advance(to: tappedAt + item.looks)
        let producer = try actions.first.map { action in
            let expires = action.document.root["expires_at"]?.string
            guard let end = expires.flatMap(Instant.init(rfc3339:)), home.now < end else {
                return "too late"
            }
            try home.command(.update, "door-7", #"{"state":{"word":"unlocked"}}"#)
            return "unlocks"
        }
        try home.advance(to: home.now + .seconds(30))
        return JSON.object { writer in
            writer.member("case", item.name)
            writer.member("relay", refusal.map { $0 ?? "taken" } ?? "hears nothing")
            if let producer { writer.member("producer", producer) }
            if let word { writer.member("shows", word) }
        }
    }
}
