package import TomboloJSON

/// An `ActivityAttributes` type of an app, as registered.
package struct ActivityType: Sendable {
    /// Identifies a type: types are per app.
    package struct Key: Hashable, Sendable {
        package var tenant: TenantID
        package var app: String
        package var name: String

        package init(tenant: TenantID, app: String, name: String) {
            self.tenant = tenant
            self.app = app
            self.name = name
        }

        /// Compares the bytes of both names.
        package static func == (one: Key, other: Key) -> Bool {
            isSameText(one.name, other.name) && isSameText(one.app, other.app)
                && one.tenant == other.tenant
        }

        /// Hashes what `==` compares.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(tenant)
            hasher.combine(bytesOf: app)
            hasher.combine(bytesOf: name)
        }
    }

    /// The content state's schema; nil allows any object.
    package var state: StateSchema?
    package var dates = DateEncoding.swiftReference
    /// Nil means `standard`.
    package var budgetClass: BudgetClass?
    /// Where apps find the relay's id in the attributes; nil if the app opted out.
    package var idAt: JSONPointer? = defaultIDAt
    /// Whether the app plays a bundle of frames from one payload.
    package var plays = false
    /// Whether the phone interpolates between keyframes.
    package var animates = false
    package var onUnknownStart: UnknownStartPolicy?
    /// How long starts wait that give no `start_wait`.
    package var startWait: Span?
    /// Whether each change reloads the app's widgets on the devices that show the activity.
    package var reloadsWidgets = false
    /// The controls that each change reloads in the same way.
    package var reloadsControls: [String] = []
    /// App Intents that the card's buttons run.
    package var intents: [TypeIntent] = []
    /// How long after the last event the relay ends activities that give no time themselves; nil
    /// means never.
    package var endAfter: Span?
    package var onTokenGone: TokenGonePolicy?
    package var renew: RenewalPolicy?
    /// When frames are sent, if a start does not define it.
    package var framesShowWhen: FramesShowWhen?
    /// How long alerts wait that give no time themselves.
    package var alertTTL: Span?
    /// A value that follows the app's presence; nil if there is none.
    package var presence: PresenceBinding?
    /// What simulated phones draw of a state; nil means text.
    package var preview: TypePreview?
    /// The parts of a state that the widgets of each family get; nil means all.
    package var families: FamilyCuts?
    /// How its states keep a history; nil if they keep none.
    package var history: StateHistory?
    /// What a phone shows of a state; nil means all of it.
    package var visibility: Visibility?
    /// The body as registered; it keeps members that are not read here.
    package var body: JSON

    /// Where the relay writes an activity's id unless the type says otherwise.
    package static let defaultIDAt = JSONPointer(tokens: ["activity_id"])

    /// Reads the body of `PUT /v1/types/{type}`; throws all faults in it.
    ///
    /// - Parameter lenient: for records, because older relays did not check `show_when`, `preview`
    ///   and `families`.
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
        plays = reader.bool("plays") ?? false
        animates = reader.bool("animates") ?? false
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
        alertTTL = reader.span("alert_ttl", in: .seconds(1)...activityLifeMax)
        if lenient {
            var older = FieldReader(view, isOfLog: true)
            preview = TypePreview.reading(&older, state)
            families = FamilyCuts.reading(&older, state)
            // Older relays took a number and ignored it.
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

    /// The state in the form that the phone decodes.
    package func encoded(_ state: JSON) -> JSON {
        self.state.map { dates.encode(state, by: $0) } ?? state
    }

    /// Members of a state that the phone's decoder would ignore.
    package func unknownMembers(in state: JSON) -> [Lint] {
        self.state?.unknownMembers(in: state.document.root, at: "") ?? []
    }

    /// The faults of a state; empty if it fits. They are found after the relay's own values are
    /// written into the state.
    package func faults(in state: JSON, at pointer: String = "/state") -> [FieldError] {
        let sent = presence?.write(presence?.active ?? .emptyObject, into: state) ?? state
        return self.state?.faults(in: sent.document.root, at: pointer) ?? []
    }
}

/// A type with its number among the records.
struct RegisteredType: Sendable {
    let number: Int64
    var type: ActivityType

    func record(_ key: ActivityType.Key) -> Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", key.tenant.name.rawValue)
        writer.member("app", key.app)
        writer.member("type", key.name)
        writer.member("body", type.body)
        writer.endObject()
        return Record(space: .type, number: number, value: writer.bytes)
    }

    /// Nil if the bytes are no type: the caller reports and sets them aside.
    static func read(_ bytes: [UInt8], number: Int64) -> (ActivityType.Key, RegisteredType)? {
        guard let view = (try? JSONDocument(bytes))?.root,  // damage is the answer
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let app = view["app"]?.string, let name = view["type"]?.string,
            let body = view["body"]?.json.document.root,
            let type = try? ActivityType(reading: body, lenient: true)  // as above
        else { return nil }
        let key = ActivityType.Key(tenant: TenantID(tenant), app: app, name: name)
        return (key, RegisteredType(number: number, type: type))
    }
}

/// A type as shown to readers.
package struct TypeView: Sendable {
    package var app: String
    package var name: String
    /// Nil means `standard`.
    package var budgetClass: BudgetClass?
    package var body: JSON
}

/// The result of the registered types for one activity.
package struct TypeCheck: Sendable {
    package var isRegistered: Bool
    package var hasSchema: Bool
    /// The differences between its newest state and its type, each in words.
    package var faults: [String]
    /// The names of its app's types.
    package var registered: [String]

    package init(
        isRegistered: Bool, hasSchema: Bool, faults: [String] = [], registered: [String] = []
    ) {
        self.isRegistered = isRegistered
        self.hasSchema = hasSchema
        self.faults = faults
        self.registered = registered
    }
}
