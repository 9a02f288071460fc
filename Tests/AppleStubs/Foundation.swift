@_exported public import Dispatch
@_exported public import ObjectiveC

// From memory, pages not read, but for URLSession's upload methods, its delegates, and
// `performExpiringActivity(withReason:using:)`. Nothing has an
// @available that is older than iOS 16.2, because no target here is older.

// What bridges to Objective-C: `as NSString`, `as CFDictionary`, and the methods of its protocols.
// https://developer.apple.com/documentation/corefoundation
// Apple's CF types are classes of their own; here they are names of the NS ones.
public typealias CFTypeRef = AnyObject
public typealias CFString = NSString
public typealias CFDictionary = NSDictionary
public typealias CFData = NSData
public typealias CFBoolean = NSNumber
public typealias OSStatus = Int32
public typealias TimeInterval = Double
public var kCFBooleanTrue: CFBoolean! { fatalError() }
public var kCFBooleanFalse: CFBoolean! { fatalError() }
open class NSString: NSObject {}
open class NSNumber: NSObject {}
open class NSData: NSObject {}
open class NSDate: NSObject {}
open class NSURL: NSObject {}
open class NSUUID: NSObject {}
open class NSArray: NSObject {}
open class NSDictionary: NSObject {}
open class NSURLRequest: NSObject {}
public protocol ObjectBridged: _ObjectiveCBridgeable {}
extension ObjectBridged {
    public func _bridgeToObjectiveC() -> _ObjectiveCType { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ x: _ObjectiveCType, result: inout Self?) {}
    public static func _conditionallyBridgeFromObjectiveC(
        _ x: _ObjectiveCType, result: inout Self?
    ) -> Bool { fatalError() }
    public static func _unconditionallyBridgeFromObjectiveC(_ x: _ObjectiveCType?) -> Self {
        fatalError()
    }
}
extension String: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSString
}
extension Bool: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSNumber
}
extension Int: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSNumber
}
extension Double: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSNumber
}
extension Array: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSArray
}
extension Dictionary: @retroactive _ObjectiveCBridgeable, ObjectBridged {
    public typealias _ObjectiveCType = NSDictionary
}
extension Data: ObjectBridged { public typealias _ObjectiveCType = NSData }
extension Date: ObjectBridged { public typealias _ObjectiveCType = NSDate }
extension URL: ObjectBridged { public typealias _ObjectiveCType = NSURL }
extension UUID: ObjectBridged { public typealias _ObjectiveCType = NSUUID }
extension URLRequest: ObjectBridged { public typealias _ObjectiveCType = NSURLRequest }

// https://developer.apple.com/documentation/corefoundation/cgfloat and its neighbours
public typealias CGFloat = Double
// Of Darwin, which Foundation re-exports; from memory.
public func sin(_ x: Double) -> Double { fatalError() }
public func cos(_ x: Double) -> Double { fatalError() }
public struct CGPoint: Equatable, Sendable {
    public var x, y: CGFloat
    public init(x: CGFloat, y: CGFloat) { fatalError() }
}
public struct CGSize: Equatable, Sendable {
    public var width, height: CGFloat
    public init(width: CGFloat, height: CGFloat) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/data
public struct Data: RandomAccessCollection, RangeReplaceableCollection, MutableCollection,
    Hashable, Codable, Sendable
{
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
        public static let atomic = WritingOptions(rawValue: 1)
        public static let noFileProtection = WritingOptions(rawValue: 2)
        public static let completeFileProtectionUntilFirstUserAuthentication =
            WritingOptions(rawValue: 3)
    }
    public struct SearchOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
    }
    public struct Base64Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
    }
    public init() { fatalError() }
    public init<S: Sequence>(_ elements: S) where S.Element == UInt8 { fatalError() }
    public init(contentsOf url: URL, options: Data.ReadingOptions = []) throws { fatalError() }
    public init?(base64Encoded: String, options: Base64DecodingOptions = []) { fatalError() }
    public typealias Base64DecodingOptions = Base64Options
    public func base64EncodedString(options: Base64Options = []) -> String { fatalError() }
    public func write(to url: URL, options: Data.WritingOptions = []) throws { fatalError() }
    public func range(
        of dataToFind: Data, options: Data.SearchOptions = [], in range: Range<Int>? = nil
    ) -> Range<Int>? { fatalError() }
    public var startIndex: Int { fatalError() }
    public var endIndex: Int { fatalError() }
    public subscript(index: Int) -> UInt8 {
        get { fatalError() }
        set {}
    }
    public subscript(bounds: Range<Int>) -> Data {
        get { fatalError() }
        set {}
    }
    public mutating func replaceSubrange<C: Collection>(_ range: Range<Int>, with bytes: C)
    where C.Element == UInt8 {}
}

