public import Foundation

// From memory, pages not read:
// https://developer.apple.com/documentation/security/secitemadd(_:_:) and its three neighbours
// https://developer.apple.com/documentation/security/keychain-items
public func SecItemAdd(
    _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }
public func SecItemCopyMatching(
    _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { fatalError() }
public func SecItemUpdate(
    _ query: CFDictionary, _ attributesToUpdate: CFDictionary
) -> OSStatus { fatalError() }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

public var errSecSuccess: OSStatus { fatalError() }
public var errSecItemNotFound: OSStatus { fatalError() }
public var errSecDuplicateItem: OSStatus { fatalError() }
public var errSecInteractionNotAllowed: OSStatus { fatalError() }
public var errSecMissingEntitlement: OSStatus { fatalError() }

// Apple's are constants of C.
public var kSecClass: CFString { fatalError() }
public var kSecClassGenericPassword: CFString { fatalError() }
public var kSecAttrAccount: CFString { fatalError() }
public var kSecAttrService: CFString { fatalError() }
public var kSecAttrAccessGroup: CFString { fatalError() }
public var kSecAttrSynchronizable: CFString { fatalError() }
public var kSecAttrAccessible: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlock: CFString { fatalError() }
public var kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString { fatalError() }
public var kSecUseDataProtectionKeychain: CFString { fatalError() }
public var kSecValueData: CFString { fatalError() }
public var kSecReturnData: CFString { fatalError() }
public var kSecReturnAttributes: CFString { fatalError() }
public var kSecMatchLimit: CFString { fatalError() }
public var kSecMatchLimitOne: CFString { fatalError() }
public var kSecMatchLimitAll: CFString { fatalError() }
