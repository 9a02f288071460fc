import Testing

/// Something that went wrong on purpose, and the cause that an operator must read first.
struct WhyRow: Sendable {
    typealias Question = WhyBench.Question

    var cause: String
    /// Codes of which the first suspect has one: more than one where the relay may choose.
    var codes: Set<String>
    /// Part of what the operator reads.
    var text: String
    /// Right after a push: then nobody doubts the phone yet.
    var atOnce: (codes: Set<String>, text: String)?
    /// Lets it happen. Where the question names a time, the push had not gone by then.
    var happen: @Sendable (WhyBench) throws -> Question

    init(
        _ cause: String, _ codes: Set<String>, _ text: String,
        atOnce: (codes: Set<String>, text: String)? = nil,
        _ happen: @escaping @Sendable (WhyBench) throws -> Question
    ) {
        (self.cause, self.codes, self.text, self.happen) = (cause, codes, text, happen)
        self.atOnce = atOnce
    }

    private static func card(_ name: String, _ asked: String? = nil) -> Question {
        Question(activity: "\(name)-card", device: name, asked: asked)
    }

    /// What happens before the relay is stopped for the first time.
    static let rows: [WhyRow] =
        ofCards + ofPhones + [
            WhyRow("Apple is away", ["upstream_closed"], "Pushes of com.example.lonely") {
                try $0.card("away", app: WhyBench.lonely)
                try $0.appleGoes()
                // The relay finds that out by the first ones.
                for lap in 1...9 { try $0.update("away", lap: lap) }
                try $0.update("away", lap: 10)
                return try card("away", $0.moment())
            },
            WhyRow("the topic is wrong", ["wrong_topic"], "com.example.ap") {
                try $0.card("topic", app: WhyBench.misspelt)
                try $0.update("topic", lap: 1)
                return card("topic", "2")
            },
            WhyRow("an operator's pause that is over", ["paused"], "release morning") { bench in
                try bench.card("resumed")
                try bench.request(
                    "POST", "/v1/pauses",
                    #"{"activity":"resumed-card","reason":"release morning"}"#)
                try bench.update("resumed", lap: 1)
                let moment = try bench.moment()
                let resume = try bench.relay.tombolo("resume", "--all")
                try #require(resume.status == 0, "\(resume.errors)")
                // On a busy machine the push that the pause held is not on record at once.
                _ = try bench.moment()
                return card("resumed", moment)
            },
            WhyRow("an operator's pause that lasts", ["paused"], "release night") {
                try $0.card("paused")
                try $0.request(
                    "POST", "/v1/pauses",
                    #"{"activity":"paused-card","reason":"release night"}"#)
                try $0.update("paused", lap: 1)
                return card("paused", "2")
            },
        ]

    private static let ofCards: [WhyRow] = [
        WhyRow("a swipe on the phone", ["dismissed"], "swiped the card away") {
            try $0.card("swiped")
            try $0.request(
                "PUT", "/v1/devices/swiped/activities/swiped-card",
                #"{"phase":"dismissed","by":"user"}"#)
            try $0.update("swiped", lap: 1)
            return card("swiped", "2")
        },
        WhyRow("a swipe after the push", ["dismissed"], "swiped the card away") {
            try $0.card("late-swipe")
            try $0.update("late-swipe", lap: 1, wait: 5)
            try $0.request(
                "PUT", "/v1/devices/late-swipe/activities/late-swipe-card",
                #"{"phase":"dismissed","by":"user"}"#)
            return card("late-swipe", "2")
        },
        WhyRow(
            "a full bucket", ["bucket", "spacing", "low_priority_spacing"], "asks for more time"
        ) {
            try $0.card("full", budget: "standard")
            for lap in 1...6 { try $0.update("full", lap: lap, "low") }
            return try card("full", $0.moment())
        },
        WhyRow("merged into a later version", ["merged"], "version 4") {
            try $0.card("merged", budget: "standard")
            try $0.update("merged", lap: 1, "low", wait: 5)
            try $0.update("merged", lap: 2, "low")
            try $0.update("merged", lap: 3, "high", wait: 5)
            return card("merged", "3")
        },
        WhyRow("an older state_version", ["superseded"], "state_version") {
            try $0.card("older")
            try $0.update("older", lap: 5, more: #","state_version":5"#)
            try $0.update("older", lap: 4, more: #","state_version":4"#)
            return card("older", "3")
        },
        WhyRow("an unchanged state", ["unchanged"], "has this state already") {
            try $0.card("same")
            try $0.update("same", lap: 1, wait: 5)
            try $0.update("same", lap: 1, wait: 5)
            return card("same", "3")
        },
        WhyRow("an end before the start", ["annihilated"], "ended before its start") {
            try $0.phone("brief")
            try $0.begin("brief")
            try $0.end("brief")
            return card("brief", "1")
        },
    ]

    private static let ofPhones: [WhyRow] = [
        WhyRow("another user of the phone", ["user_changed"], "The user of handed changed") {
            try $0.card("handed", user: "u1")
            try $0.update("handed", lap: 1, wait: 5)
            try $0.phone("handed", user: "u2")
            try $0.request(
                "PUT", "/v1/devices/handed/activities/handed-card", #"{"phase":"dismissed"}"#)
            return card("handed", "2")
        },
        WhyRow("a phone that reports its state", ["none"], "it drew version 2") {
            try $0.card("truthful")
            try $0.update("truthful", lap: 1, wait: 5)
            try $0.request(
                "PUT", "/v1/devices/truthful/activities/truthful-card",
                #"{"phase":"active","received_state":{"lap":1},"drawn_state":{"lap":1}}"#)
            return card("truthful", "2")
        },
        WhyRow("a token of the other environment", ["wrong_environment"], "400 BadDeviceToken") {
            try $0.card("foreign", token: "bad0beef")
            try $0.fault(#"{"token":"bad0beef","reason":"BadDeviceToken"}"#)
            try $0.update("foreign", lap: 1, wait: 5)
            return card("foreign", "2")
        },
        WhyRow("no start token", ["no_start_token"], "no push-to-start token") {
            try $0.phone("tokenless")
            try $0.begin("tokenless")
            return card("tokenless", "1")
        },
        WhyRow("a start without an answer", ["start_not_confirmed"], "no update token") {
            try $0.phone("mute", tokens: ["start:Runner": WhyBench.token("bb", of: "mute")])
            try $0.begin("mute")
            return card("mute", "1")
        },
        WhyRow("a dead token", ["token_gone"], "Apple called it dead") {
            try $0.card("dead", token: "deadbeef")
            try $0.fault(#"{"token":"deadbeef","reason":"Unregistered"}"#)
            try $0.update("dead", lap: 1, wait: 5)
            return card("dead", "2")
        },
        WhyRow(
            "a device that nobody registered", ["unknown_device"],
            "No device stranger is registered"
        ) {
            try $0.card("known")
            return Question(activity: "known-card", device: "stranger")
        },
        WhyRow("a device that is not in the audience", ["no_destination"], "not in the audience") {
            try $0.phone("outsider")
            return Question(activity: "known-card", device: "outsider")
        },
        WhyRow("a device that was deleted", ["device_deleted"], "was deleted") {
            try $0.card("sold")
            try $0.request("DELETE", "/v1/devices/sold")
            try $0.update("sold", lap: 1)
            return card("sold", "2")
        },
        WhyRow(
            "a phone that is offline", ["phone_unreachable"], "off or offline",
            atOnce: (["none"], "nothing speaks against it")
        ) {
            try $0.card("offline")
            try $0.update("offline", lap: 1, wait: 5)
            return card("offline", "2")
        },
    ]
}