// https://developer.apple.com/documentation/foundation/date
public struct Date: Hashable, Comparable, Codable, Sendable {
    public init() { fatalError() }
    public init(timeIntervalSince1970: TimeInterval) { fatalError() }
    public init(timeIntervalSinceNow: TimeInterval) { fatalError() }
    public init(timeInterval: TimeInterval, since date: Date) { fatalError() }
    public static var now: Date { fatalError() }
    public static var distantPast: Date { fatalError() }
    public static var distantFuture: Date { fatalError() }
    public var timeIntervalSince1970: TimeInterval { fatalError() }
    public var timeIntervalSinceNow: TimeInterval { fatalError() }
    public func timeIntervalSince(_ date: Date) -> TimeInterval { fatalError() }
    public func addingTimeInterval(_ interval: TimeInterval) -> Date { fatalError() }
    public static func < (a: Date, b: Date) -> Bool { fatalError() }
    public static func + (a: Date, b: TimeInterval) -> Date { fatalError() }
    public static func - (a: Date, b: TimeInterval) -> Date { fatalError() }
    public struct ISO8601FormatStyle: Sendable {
        public init(includingFractionalSeconds: Bool = false) { fatalError() }
        public func parse(_ value: String) throws -> Date { fatalError() }
        public func format(_ value: Date) -> String { fatalError() }
    }
    public func ISO8601Format(_ style: ISO8601FormatStyle = .init()) -> String { fatalError() }
}

// https://developer.apple.com/documentation/foundation/url
public struct URL: Hashable, Codable, Sendable {
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, inferFromPath }
    public init?(string: String) { fatalError() }
    public init?(string: String, relativeTo url: URL?) { fatalError() }
    public init(fileURLWithPath path: String) { fatalError() }
    public var absoluteString: String { fatalError() }
    public var scheme: String? { fatalError() }
    public var query: String? { fatalError() }
    public var path: String { fatalError() }
    public var lastPathComponent: String { fatalError() }
    public var pathExtension: String { fatalError() }
    public func path(percentEncoded: Bool = true) -> String { fatalError() }
    public func host(percentEncoded: Bool = true) -> String? { fatalError() }
    public func appendingPathComponent(_ pathComponent: String) -> URL { fatalError() }
    public func appending<S: StringProtocol>(
        path: S, directoryHint: URL.DirectoryHint = .inferFromPath
    ) -> URL { fatalError() }
    public func deletingLastPathComponent() -> URL { fatalError() }
    public mutating func setResourceValues(_ values: URLResourceValues) throws { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlrequest
// https://developer.apple.com/documentation/foundation/urlresourcevalues, from memory
public struct URLResourceValues {
    public init() { fatalError() }
    public var isExcludedFromBackup: Bool?
}

public struct URLRequest: Hashable, Sendable {
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData
    }
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy,
        timeoutInterval: TimeInterval = 60.0
    ) { fatalError() }
    public var url: URL?
    public var httpMethod: String?
    public var httpBody: Data?
    public var timeoutInterval: TimeInterval
    public var allHTTPHeaderFields: [String: String]?
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
    public func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/httpurlresponse
open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { fatalError() }
}
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { fatalError() }
    open func value(forHTTPHeaderField field: String) -> String? { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
// Without Sendable, which is the stricter reading.
open class URLSessionConfiguration: NSObject {
    override init() { fatalError() }
    open class var `default`: URLSessionConfiguration { fatalError() }
    open class var ephemeral: URLSessionConfiguration { fatalError() }
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        fatalError()
    }
    open var identifier: String? { fatalError() }
    open var requestCachePolicy: URLRequest.CachePolicy
    open var timeoutIntervalForRequest: TimeInterval
    open var timeoutIntervalForResource: TimeInterval
    open var waitsForConnectivity: Bool
    open var isDiscretionary: Bool
    open var sharedContainerIdentifier: String?
    open var sessionSendsLaunchEvents: Bool
    open var httpAdditionalHeaders: [AnyHashable: Any]?
}

