import TomboloJSON

// Checks of a widget step that concern placeholders, cards, controls and the gallery.

extension WidgetPlayer {
    /// True if the phones' other surfaces are as the step expects. Checks of missing phones pass.
    func holdsBesides(_ step: Scenario.Step) -> Bool {
        // Widgets that have not fetched yet show the placeholder.
        let waiting = step.view.texts("placeholder")
        let unfetched = places.filter { waiting.contains($0.name) }
        guard unfetched.allSatisfy({ pages[$0.name]?.document.root["placeholder"]?.bool == true })
        else { return false }
        if step.view["no_fetch"]?.bool == true {
            guard places.allSatisfy({ fetches(pages, $0.name) == fetches(pagesBefore, $0.name) })
            else { return false }
        }
        return (step.view["cards"].map(cardsHold) ?? true)
            && (step.view["controls"].map(controlsHold) ?? true)
            && (step.view["gallery"].map(galleryHolds) ?? true)
            && (step.view["tap"].map(tapHolds) ?? true)
    }

    /// The newest tap on the phone was not sent, for this reason.
    private func tapHolds(_ tap: JSONView) -> Bool {
        guard let page = phones[tap["on"]?.string ?? ""] else { return true }
        return page.document.root["tap"]?["reason"]?.string == tap["reason"]?.string
    }

    func fetches(_ pages: [String: JSON], _ name: String) -> Int64 {
        pages[name]?.document.root["fetches"]?.integer ?? 0
    }

    /// The phones show the activity's card in this state.
    private func cardsHold(_ cards: JSONView) -> Bool {
        let activity = filled(cards["activity"]?.string ?? "")
        return cards.texts("on").allSatisfy { phone in
            guard let page = phones[phone], let shows = cards["shows"] else { return true }
            let card = page.document.root["cards"]?.elements.first {
                $0["activity"]?.string == activity
            }
            return card?["drawn_state"]?.isSame(as: shows) ?? false
        }
    }

    /// The phones' controls of this kind were reloaded during the step.
    private func controlsHold(_ controls: JSONView) -> Bool {
        let kind = "control:\(controls["kind"]?.string ?? "")"
        func count(_ page: JSON?) -> Int64 { page?.document.root["reloads"]?[kind]?.integer ?? 0 }
        return controls.texts("on").allSatisfy {
            phones[$0] == nil || count(phones[$0]) > count(phonesBefore[$0])
        }
    }

    /// The phone's gallery shows these states for these families.
    private func galleryHolds(_ gallery: JSONView) -> Bool {
        guard let page = phones[gallery["on"]?.string ?? ""] else { return true }
        guard let open = page.document.root["gallery"], open["complete"]?.bool == true,
            open["kind"]?.string == filled("{kind}"), let expected = gallery["shows"]
        else { return false }
        return expected.members.allSatisfy { family, shows in
            let drawn = open["families"]?.elements.first { $0["family"]?.string == family }
            return drawn?["state"]?.isSame(as: shows) ?? false
        }
    }
}
