// Actions of the user and the app on widgets (Apple, *Keeping a widget up to date*, *Linking to
// specific app scenes from your widget or Live Activity*).

extension Phone {
    /// The user puts a widget on a screen; this closes the gallery. If the widget is already there,
    /// nothing else happens.
    package mutating func addWidget(_ key: Widget.Key, at now: WallInstant) -> [PhoneEffect] {
        gallery = nil
        board.add(key, at: now)
        return advance(to: now)
    }

    /// The user removes a widget.
    package mutating func removeWidget(_ key: Widget.Key, at now: WallInstant) -> [PhoneEffect] {
        board.remove(key)
        return advance(to: now)
    }

    /// The app in the foreground reloads the widgets of a kind, or all of them (`WidgetCenter`).
    /// They reload at once and without using the budget.
    package mutating func reloadWidgets(kind: String?, at now: WallInstant) -> [PhoneEffect] {
        guard presence == .active else { return advance(to: now) }
        board.reload(kind: kind, .app, at: now)
        return advance(to: now)
    }

    /// Takes the outcome of a widget's fetch.
    package mutating func widgetFetched(
        _ key: Widget.Key, _ outcome: WidgetFetchOutcome, at now: WallInstant
    ) -> [PhoneEffect] {
        let drawn = carryOut(board.fetched(key, outcome, at: now))
        return drawn + advance(to: now)
    }

    /// The user opens the gallery with the widgets of a kind: it fetches their snapshots.
    package mutating func openGallery(kind: String, at now: WallInstant) -> [PhoneEffect] {
        let number = (gallery?.number ?? 0) + 1
        let families = Widget.Family.allCases.filter(configuration.idiom.has)
        let opened = WidgetGallery(number: number, kind: kind, families: families)
        gallery = opened
        return advance(to: now) + (isOnline ? [.galleryOpened(opened)] : [])
    }

    /// Takes the snapshot of one family for the open gallery. `entry` is nil if there is none.
    package mutating func gallerySnapshot(
        _ number: Int, _ family: Widget.Family, _ entry: Widget.Entry?
    ) {
        guard gallery?.number == number else { return }
        gallery?.took(family, entry)
    }

    /// The user taps a widget or one of its links; this opens the app with the URL. A button runs
    /// its intent and opens nothing. If a widget has no URL, the app opens and the tap is not
    /// reported.
    ///
    /// - Parameter item: the tapped item of a widget with several; nil means the first.
    package mutating func tapWidget(
        _ key: Widget.Key, item: String? = nil, link: String?, intent: String?,
        parameters: [UInt8]?, at now: WallInstant
    ) -> [PhoneEffect] {
        let widget = board.widgets.first { $0.key == key }
        let items = key.config?.split(separator: ",").map(String.init) ?? []
        // If there are several items, each visible item has a link, in the same order.
        let links = widget?.current.map(\.links) ?? []
        let there = items.indices.filter { widget?.hasItem($0) ?? false }
        let places = items.count > 1 && links.count == there.count ? there : []
        let linked = link.flatMap { links.firstIndex(of: $0) }
        let index =
            linked.flatMap { places.indices.contains($0) ? places[$0] : nil }
            ?? item.flatMap { items.firstIndex(of: $0) } ?? there.first ?? 0
        let own = places.firstIndex(of: index).map { links[$0] }
        let isAbsent = items.count > 1 && !there.contains(index)
        let url = link ?? own ?? (isAbsent ? nil : widget?.current?.url)
        let page = OpenedPage(type: widget?.type, state: widget?.state(ofItem: index) ?? [])
        if intent == nil, url == nil {
            let effects = advance(to: now) + setLocked(false, at: now)
            (opened, openedPage) = (nil, page)
            return effects + move(to: .active, at: now)
        }
        let effects = tap(
            activity: nil, widget: key.kind,
            config: item ?? (index < items.count ? items[index] : nil),
            link: intent == nil ? url : nil, intent: intent, parameters: parameters, at: now)
        if intent == nil { openedPage = page }
        return effects
    }

    mutating func carryOut(_ effects: [WidgetBoard.Effect]) -> [PhoneEffect] {
        effects.map { effect in
            switch effect {
            case .fetch(let widget): return .widgetFetch(widget)
            case .drawn(let widget):
                return .widgetDrawn(widget)
            }
        }
    }
}