// https://developer.apple.com/documentation/foundation/urlsessionuploadtask
open class URLSessionTask: NSObject, @unchecked Sendable {
    override init() { fatalError() }
    open var taskIdentifier: Int { fatalError() }
    open var originalRequest: URLRequest? { fatalError() }
    open var response: URLResponse? { fatalError() }
    open var error: (any Error)? { fatalError() }
    open var taskDescription: String?
    open var earliestBeginDate: Date?
    open func resume() {}
    open func cancel() {}
}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

// https://developer.apple.com/documentation/foundation/urlsession
// https://developer.apple.com/documentation/foundation/urlsession/upload(for:from:delegate:)
// https://developer.apple.com/documentation/foundation/urlsession/upload(for:fromfile:delegate:)
// https://developer.apple.com/documentation/foundation/urlsession/uploadtask(with:fromfile:)
open class URLSession: NSObject, @unchecked Sendable {
    open class var shared: URLSession { fatalError() }
    public init(configuration: URLSessionConfiguration) { fatalError() }
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) { fatalError() }
    open func invalidateAndCancel() {}
    open func finishTasksAndInvalidate() {}
    open var allTasks: [URLSessionTask] { get async { fatalError() } }
    open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
    open func uploadTask(with request: URLRequest, fromFile file: URL) -> URLSessionUploadTask {
        fatalError()
    }
    open func downloadTask(with request: URLRequest) -> URLSessionDownloadTask { fatalError() }
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
    public func upload(
        for request: URLRequest, from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
    public func upload(
        for request: URLRequest, fromFile fileURL: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) { fatalError() }
}

// https://developer.apple.com/documentation/foundation/urlsessiondelegate
// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
@objc public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    @objc optional func urlSession(
        _ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    @objc optional func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}
@objc public protocol URLSessionTaskDelegate: URLSessionDelegate {
    @objc optional func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
@objc public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    @objc optional func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
@objc public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL)
}
open class OperationQueue: NSObject, @unchecked Sendable {
    open class var main: OperationQueue { fatalError() }
}

// https://developer.apple.com/documentation/foundation/filemanager
// Without Sendable, which is the stricter reading.
open class FileManager: NSObject {
    public enum SearchPathDirectory: UInt, Sendable {
        case documentDirectory, cachesDirectory, applicationSupportDirectory
    }
    public struct SearchPathDomainMask: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
        public static let userDomainMask = SearchPathDomainMask(rawValue: 1)
    }
    open class var `default`: FileManager { fatalError() }
    open var temporaryDirectory: URL { fatalError() }
    open func urls(
        for directory: SearchPathDirectory, in domainMask: SearchPathDomainMask
    ) -> [URL] { fatalError() }
    open func url(
        for directory: SearchPathDirectory, in domain: SearchPathDomainMask,
        appropriateFor url: URL?, create shouldCreate: Bool
    ) throws -> URL { fatalError() }
    open func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? {
        fatalError()
    }
    open func createDirectory(
        at url: URL, withIntermediateDirectories: Bool,
        attributes: [FileAttributeKey: Any]? = nil
    ) throws {}
    open func contentsOfDirectory(atPath path: String) throws -> [String] { fatalError() }
    open func removeItem(at url: URL) throws {}
    open func moveItem(at srcURL: URL, to dstURL: URL) throws {}
    open func fileExists(atPath path: String) -> Bool { fatalError() }
}
public struct FileAttributeKey: Hashable, Sendable {
    public static let protectionKey = FileAttributeKey()
}

// https://developer.apple.com/documentation/foundation/jsonencoder and its neighbours
open class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { fatalError() }
        public static let sortedKeys = OutputFormatting(rawValue: 2)
    }
    public init() { fatalError() }
    open var outputFormatting: OutputFormatting
    open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}
open class JSONDecoder {
    public init() { fatalError() }
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}
open class JSONSerialization: NSObject {
    open class func jsonObject(with data: Data) throws -> Any { fatalError() }
    open class func data(withJSONObject object: Any) throws -> Data { fatalError() }
}
open class PropertyListSerialization: NSObject {
    public enum PropertyListFormat: UInt, Sendable { case xml, binary }
    open class func data(
        fromPropertyList plist: Any, format: PropertyListFormat, options: Int
    ) throws -> Data { fatalError() }
}

