// https://developer.apple.com/documentation/objectivec/nsobjectprotocol
// From memory, page not read.
@objc public protocol NSObjectProtocol {}

// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
// From memory, page not read.
@objc open class NSObject: NSObjectProtocol, Hashable {
    public init() { fatalError() }
    public static func == (lhs: NSObject, rhs: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

// What the compiler itself asks for.
@frozen public struct ObjCBool: Sendable {
    var value: UInt8
}
public func _convertBoolToObjCBool(_ x: Bool) -> ObjCBool { fatalError() }
public func _convertObjCBoolToBool(_ x: ObjCBool) -> Bool { fatalError() }
@frozen public struct Selector: Hashable, Sendable {
    var name: Int
}
