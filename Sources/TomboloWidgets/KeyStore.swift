#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
internal import Foundation
internal import Security

/// The device's key in the Keychain. The app and its extension share it by the App Group. It can be
/// read while the phone is locked, once it was unlocked after its start.
package enum KeyStore {
    private static var item: [String: Any] {
        let base: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "tombolo",
            // Of this installation: the Keychain outlives the app.
            kSecAttrAccount as String: Connection.current?.device ?? "",
        ]
        let group = Connection.group.map { [kSecAttrAccessGroup as String: $0 as Any] } ?? [:]
        return base.merging(group) { $1 }
    }

    /// The key, nil if there is none; and true if the phone was not unlocked since its start, so
    /// that it cannot be read.
    package static var read: (key: String?, isLocked: Bool) {
        var found: CFTypeRef?
        let asked: [String: Any] = [kSecReturnData as String: true]
        let status = SecItemCopyMatching(item.merging(asked) { $1 } as CFDictionary, &found)
        let key = (found as? Data).flatMap { String(data: $0, encoding: .utf8) }
        return (key, status == errSecInteractionNotAllowed)
    }

    /// Replaces the key; nil removes it. False if there is no key now.
    package static func save(_ key: String?) -> Bool {
        _ = SecItemDelete(item as CFDictionary)
        guard let data = key?.data(using: .utf8) else { return false }
        let value: [String: Any] = [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        return SecItemAdd(item.merging(value) { $1 } as CFDictionary, nil) == errSecSuccess
    }
}
#endif
