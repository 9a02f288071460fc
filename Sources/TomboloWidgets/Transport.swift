#if canImport(ActivityKit) && !targetEnvironment(macCatalyst)
package import Dispatch
package import Foundation
package import TomboloContract

/// Requests to the relay, with the device's key.
package enum Transport {
    /// It keeps nothing on disk, and an answer takes at most 10 s.
    private static let session: URLSession = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = 10
        return URLSession(configuration: configuration)
    }()

    /// Nil without a key, or before `configure`.
    private static func request(_ method: String, _ path: String) -> URLRequest? {
        guard let connection = Connection.current, let key = KeyStore.read.key,
            let url = URL(string: "/v1" + path, relativeTo: connection.relay)
        else { return nil }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = method
        request.setValue("Bearer " + key, forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        return request
    }

    /// The status where there is no key to ask with: 401, or no answer while the phone is locked.
    private static var withoutKey: Int? { KeyStore.read.isLocked ? nil : 401 }

    /// - Parameter body: nil if the request has none.
    private static func send(
        _ request: URLRequest?, _ body: [UInt8]?
    ) async -> (status: Int?, body: [UInt8]) {
        guard let request else { return (withoutKey, []) }
        // Why no answer came does not matter: the caller tries again.
        let answer =
            if let body { try? await session.upload(for: request, from: Data(body)) } else {
                try? await session.data(for: request)
            }
        return ((answer?.1 as? HTTPURLResponse)?.statusCode, answer.map { Array($0.0) } ?? [])
    }

    /// Sends a request. The status is nil if no answer came, or before the phone's first unlock;
    /// without a key it is 401.
    ///
    /// - Parameter path: below `/v1`, escaped.
    package static func post(
        _ path: String, _ body: [UInt8], within seconds: Double
    ) async -> (status: Int?, body: [UInt8]) {
        var request = request("POST", path)
        request?.timeoutInterval = seconds
        return await send(request, body)
    }

    /// As `post`.
    package static func get(_ path: String) async -> (status: Int?, body: [UInt8]) {
        let request = request("GET", path)
        let answer = await send(request, nil)
        // An answer to the key of a former user is none.
        return request == Self.request("GET", path) ? answer : (401, [])
    }

    /// Uploads by an ordinary request. If no answer comes and the upload may be late, the same goes
    /// into a background session, which the system carries on while the process is suspended.
    package static func put(
        _ path: String, _ body: [UInt8], mayBeLate: Bool
    ) async -> UploadQueue.Outcome {
        let request = request("PUT", path)
        let answer = await send(request, body)
        let outcome = UploadQueue.Outcome(status: answer.status, body: answer.body)
        if mayBeLate, outcome == .unreachable, let request, request == Self.request("PUT", path) {
            await BackgroundUploads.start(request, body)
        }
        return outcome
    }

    /// Asks the system not to suspend the process until `end` is called, for 30 s at most.
    package static func beginExpiringActivity() -> DispatchSemaphore {
        let end = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "upload") { isExpired in
            // The activity lasts as long as this block. The system calls it again to end it early.
            let time = isExpired ? DispatchTime.now() : .now() + 30
            _ = end.wait(timeout: time)
            end.signal()
        }
        return end
    }
}

/// Uploads that outlive the process. Their answers do not matter: the next launch uploads the
/// tokens again.
package final class BackgroundUploads: NSObject, URLSessionTaskDelegate {
    /// From `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    @MainActor package static var completionHandler: (() -> Void)?
    /// One session for each process of the app.
    package static var identifier: String { "tombolo." + (Bundle.main.bundleIdentifier ?? "") }
    private static let folder = Folder("uploads")

    /// The session. Its first use in a process takes up the uploads of the process before.
    package static let session: URLSession = {
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.sharedContainerIdentifier = Connection.group
        configuration.timeoutIntervalForResource = 7_200  // as `UploadQueue.retryTimeMax`
        return URLSession(
            configuration: configuration, delegate: BackgroundUploads(), delegateQueue: nil)
    }()

    /// Starts an upload, unless the same is under way.
    static func start(_ request: URLRequest, _ body: [UInt8]) async {
        let name = PathSegment.fileName("\(request.url?.path ?? "") \(body)")
        guard await !session.allTasks.contains(where: { $0.taskDescription == name }) else {
            return
        }
        folder.write(body, name)
        let task = session.uploadTask(with: request, fromFile: folder.url(name))
        task.taskDescription = name
        task.resume()
    }

    /// Cancels all uploads, as their key is of a former user.
    package static func cancel() async {
        for task in await session.allTasks { task.cancel() }
        folder.clear()
    }

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        // The file may be gone already.
        try? FileManager.default.removeItem(at: Self.folder.url(task.taskDescription ?? "none"))
    }

    package func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        Task { @MainActor in
            Self.completionHandler?()
            Self.completionHandler = nil
        }
    }
}
#endif
