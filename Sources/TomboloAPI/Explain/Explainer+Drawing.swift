import TomboloCore

// Explains why a phone has a version but does not show it.

extension Explainer {
    /// Causes if the card shows an older version than the phone has received.
    var undrawn: [Suspect] {
        guard reportsDrawing, let received, let at = received.at else { return [] }
        let last = evidence.phone.last { fact in
            fact.kind == "card.reported" && fact.recordedAt <= end
        }
        var reasons = [received.text]
        if let drawn = last.flatMap({ Self.number($0, "drawn_version") }) {
            reasons.append("Its newest picture is of version \(drawn).")
        } else if end - at < Self.drawingTime {
            // The phone has not reported a drawing yet, and still has time for it.
            return []
        }
        var found: [Suspect] = []
        if last.flatMap({ Self.string($0, "phase") }) == "stale" {
            found.append(
                Suspect(
                    "stale_not_drawn",
                    "The card is stale, and a card whose app is dead is not drawn again when its stale "
                        + "date passes.",
                    speaksFor: reasons + ["The phone reported the card as stale."]))
        }
        found.append(
            Suspect(
                "extension_frozen",
                "The system may not call the widget extension any more: the state is right, and the "
                    + "picture stays. It lasts until the app is opened, or the card begins again.",
                speaksFor: reasons))
        found.append(
            Suspect(
                "loading_overlay",
                "A loading spinner may lie over the old picture until the app is opened.",
                speaksFor: reasons))
        if evidence.deliveries.last?.record.attempt?.priority == 5 {
            found.append(Self.lowPower("The newest push had priority 5."))
        }
        return found
    }

    /// From iOS 18 on, a phone redraws a card only every 5 to 15 s.
    private static let drawingTime = Span.seconds(15)

    static func lowPower(_ reason: String) -> Suspect {
        Suspect(
            "low_power",
            "Low Power Mode suppresses starts, and draws late.", speaksFor: [reason])
    }

    /// Cause: frames of a clip were hidden because the app was in the foreground.
    var hiddenFrames: [Suspect] {
        guard evidence.asked.kind == .play, !isChannel else { return [] }
        let hidden = evidence.phone.filter { $0.kind == "clip.frames" && $0.recordedAt <= end }
            .reduce(Int64(0)) { $0 + (Self.number($1, "hidden") ?? 0) }
        let isInFront = evidence.moment == nil && evidence.registration?.presence?.isInFront == true
        guard hidden > 0 || isInFront else { return [] }
        var reasons: [String] = []
        if hidden > 0 { reasons.append("\(hidden) frames were hidden, by the books.") }
        if isInFront { reasons.append("\(evidence.device) reports that its app is in front.") }
        return [
            Suspect(
                "frames_hidden",
                "The app is in front of the card on \(evidence.device), or was: the relay sends no "
                    + "frames meanwhile (show_when).",
                speaksFor: reasons)
        ]
    }
}
