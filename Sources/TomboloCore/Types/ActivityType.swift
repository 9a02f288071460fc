package import TomboloJSON

/// A registered `ActivityAttributes` type of an app.
package struct ActivityType: Sendable {
    /// Identifies a type. Each app has its own types.
    package struct Key: Hashable, Sendable {
        package var tenant: TenantID
        package var app: String
        package var name: String

        package init(tenant: TenantID, app: String, name: String) {
            self.tenant = tenant
            self.app = app
            self.name = name
        }

        /// Compares names by their bytes.
        package static func == (one: Key, other: Key) -> Bool {
            isSameText(one.name, other.name) && isSameText(one.app, other.app)
                && one.tenant == other.tenant
        }

        /// Hashes the values that `==` compares.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(tenant)
            hasher.combine(bytesOf: app)
            hasher.combine(bytesOf: name)
        }
    }

    /// The schema of the content state; nil: any object is valid.
    package var state: StateSchema?
    package var dates = DateEncoding.swiftReference
    /// nil: `standard`.
    package var budgetClass: BudgetClass?
    /// Where the attributes contain the card's name; nil if the app wants no name there.
    package var idAt: JSONPointer? = defaultIDAt
    /// True if the app can play a bundle: all frames of a flip-book from one payload.
    package var plays = false
    /// True if the app animates between keyframes.
    package var animates = false
    package var onUnknownStart: UnknownStartPolicy?
    /// Default of `start_wait`; nil: `Start.startWaitDefault`.
    package var startWait: Span?
    /// True if each visible change reloads the app's widgets on devices of the audience.
    package var reloadsWidgets = false
    /// Kinds of controls that each visible change reloads in the same way.
    package var reloadsControls: [String] = []
    /// App Intents that buttons on the card run.
    package var intents: [TypeIntent] = []
    /// Default of `end_after`: how long after its last event an activity is ended; nil: never.
    package var endAfter: Span?
    package var onTokenGone: TokenGonePolicy?
    package var renew: RenewalPolicy?
    /// Default of `show_when.frames`; nil: `background`.
    package var framesShowWhen: FramesShowWhen?
    /// How long alerts may wait if a command does not say it; nil: `Alert.defaultTTL`.
    package var alertTTL: Span?
    /// A value in the states that depends on the app's presence; nil if there is none.
    package var presence: PresenceBinding?
    /// Where the relay writes the version into each state that it sends, so that a report says
    /// which one the phone has; nil: nowhere.
    package var versionAt: JSONPointer?
    /// What simulated phones draw of a state; nil: text.
    package var preview: TypePreview?
    /// The part of a state that each widget family gets; nil: all.
    package var families: FamilyCuts?
    /// How the states keep a history of a value; nil if they keep none.
    package var history: StateHistory?
    /// The part of a state that a phone shows; nil: all.
    package var visibility: Visibility?
    /// The body as it was registered, with members that this relay does not know.
    package var body: JSON

    /// Where the card's name is in the attributes if the type says nothing else.
    package static let defaultIDAt = JSONPointer(tokens: ["activity_id"])

    /// Reads the body of `PUT /v1/types/{type}`. Throws `FieldErrors` with all faults.
    ///
    /// - Parameter lenient: true for a record: older relays did not check `show_when`, `preview`,
    ///   `families` and `history`.
    package init(reading view: JSONView, lenient: Bool = false) throws(FieldErrors) {
        var reader = FieldReader(view, isOfLog: lenient)
        body = view.json
        _ = reader.string("app")
        if let schema = reader.object("state") {
            do {
                state = try StateSchema(
                    reading: schema, at: reader.path("state"), isStored: lenient)
            } catch {
                reader.adopt(error)
            }
        }
        dates =
            reader.choice("dates", DateEncoding.allCases.map { ($0.rawValue, $0) })
            ?? .swiftReference
        budgetClass = reader.choice("budget_class", BudgetClass.ofActivities.map { ($0.name, $0) })
        if reader.isNull("id_at") {
            idAt = nil
        } else if let text = reader.string("id_at") {
            idAt = JSONPointer(text)
            if idAt?.tokens.isEmpty ?? true {
                reader.fail("id_at", "must be a JSON Pointer such as \"/activity_id\", or null")
            }
        }
        (plays, animates) = (reader.bool("plays") ?? false, reader.bool("animates") ?? false)
        startWait = Start.startWait(&reader)
        onUnknownStart = reader.choice(
            "on_unknown_start", [("give_up", .giveUp), ("resend", .resend)])
        onTokenGone = reader.choice("on_token_gone", TokenGonePolicy.choices)
        renew = reader.choice("renew", RenewalPolicy.choices)
        (reloadsWidgets, reloadsControls) = Self.reloads(&reader)
        if lenient {
            var older = FieldReader(view, isOfLog: true)
            framesShowWhen = FramesShowWhen.reading(&older)
            _ = reader.object("show_when")
        } else {
            framesShowWhen = FramesShowWhen.reading(&reader)
        }
        intents = TypeIntent.reading(&reader, state, of: lenient ? view : nil)
        endAfter = Start.endAfter(&reader)
        visibility = Visibility.reading(&reader, state)
        presence = PresenceBinding.reading(&reader, state)
        versionAt = Self.versionAt(&reader, state, besides: presence)
        alertTTL = reader.span("alert_ttl", in: .seconds(1)...activityLifeMax)
        if lenient {
            var older = FieldReader(view, isOfLog: true)
            preview = TypePreview.reading(&older, state)
            families = FamilyCuts.reading(&older, state)
            // Older relays accepted a number here and ignored it.
            if view["history"]?.kind == .object {
                history = StateHistory.reading(&older, state)
            }
            for name in ["history", "preview", "families"] { _ = reader.value(name) }
        } else {
            preview = TypePreview.reading(&reader, state)
            families = FamilyCuts.reading(&reader, state)
            history = StateHistory.reading(&reader, state, besides: presence)
        }
        try reader.finish()
    }

    private static func versionAt(
        _ reader: inout FieldReader, _ schema: StateSchema?, besides presence: PresenceBinding?
    ) -> JSONPointer? {
        guard let text = reader.string("version_at") else { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail("version_at", fault)
            return nil
        }
        let place = JSONPointer(text)
        if place != nil, place == presence?.path {
            reader.fail("version_at", "is where \"presence\" writes its value; take another place")
        }
        return place
    }

    private static func reloads(
        _ reader: inout FieldReader
    ) -> (widgets: Bool, controls: [String]) {
        guard let view = reader.object("reloads") else { return (false, []) }
        var inner = reader.inside(view, "reloads")
        let widgets = inner.bool("widgets") ?? false
        var controls: [String] = []
        if let list = inner.value("controls") {
            if let kinds = list.strings(atMost: 16) {
                controls = kinds
            } else {
                inner.fail("controls", "must be an array of at most 16 kinds of controls")
            }
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        return (widgets, controls)
    }

    /// The state as the app decodes it: with its dates in the app's encoding.
    package func encoded(_ state: JSON) -> JSON {
        self.state.map { dates.encode(state, by: $0) } ?? state
    }

    /// Lints for members of a state that the app does not decode.
    package func unknownMembers(in state: JSON) -> [Lint] {
        self.state?.unknownMembers(in: state.document.root, at: "") ?? []
    }

    /// The faults of a state, after the value of the presence binding is written into it; empty if
    /// the state is valid.
    package func faults(in state: JSON, at pointer: String = "/state") -> [FieldError] {
        let sent = presence?.write(presence?.active ?? .emptyObject, into: state) ?? state
        return self.state?.faults(in: versioned(sent, 1).document.root, at: pointer) ?? []
    }

    /// The state with the version in it, if the type has a place for it.
    func versioned(_ state: JSON, _ version: Int64) -> JSON {
        let number = JSON(unchecked: Array("\(version)".utf8))
        return versionAt.flatMap { state.setting($0, to: number) } ?? state
    }

    /// A copy with the largest values that the relay writes, to measure the state's size.
    func widened(_ projection: Projection) -> Projection {
        guard presence != nil || versionAt != nil else { return projection }
        return projection.with(
            state: versioned(presence?.widened(projection.state) ?? projection.state, .max))
    }

    /// The state with one value wherever the relay writes one, so that states can be compared.
    func neutral(_ state: JSON) -> JSON {
        versioned(presence.map { $0.write($0.active, into: state) } ?? state, 0)
    }

    /// Why a producer's state, or a clip that plays at `clip`, is refused because of the version's
    /// place; nil if it is allowed.
    func versionFault(of state: JSON, playing clip: JSONPointer?) -> FieldError? {
        guard let versionAt else { return nil }
        if clip == versionAt {
            return FieldError(
                pointer: "/path",
                message: "\(versionAt) has the version, by \"version_at\" of the type; play "
                    + "another place")
        }
        if state.document.root.at(versionAt) != nil {
            return FieldError(
                pointer: "/state\(versionAt)",
                message: "is written by the relay, by \"version_at\" of the type; leave it out")
        }
        guard state.setting(versionAt, to: .emptyObject) == nil else { return nil }
        return FieldError(
            pointer: "/state", message: "has no place for \(versionAt); its parent must be there")
    }
}

