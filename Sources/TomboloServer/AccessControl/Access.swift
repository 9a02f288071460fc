package import TomboloCore

/// The access that a route requires of the request's key.
package enum Access: Hashable, Sendable, CaseIterable {
    /// No key.
    case open
    case produce
    case observe
    /// The key of the device in the path.
    case ownDevice
    /// The key of the device in the path, or an observer's.
    case ownDeviceOrObserve
    /// The key of any device, which sees only its own data, or an observer's.
    case anyDeviceOrObserve
    case operate

    /// True if a key of these scopes may make the request. `device` is the device in the path. The
    /// scope `operate` includes all others; no other scope includes another.
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

    /// The narrowest scope that suffices, as the option `--scope` takes it; nil if none is needed.
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
