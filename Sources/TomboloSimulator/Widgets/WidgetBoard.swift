/// The widgets of one phone: what each shows, and which fetches are due. A pure state machine on
/// virtual time.
package struct WidgetBoard: Sendable {
    /// The widgets in the order in which they were added.
    package private(set) var widgets: [Widget] = []
    let rules: WidgetRules

    /// Something that the phone must do now.
    enum Effect: Hashable, Sendable {
        /// Fetch a timeline from the relay.
        case fetch(Widget)
        /// A widget shows something new.
        case drawn(Widget)
    }

    init(_ rules: WidgetRules) { self.rules = rules }

    /// Adds a widget unless it exists. It shows the placeholder until it has fetched.
    mutating func add(_ key: Widget.Key, at now: WallInstant) {
        guard index(key) == nil, widgets.count < WidgetRules.widgetsMax else { return }
        var widget = Widget(key)
        widget.wanted = Widget.Fetch(cause: .placed, at: now)
        widgets.append(widget)
    }

    mutating func remove(_ key: Widget.Key) { widgets.removeAll { $0.key == key } }

    /// Requests a fetch for the widgets of a kind; nil means all.
    mutating func reload(kind: String?, _ cause: Widget.Cause, at now: WallInstant) {
        for index in widgets.indices where kind.map({ $0 == widgets[index].key.kind }) ?? true {
            // A request of the app does not count against the budget, so it replaces one that does.
            if widgets[index].wanted == nil || !cause.isCounted {
                widgets[index].wanted = Widget.Fetch(cause: cause, at: now)
            }
        }
    }

    /// When `advance` will have something to do next; nil if nothing waits.
    func deadline(isOnline: Bool) -> WallInstant? {
        widgets.compactMap { widget in
            let fetch = isOnline ? nextFetch(of: widget)?.at : nil
            return [fetch, widget.nextEntryAt].compactMap(\.self).min()
        }.min()
    }

    /// Lets time pass: shows entries at their dates, and begins fetches.
    mutating func advance(to now: WallInstant, isOnline: Bool) -> [Effect] {
        var effects: [Effect] = []
        for index in widgets.indices {
            if let due = widgets[index].nextEntryAt, due <= now {
                widgets[index].shown = Self.current(widgets[index].entries, at: now)
                widgets[index].drawnCount += 1
                effects.append(.drawn(widgets[index]))
            }
            guard isOnline, let next = nextFetch(of: widgets[index]), next.at <= now else {
                continue
            }
            begin(index, next.cause, at: now)
            effects.append(.fetch(widgets[index]))
        }
        return effects
    }

    private mutating func begin(_ index: Int, _ cause: Widget.Cause, at now: WallInstant) {
        widgets[index].wanted = nil
        widgets[index].fetching = cause
        guard cause.isCounted else { return }
        let from = now - WidgetRules.day
        widgets[index].counted.removeAll { $0 <= from }
        widgets[index].counted.append(now)
    }

    mutating func fetched(
        _ key: Widget.Key, _ outcome: WidgetFetchOutcome, at now: WallInstant
    ) -> [Effect] {
        // If the widget was removed meanwhile, the outcome is dropped.
        guard let index = index(key), let cause = widgets[index].fetching else { return [] }
        widgets[index].fetching = nil
        let before = widgets[index].current
        switch outcome {
        case .failed:
            let waits = Self.backOff(after: widgets[index].failuresInRow)
            widgets[index].failuresInRow += 1
            guard widgets[index].wanted == nil else { return [] }
            widgets[index].wanted = Widget.Fetch(cause: .retry, at: now + waits)
            return []
        case .unchanged: break
        case .timeline(let timeline):
            widgets[index].entries = timeline.entries
            widgets[index].policy = timeline.policy
            widgets[index].type = timeline.type
            widgets[index].etag = timeline.etag
        }
        widgets[index].failuresInRow = 0
        widgets[index].fetchCount += 1
        widgets[index].fetchedAt = now
        widgets[index].fetchedFor = cause
        widgets[index].shown = Self.current(widgets[index].entries, at: now)
        guard widgets[index].current != before || widgets[index].drawnCount == 0 else { return [] }
        widgets[index].drawnCount += 1
        return [.drawn(widgets[index])]
    }

    private static func backOff(after failures: Int) -> Duration {
        var wait = WidgetRules.retryFirst
        for _ in 0..<min(failures, 16) { wait = min(wait * 2, WidgetRules.retryMax) }
        return wait
    }

    /// Index of the last entry whose date has come; if none has, of the first entry.
    private static func current(_ entries: [Widget.Entry], at now: WallInstant) -> Int? {
        entries.isEmpty ? nil : entries.lastIndex { $0.date <= now } ?? 0
    }

    // MARK: Budget

    /// When and why a widget fetches next; nil if a fetch is running or none is requested.
    package func nextFetch(of widget: Widget) -> Widget.Fetch? {
        guard widget.fetching == nil else { return nil }
        var next = widget.wanted.map { [$0] } ?? []
        if let fetchedAt = widget.fetchedAt {
            let soonest = fetchedAt + rules.spacing
            switch widget.policy {
            case .never: break
            case .atEnd:
                if let last = widget.entries.last {
                    next.append(Widget.Fetch(cause: .atEnd, at: max(last.date, soonest)))
                }
            case .after(let date):
                next.append(Widget.Fetch(cause: .after, at: max(date, soonest)))
            }
        }
        guard var first = next.min(by: { $0.at < $1.at }) else { return nil }
        if first.cause.isCounted { first.at = max(first.at, budgetFreeAt(widget) ?? first.at) }
        return first
    }

    /// When a counted fetch may begin; nil means at once.
    private func budgetFreeAt(_ widget: Widget) -> WallInstant? {
        let full = widget.counted.count - rules.fetchesPerDay
        return full >= 0 ? widget.counted[full] + WidgetRules.day : nil
    }

    /// Number of counted fetches that a widget has left for the present 24 hours.
    package func fetchesLeft(of widget: Widget, at now: WallInstant) -> Int {
        let from = now - WidgetRules.day
        return max(0, rules.fetchesPerDay - widget.counted.count { $0 > from })
    }

    private func index(_ key: Widget.Key) -> Int? { widgets.firstIndex { $0.key == key } }
}
