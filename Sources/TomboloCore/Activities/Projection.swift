package import TomboloJSON

/// The current content state of an activity: the fold of its events.
package struct Projection: Sendable {
    /// The state without the clip's frame; `state(at:)` returns it with the frame.
    package private(set) var state: JSON {
        didSet { stateHash = state.valueHash }
    }
    /// Hash of the state as a JSON value: two texts of one value have the same hash. It is stored,
    /// because each destination reads it.
    package private(set) var stateHash: UInt64
    package private(set) var version: Int64
    package private(set) var changedAt: Instant
    package private(set) var relevance: Double?
    package private(set) var staleAfter: Span?
    package private(set) var urgency: Urgency
    package private(set) var clip: PlayingClip? {
        get { clips?.playing }
        set { clips = Clips.of(newValue, keptClip, over: state) }
    }
    /// The alert of the newest event that had one, with the version that brought it.
    package private(set) var alert: PendingAlert?
    package private(set) var ending: Ending?
    /// A clip with `clock: shown` that played when the activity ended. Each phone keeps the frame
    /// that it showed last.
    package private(set) var keptClip: PlayingClip? {
        get { clips?.kept }
        set { clips = Clips.of(clip, newValue, over: state) }
    }
    /// Behind a reference, because clips are large and few activities have one.
    private var clips: Clips?

    private final class Clips: Sendable {
        let playing: PlayingClip?
        let kept: PlayingClip?
        /// Place of the frames in the state, looked up once instead of at each frame.
        let place: JSONSplice?

        private init(_ playing: PlayingClip?, _ kept: PlayingClip?, over state: JSON) {
            self.playing = playing
            self.kept = kept
            place = (playing ?? kept).flatMap { state.splice(at: $0.clip.path) }
        }

        static func of(
            _ playing: PlayingClip?, _ kept: PlayingClip?, over state: JSON
        ) -> Clips? {
            playing == nil && kept == nil ? nil : Clips(playing, kept, over: state)
        }
    }
    package private(set) var stateVersion: Int64?

    /// An alert, the version that has it, and when it is outdated.
    package struct PendingAlert: Hashable, Sendable {
        package var version: Int64
        package var content: JSON
        package var expiresAt: Instant

        /// The alert without its sound.
        var silent: PendingAlert {
            guard content.document.root["sound"] != nil else { return self }
            var alert = self
            let patch = JSON(unchecked: Array(#"{"sound":null}"#.utf8))
            alert.content = content.mergePatched(with: patch)
            return alert
        }
    }

    /// How and when the producer ended the activity.
    package struct Ending: Hashable, Sendable {
        package var at: Instant
        package var dismissal: Dismissal
        /// True if the card only disappears and its phone must not see the final state.
        package var isBare = false

        /// The value of `dismissal-date`; nil if the system decides. `now` gives a date that has
        /// passed.
        package var date: Instant? {
            switch dismissal {
            case .standard: nil
            case .now: at - .seconds(1)
            case .after(let span): at + span
            case .at(let instant): instant
            }
        }
    }

    /// The state after a start. `version` is 1, or the first one of a new incarnation.
    package init(_ start: Start, version: Int64, at instant: Instant) {
        state =
            start.history?.kept(in: start.state, since: nil, isSaid: true, at: instant)
            ?? start.state
        stateHash = state.valueHash
        self.version = version
        changedAt = instant
        relevance = start.relevance
        staleAfter = start.staleAfter
        urgency = start.urgency
        alert = start.alert.map {
            PendingAlert(version: version, content: $0, expiresAt: instant + start.alertTTL)
        }
    }

    init(
        restoring state: JSON, version: Int64, changedAt: Instant, relevance: Double?,
        staleAfter: Span?, urgency: Urgency, clip: PlayingClip?, keptClip: PlayingClip?,
        alert: PendingAlert?, ending: Ending?, stateVersion: Int64?
    ) {
        self.state = state
        stateHash = state.valueHash
        self.version = version
        self.changedAt = changedAt
        self.relevance = relevance
        self.staleAfter = staleAfter
        self.urgency = urgency
        clips = Clips.of(clip, keptClip, over: state)
        self.alert = alert
        self.ending = ending
        self.stateVersion = stateVersion
    }

    /// An end that removes the card at once and contains no state.
    static func bareEnd(version: Int64, at instant: Instant) -> Projection {
        Projection(
            restoring: .emptyObject, version: version, changedAt: instant, relevance: nil,
            staleAfter: nil, urgency: .normal, clip: nil, keptClip: nil, alert: nil,
            ending: Ending(at: instant, dismissal: .now, isBare: true), stateVersion: nil)
    }

    /// The end of a card that is ended late: this state, ended at `instant` if nobody ended it.
    ///
    /// - Parameter version: the activity's newest version.
    func ended(version: Int64, at instant: Instant) -> Projection {
        var copy = self
        if ending == nil {
            copy.apply(
                .end(End(change: .none, dismissal: .now)), version: version, at: instant)
        }
        copy.version = version
        return copy
    }

    func with(state: JSON) -> Projection {
        var copy = self
        copy.state = state
        return copy
    }

    /// The state with the frame that the clip has at `instant` if it runs without a stop.
    package func state(at instant: Instant) -> JSON {
        guard let clip else { return state }
        return state(showing: clip.elapsed(at: instant))
    }

    /// The state for a phone that has seen `elapsed` of the clip: of the playing clip, or else of
    /// the kept one.
    package func state(showing elapsed: Span) -> JSON {
        guard let clips, let place = clips.place, let shown = clips.playing ?? clips.kept else {
            return state
        }
        return state.setting(place, to: shown.value(at: elapsed))
    }

    /// The largest state that a push may contain, with the clip's largest frame.
    var largestState: JSON {
        guard let clip = (clip ?? keptClip)?.clip,
            let shown = state.setting(clip.path, to: clip.largestFrame),
            shown.bytes.count > state.bytes.count
        else { return state }
        return shown
    }

    /// Applies one event. An update with an older `state_version` changes only the version.
    package mutating func apply(_ content: Command.Content, version: Int64, at instant: Instant) {
        self.version = version
        switch content {
        case .start: break
        case .update(let update): apply(update, at: instant)
        case .end(let end):
            let running = clip.flatMap { $0.clip.clock == .shown ? $0 : nil }
            settleClip(at: instant, mayFreezeEnd: true)
            let frame = running.flatMap { state.document.root.at($0.clip.path)?.json }
            change(end.change, end.history, at: instant)
            // If the end sets the clip's place to another value, every phone shows that value.
            if let running, let frame, !end.change.touches(running.clip.path),
                state.document.root.at(running.clip.path)?.json == frame
            {
                keptClip = running
            }
            setAlert(end.alert, ttl: Alert.defaultTTL, at: instant)
            ending = Ending(at: instant, dismissal: end.dismissal)
            changedAt = instant
        case .play(let next):
            let running = clip
            settleClip(at: instant)
            clip = PlayingClip(
                version: version, startedAt: instant,
                clip: next.begun(over: state, following: running, at: instant))
            urgency = next.urgency
            changedAt = instant
        case .stop:
            settleClip(at: instant, mayFreezeEnd: true)
            changedAt = instant
        }
    }

    private mutating func apply(_ update: Update, at instant: Instant) {
        if let number = update.stateVersion {
            if let known = stateVersion, number < known { return }
            stateVersion = number
        }
        // Stop a clip that has played to its end first, so that it does not hide this update's
        // value.
        if let clip, clip.isOver(at: instant), update.change.touches(clip.clip.path) {
            settleClip(at: instant)
        }
        change(update.change, update.history, at: instant)
        relevance = update.relevance ?? relevance
        staleAfter = update.staleAfter ?? staleAfter
        urgency = update.urgency
        setAlert(update.alert, ttl: update.alertTTL, at: instant)
        changedAt = instant
    }

    private mutating func change(
        _ change: Update.Change, _ history: StateHistory?, at instant: Instant
    ) {
        let before = state
        switch change {
        case .none: break
        case .merge(let patch): state = state.mergePatched(with: patch)
        case .replace(let whole): state = whole
        }
        if let history {
            state = history.kept(
                in: state, since: before, isSaid: change.touches(history.of), at: instant)
        }
        // The place of the frames in the state's bytes may have moved: look it up again.
        if clips != nil { clips = Clips.of(clip, keptClip, over: state) }
    }

    private mutating func setAlert(_ content: JSON?, ttl: Span, at instant: Instant) {
        guard let content else { return }
        alert = PendingAlert(version: version, content: content, expiresAt: instant + ttl)
    }

    /// Stops the clip: its present frame becomes part of the state. With `mayFreezeEnd` a clip that
    /// is nearly over stops at its last frame (`Clip.frozen`).
    private mutating func settleClip(at instant: Instant, mayFreezeEnd: Bool = false) {
        guard let clip else { return }
        let elapsed = clip.elapsed(at: instant)
        state = state(showing: mayFreezeEnd ? clip.clip.frozen(after: elapsed) : elapsed)
        self.clip = nil
    }
}

extension Update.Change {
    /// True if the change affects this place in the state.
    fileprivate func touches(_ path: JSONPointer) -> Bool {
        switch self {
        case .none: false
        case .merge(let patch): patch.document.root.at(path) != nil
        case .replace: true
        }
    }

    /// JSON Pointer into the request to the change's value for `path`; nil if the change has no
    /// such value.
    func place(of path: JSONPointer) -> String? {
        switch self {
        case .none: nil
        case .merge(let patch): patch.document.root.at(path).map { _ in "/state\(path)" }
        case .replace(let whole): whole.document.root.at(path).map { _ in "/replace\(path)" }
        }
    }
}