/// A type with the number of its record.
struct RegisteredType: Sendable {
    let number: Int64
    var type: ActivityType

    func record(_ key: ActivityType.Key) -> Record {
        Record(space: .type, number: number) { writer in
            writer.member("tenant", key.tenant.name.rawValue)
            writer.member("app", key.app)
            writer.member("type", key.name)
            writer.member("body", type.body)
        }
    }

    /// Returns nil if the bytes are not a type. The caller then reports the record.
    static func read(_ bytes: [UInt8], number: Int64) -> (ActivityType.Key, RegisteredType)? {
        guard let view = (try? JSONDocument(bytes))?.root,  // nil reports damage
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string, let name = view["type"]?.string,
            let body = view["body"]?.json.document.root,
            let type = try? ActivityType(reading: body, lenient: true)  // the same
        else { return nil }
        let key = ActivityType.Key(tenant: TenantID(tenant), app: app, name: name)
        return (key, RegisteredType(number: number, type: type))
    }
}

/// A type as the API shows it.
package struct TypeView: Sendable {
    package var app: String
    package var name: String
    /// nil: `standard`.
    package var budgetClass: BudgetClass?
    package var body: JSON
}

/// What the registered types say about one activity.
package struct TypeCheck: Sendable {
    package var isRegistered: Bool
    package var hasSchema: Bool
    /// What in the newest state does not match the type, each as text.
    package var faults: [String] = []
    /// The names of all registered types of the app.
    package var registered: [String] = []
}
