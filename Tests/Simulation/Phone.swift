import TomboloCore
import TomboloLoop

/// A card on a phone, and what Apple knows of its token.
final class Card {
    let reference: ActivityReference
    /// The number of its app's own token; nil until it was issued.
    var token: String?
    /// What it listens on instead.
    var channel: String?
    /// The newest of that channel, while its phone is away.
    var stored: Push?
    /// The relay has stored `token`.
    var isRegistered = false
    var registeredSince = MonotonicInstant(nanoseconds: 0)
    var beganAt = MonotonicInstant(nanoseconds: 0)
    /// Since when the relay may know of its newest token.
    var toldAt: MonotonicInstant?
    /// The system has ended it, for its age.
    var isLapsed = false
    /// The life of the relay that was told that it was dismissed; the next may not know it.
    var dismissalKnownIn: Int?
    var lastTimestamp: Int64 = 0
    var state: [UInt8] = []
    var mark: Int64 = 0
    var staleDate: Int64?
    /// Which play's frames it has all of.
    var bundle: Int64?
    var hasEnded = false
    var isDismissed = false
    /// The app never learns its token.
    var isTokenless = false
    /// Apple took an update or an end, and it will never arrive.
    var hasLostUpdate = false
    var hasLostEnd = false
    /// Apple refused an update or an end permanently: it is not tried again.
    var wasRefused = false
    var isUpdatedLocally = false
    /// It is of a user whose phone it is no more: it just ends.
    var isLeft = false
    /// Its activity is for the phone by an id that its app has given up.
    var isUnnamed = false
    /// The log was put back to before it: the relay knows nothing of it.
    var isStranded = false
    var alerts: [Int64: Int] = [:]
    /// Since when a newer state waits for it.
    var behindSince: MonotonicInstant?
    /// What is missing is its end.
    var waitsForEnd = false

    /// Its reference as text, by which cards are sorted.
    let name: String

    init(_ reference: ActivityReference) {
        self.reference = reference
        name = reference.text
    }
}

/// One phone with the app: what arrives, what it shows, and what the app tells the relay.
final class Phone {
    let number: Int
    let tenant: TenantID
    /// Its app is of another environment: no token of it is right here.
    var isWrong = false
    /// What its app calls it.
    private(set) var id: Identifier
    /// What it ever called it.
    private(set) var ids: [Identifier]
    /// When its tokens were known partly by one id and partly by the next: to the relay these are
    /// two phones.
    private(set) var moves: [(from: MonotonicInstant, to: MonotonicInstant)] = []
    /// Who has it now; the relay may know it for another of `users`.
    var user: String
    /// All that the relay may hold for its user now.
    var users: Set<String>
    /// All that it ever had.
    var usersEver: Set<String>
    /// How often somebody else came to have it.
    var handovers = 0
    /// Its device was deleted, and its cards ended with it.
    var wasDeleted = false
    /// When somebody else last came to have it.
    var changedHandsAt: MonotonicInstant?
    /// When it last may have come to activities that run: it was registered, by any name.
    var joinedAt = MonotonicInstant(nanoseconds: 0)
    /// The class that an operator gave it; nil: each activity's type says.
    var timeline: GrantTimeline?
    /// Counts installations of the app: each has tokens of its own.
    var installation = 1
    /// By type.
    var startTokens: [String: String] = [:]
    /// When its app said that it is in front, and which life of the relay has stored that: the
    /// lease counts from there, also where the disk is slow.
    var front: (since: MonotonicInstant, life: Int)?
    /// When the relay may last have heard that its app is in front, or on its way there.
    var mayBeFrontSince: MonotonicInstant?
    var cards: [ActivityReference: Card] = [:]
    /// Its widgets and its control.
    var surfaces: [ReloadBook] = []
    let widget: WidgetView
    /// What its key may say of it.
    var authority = DeviceAuthority.operate
    /// By how much its clock is ahead.
    var clockAhead = Span.zero
    /// What its system says of itself.
    let system: String
    var isOnline = true
    /// The one push that Apple keeps for an app on a phone that is away.
    var stored: Push?
    /// What the app has to tell, oldest first.
    var uploads: [Upload] = []
    let uploading: Parking

    /// Something that the app tells the relay until it is told that it is stored, or once.
    struct Upload {
        var number = 0
        var command: DeviceCommand
        /// The class that it asks for.
        var budgetClass: BudgetClass?
        var hasBegun = false
        /// When it last went to the relay.
        var toldAt = MonotonicInstant(nanoseconds: 0)
        var isRetried: Bool
        /// The token that it registers, with its card.
        var card: Card?
        var token: String?
        /// It was true once: it must not undo what is newer.
        var isOld = false
        /// The card whose token that was, and since when the relay knew of its newest before.
        var oldCard: (card: Card, toldAt: MonotonicInstant?)?
        /// What it registers a token of.
        var surface: ReloadBook?
        /// It asks for what is another's.
        var isClaim = false
        /// Somebody else has the phone from here on.
        var user: String?
        /// What the phone is called from here on.
        var id: Identifier?
        /// It is the last that the app says by that id of what it said by the one before.
        var endsMove = false
        /// So long it waits before it is told.
        var pause: Duration?

        /// For people who look at a history.
        var what: String {
            switch command {
            case .register: "its registration"
            case .putToken(let name, _): "\(name.text) by \(token, default: "none")"
            case .presence: "its presence"
            default: "\(command)"
            }
        }
    }

    init(
        number: Int, tenant: TenantID, id: Identifier, user: String, budgetClass: BudgetClass?,
        system: String, loop: any Loop
    ) {
        self.number = number
        self.tenant = tenant
        self.id = id
        ids = [id]
        self.user = user
        users = [user]
        usersEver = [user]
        self.system = system
        timeline = budgetClass.map { GrantTimeline($0) }
        uploading = Parking(loop)
        widget = WidgetView(loop)
    }

    /// Whether no activity is for it.
    var isStranger: Bool { user == World.strangerUser }

    /// From now on its app calls it so.
    func rename(_ id: Identifier, at instant: MonotonicInstant) {
        self.id = id
        ids.append(id)
        moves.append((instant, MonotonicInstant(nanoseconds: .max)))
    }

    /// All tokens that it had by the id before are known by the one that it has now, or are gone.
    func endMove(at instant: MonotonicInstant) {
        guard let last = moves.indices.last else { return }
        moves[last].to = min(moves[last].to, instant)
    }

    var key: DeviceKey { DeviceKey(tenant: tenant, id: id) }

    /// Who has it once all is told.
    var newestUser: String { uploads.last { $0.user != nil }?.user ?? user }

    /// Cards in an order that is the same in every process.
    var sortedCards: [Card] { cards.values.sorted { $0.name < $1.name } }

    private var lastUpload = 0

    func upload(_ upload: Upload) {
        lastUpload += 1
        var upload = upload
        upload.number = lastUpload
        uploads.append(upload)
        uploading.unpark()
    }

    static func hex(_ number: UInt64, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
