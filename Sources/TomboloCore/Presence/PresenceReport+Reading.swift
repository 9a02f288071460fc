package import TomboloJSON

extension PresenceReport {
    /// Maximum number of signals in one report.
    package static let signalsMax = 256

    /// Reads the body of `PUT …/presence`. Throws `FieldErrors` with all faults.
    package init(reading view: JSONView) throws(FieldErrors) {
        var reader = FieldReader(view)
        _ = reader.string("app")
        let phases = Phase.allCases.map { ($0.name, $0) }
        phase = reader.choice("phase", phases)
        cause = reader.string("cause").map { $0 == "control_center" ? .controlCenter : .other($0) }
        at = reader.instant("at")
        if let list = reader.value("signals") {
            signals = Self.signals(list, &reader)
            if phase != nil { reader.fail("signals", "give phase or signals, not both") }
        } else {
            reader.require("phase", ": active, inactive or background")
        }
        try reader.finish()
    }

    private static func signals(
        _ list: JSONView, _ reader: inout FieldReader
    ) -> [PresenceSignal] {
        guard list.kind == .array, (1...signalsMax).contains(list.count) else {
            reader.fail("signals", "must be an array of 1 to \(signalsMax) signals")
            return []
        }
        var signals: [PresenceSignal] = []
        for (index, element) in list.elements.enumerated() {
            guard reader.errors.count < FieldReader.errorsMax else { break }
            let pointer = "\(reader.path("signals"))/\(index)"
            var inner = FieldReader(element, pointer: pointer)
            if let signal = PresenceSignal(reading: &inner, pointer: pointer) {
                signals.append(signal)
            }
            do { try inner.finish() } catch { reader.adopt(error) }
        }
        return signals
    }
}

extension PresenceSignal {
    fileprivate init?(reading reader: inout FieldReader, pointer: String) {
        at = reader.instant("at")
        statusBarHidden = reader.bool("status_bar_hidden")
        var kinds: [Kind] = []
        if let touch = reader.object("touch") {
            kinds.append(Self.touch(touch, &reader))
        }
        let words: [(String, Kind)] = [
            ("will_resign_active", .willResignActive), ("did_become_active", .didBecomeActive),
            ("did_enter_background", .didEnterBackground),
        ]
        for (name, kind) in words where reader.bool(name) == true { kinds.append(kind) }
        if kinds.isEmpty, statusBarHidden != nil { kinds = [.statusBar] }
        guard kinds.count == 1 else {
            // A touch of the wrong shape has its fault already.
            guard !kinds.isEmpty || !reader.has("touch") else { return nil }
            reader.fail(
                "touch",
                "give exactly one of touch, will_resign_active, did_become_active or "
                    + "did_enter_background")
            return nil
        }
        kind = kinds[0]
    }

    private static func touch(_ view: JSONView, _ reader: inout FieldReader) -> Kind {
        var inner = reader.inside(view, "touch")
        let x = inner.double("x", in: -PresenceSignal.pointsMax...PresenceSignal.pointsMax) ?? 0
        let y = inner.double("y", in: -PresenceSignal.pointsMax...PresenceSignal.pointsMax) ?? 0
        let width = inner.double("width", in: 1...PresenceSignal.pointsMax)
        let height = inner.double("height", in: 1...PresenceSignal.pointsMax)
        inner.require("width", ": the screen's width in points")
        inner.require("height", ": the screen's height in points")
        do { try inner.finish() } catch { reader.adopt(error) }
        return .part(x, y, ofWidth: width ?? 1, height: height ?? 1)
    }
}
