import TomboloJSON

// Checks of a widget step that concern placeholders, cards, controls and the gallery.

extension WidgetPlayer {
    /// True if the phones' other surfaces are as the step expects. Checks of missing phones pass.
    func holdsBesides(_ step: WidgetScenario.Step) -> Bool {
        let unfetched = places.filter { step.unfetched.contains($0.name) }
        guard unfetched.allSatisfy({ pages[$0.name]?.document.root["placeholder"]?.bool == true })
        else { return false }
        if step.isWithoutFetch {
            guard places.allSatisfy({ fetches(pages, $0) == fetches(pagesBefore, $0) }) else {
                return false
            }
        }
        return (step.cards.map(cardsHold) ?? true) && (step.controls.map(controlsHold) ?? true)
            && (step.gallery.map(galleryHolds) ?? true) && (step.tap.map(tapHolds) ?? true)
    }

    private func tapHolds(_ tap: WidgetScenario.Tap) -> Bool {
        guard let page = phones[tap.phone] else { return true }
        return page.document.root["tap"]?["reason"]?.string == tap.reason
    }

    private func fetches(_ pages: [String: JSON], _ place: WidgetScenario.Place) -> Int64 {
        pages[place.name]?.document.root["fetches"]?.integer ?? 0
    }

    private func cardsHold(_ cards: WidgetScenario.Cards) -> Bool {
        let activity = filled(cards.activity)
        return cards.phones.allSatisfy { phone in
            guard let page = phones[phone] else { return true }
            let card = page.document.root["cards"]?.elements.first {
                $0["activity"]?.string == activity
            }
            return card?["drawn_state"].map {
                ScenarioPlayer.isSame($0, cards.shows.document.root)
            } ?? false
        }
    }

    private func controlsHold(_ controls: WidgetScenario.Controls) -> Bool {
        func count(_ page: JSON?) -> Int64 {
            page?.document.root["reloads"]?["control:\(controls.kind)"]?.integer ?? 0
        }
        return controls.phones.allSatisfy {
            phones[$0] == nil || count(phones[$0]) > count(phonesBefore[$0])
        }
    }

    private func galleryHolds(_ gallery: WidgetScenario.Gallery) -> Bool {
        guard let page = phones[gallery.phone] else { return true }
        guard let open = page.document.root["gallery"], open["complete"]?.bool == true,
            open["kind"]?.string == filled("{kind}")
        else { return false }
        return gallery.shows.allSatisfy { family, shows in
            let drawn = open["families"]?.elements.first { $0["family"]?.string == family }
            return drawn?["state"].map { ScenarioPlayer.isSame($0, shows.document.root) } ?? false
        }
    }
}
