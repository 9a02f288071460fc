import TomboloJSON

/// The widget that a request to the control port names.
struct WidgetDeed {
    let kind: String?
    let family: Widget.Family?
    let config: String?

    init(_ view: JSONView) throws(PhoneDeed.Fault) {
        kind = view["widget"]?.string
        config = view["config"]?.string
        guard let name = view["family"]?.string else {
            family = nil
            return
        }
        guard let known = Widget.Family(rawValue: name) else {
            let names = Widget.Family.allCases.map(\.rawValue).joined(separator: ", ")
            throw PhoneDeed.Fault(message: "\"family\" must be one of \(names)")
        }
        family = known
    }

    /// The first matching widget on the phone. If the request names no configuration, widgets
    /// without one come first. If it names one, a widget with exactly this configuration comes
    /// before a widget with several.
    func widget(on phone: Phone) -> Widget? {
        let meant = phone.board.widgets.filter { widget in
            widget.key.kind == kind && (family ?? widget.key.family) == widget.key.family
                && (config == nil || config == widget.key.config
                    || widget.key.config?.split(separator: ",").contains { $0 == config ?? "" }
                        == true)
        }
        return meant.first { $0.key.config == config } ?? meant.first
    }

    /// The configuration that selects one item of the widget; nil means the whole widget.
    func item(of widget: Widget) -> String? { config == widget.key.config ? nil : config }

    /// Why the phone's present state does not allow the action; nil if it allows it.
    func obstacle(to deed: PhoneDeed, link: String?, on phone: Phone) -> String? {
        let name = phone.configuration.name
        let words = [kind, family?.rawValue, config].compactMap(\.self).joined(separator: " ")
        switch deed {
        case .widgetAdd:
            guard kind?.isEmpty == false, let family else {
                return "widget-add needs \"widget\" (its kind) and \"family\""
            }
            guard phone.configuration.idiom.has(family) else {
                return family == .accessoryCorner
                    ? "accessoryCorner is a family of the watch, which is not drawn here"
                    : "\(name) is a \(phone.configuration.idiom.rawValue) and has no "
                        + "\(family.rawValue); pad-1 of tombolo dev has"
            }
            let key = Widget.Key(kind: kind ?? "", family: family, config: config)
            if phone.board.widgets.contains(where: { $0.key == key }) {
                return "\(name) has the widget \(words) already"
            }
            if phone.board.widgets.count >= WidgetRules.widgetsMax {
                return "\(name) has \(WidgetRules.widgetsMax) widgets; remove one first"
            }
        case .widgetRemove:
            if widget(on: phone) == nil { return "\(name) has no widget \(words)" }
        case .widgetReload:
            if phone.presence != .active {
                return "on \(name) no app is in front; open it first, with front"
            }
            if kind != nil, widget(on: phone) == nil { return "\(name) has no widget \(words)" }
        case .widgetGallery:
            if kind?.isEmpty != false { return "widget-gallery needs \"widget\", a kind" }
        case .tap where kind != nil:
            guard let widget = widget(on: phone) else { return "\(name) has no widget \(words)" }
            guard let link else { return nil }
            if !widget.key.family.hasLinks {
                return "\(widget.key.family.rawValue) has one place to tap: leave the link out"
            }
            if widget.current?.links.contains(link) != true {
                return "the widget shows no link \(link)"
            }
        default: break
        }
        return nil
    }
}