// https://developer.apple.com/documentation/foundation/bundle
// Without Sendable, which is the stricter reading; so are the next two.
open class Bundle: NSObject {
    open class var main: Bundle { fatalError() }
    open var bundleIdentifier: String? { fatalError() }
    open var infoDictionary: [String: Any]? { fatalError() }
    open func object(forInfoDictionaryKey key: String) -> Any? { fatalError() }
    open func url(forResource: String?, withExtension: String?) -> URL? { fatalError() }
}
// https://developer.apple.com/documentation/foundation/userdefaults
open class UserDefaults: NSObject {
    open class var standard: UserDefaults { fatalError() }
    public init?(suiteName: String?) { fatalError() }
    open func string(forKey defaultName: String) -> String? { fatalError() }
    open func data(forKey defaultName: String) -> Data? { fatalError() }
    open func set(_ value: Any?, forKey defaultName: String) {}
    open func removeObject(forKey defaultName: String) {}
}
// https://developer.apple.com/documentation/foundation/processinfo
// (its `performExpiringActivity(withReason:using:)` was read)
open class ProcessInfo: NSObject {
    open class var processInfo: ProcessInfo { fatalError() }
    open var systemUptime: TimeInterval { fatalError() }
    open var operatingSystemVersion: OperatingSystemVersion { fatalError() }
    open func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {}
}
public struct OperatingSystemVersion: Sendable {
    public var majorVersion, minorVersion, patchVersion: Int
}

// https://developer.apple.com/documentation/foundation/notificationcenter
public struct Notification {
    public struct Name: Hashable, Sendable {
        public init(_ rawValue: String) { fatalError() }
    }
    public var name: Notification.Name
}
open class NotificationCenter: NSObject, @unchecked Sendable {
    open class var `default`: NotificationCenter { fatalError() }
    open func addObserver(
        forName name: Notification.Name?, object obj: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol { fatalError() }
    open func removeObserver(_ observer: Any) {}
    public final func notifications(
        named name: Notification.Name, object: AnyObject? = nil
    ) -> NotificationCenter.Notifications { fatalError() }
    public struct Notifications: AsyncSequence {
        public typealias Element = Notification
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
}

// https://developer.apple.com/documentation/foundation/uuid and what is as small
public struct UUID: Hashable, Codable, Sendable {
    public init() { fatalError() }
    public init?(uuidString: String) { fatalError() }
    public var uuidString: String { fatalError() }
}
public struct TimeZone: Hashable, Sendable {
    public static var current: TimeZone { fatalError() }
    public var identifier: String { fatalError() }
}
public struct Locale: Hashable, Sendable {
    public static var current: Locale { fatalError() }
    public var identifier: String { fatalError() }
}
open class NSError: NSObject, Error, @unchecked Sendable {
    open var domain: String { fatalError() }
    open var code: Int { fatalError() }
}
// What the compiler asks for where an error crosses to Objective-C.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ error: NSError?) -> any Error { fatalError() }
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
}
extension LocalizedError { public var errorDescription: String? { fatalError() } }
extension Error { public var localizedDescription: String { fatalError() } }
open class NSLock: NSObject, @unchecked Sendable {
    @available(*, noasync, message: "Use async-safe scoped locking instead")
    open func lock() {}
    @available(*, noasync, message: "Use async-safe scoped locking instead")
    open func unlock() {}
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { fatalError() }
}
public struct CharacterSet: Sendable {
    public static var urlPathAllowed: CharacterSet { fatalError() }
    public static var urlQueryAllowed: CharacterSet { fatalError() }
    public static var alphanumerics: CharacterSet { fatalError() }
}
extension String {
    public struct Encoding: Sendable { public static let utf8 = Encoding() }
    public init?(data: Data, encoding: String.Encoding) { fatalError() }
    public init(format: String, _ arguments: any CVarArg...) { fatalError() }
}
extension StringProtocol {
    public func data(using encoding: String.Encoding) -> Data? { fatalError() }
    public func addingPercentEncoding(withAllowedCharacters: CharacterSet) -> String? {
        fatalError()
    }
}

// https://developer.apple.com/documentation/foundation/localizedstringresource
public struct LocalizedStringResource: ExpressibleByStringInterpolation, Equatable, Sendable {
    public init(stringLiteral value: String) { fatalError() }
}
