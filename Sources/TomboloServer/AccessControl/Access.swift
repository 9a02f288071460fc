package import TomboloCore

/// What a route demands of the key that comes with a request.
package enum Access: Hashable, Sendable, CaseIterable {
    /// No key.
    case open
    case produce
    case observe
    /// The device in the path itself.
    case ownDevice
    /// The device in the path itself, or an observer.
    case ownDeviceOrObserve
    /// Any device, which sees what is its own, or an observer.
    case anyDeviceOrObserve
    case operate

    /// Whether these scopes cover a request; `operate` covers all, nothing else covers more than it
    /// says.
    package func isCovered(by scopes: ScopeSet, device: Identifier?) -> Bool {
        if self == .open || scopes.contains(.operate) { return true }
        let isOwn = device.map { scopes.contains(.device($0)) } ?? false
        return switch self {
        case .open: true
        case .produce: scopes.contains(.produce)
        case .observe: scopes.contains(.observe)
        case .ownDevice: isOwn
        case .ownDeviceOrObserve: isOwn || scopes.contains(.observe)
        case .anyDeviceOrObserve: !scopes.devices.isEmpty || scopes.contains(.observe)
        case .operate: false
        }
    }

    /// The narrowest scope that would do, as `--scope` takes it; nil where none is needed.
    package func scopeNeeded(device: Identifier?) -> String? {
        switch self {
        case .open: nil
        case .produce: "produce"
        case .observe, .ownDeviceOrObserve, .anyDeviceOrObserve: "observe"
        case .ownDevice: device.map { Scope.device($0).text } ?? "operate"
        case .operate: "operate"
        }
    }
}
