import TomboloJSON

extension UploadQueue.Outcome {
    /// Reads the answer to an upload.
    ///
    /// - Parameters:
    ///   - status: the status; nil if no answer came in time.
    ///   - body: the answer's body. If it is a problem (RFC 9457), its `code` is read.
    public init(status: Int?, body: [UInt8]) {
        // An answer that is not JSON is no problem of the relay, such as a proxy's page.
        let code = (try? JSONDocument(body).root)?["code"]?.string
        self = status.map { .answered(status: $0, code: code) } ?? .unreachable
    }
}

extension UploadQueue.Upload {
    /// True if the upload may arrive late, after newer ones: a token has the time of its
    /// observation, and the relay keeps the newest. So it may go into a background session.
    public var mayBeLate: Bool { kind == .token }
}

extension UploadQueue {
    /// The upload of one token, for a process without a queue, such as a widget extension.
    ///
    /// - Parameters:
    ///   - name: `widget`, or `control:KIND`.
    ///   - token: in hex.
    ///   - time: when the process got the token, in RFC 3339.
    /// - Returns: nil if the token is empty.
    public static func token(
        _ token: String, name: String, device: String, time: String
    ) -> (path: String, body: [UInt8])? {
        var contract = AppContract(
            device: device,
            facts: DeviceFacts(app: "", environment: "", os: "", frequentUpdates: false))
        let kind = name.hasPrefix("control:") ? String(name.dropFirst(8)) : nil
        let event = kind.map { AppEvent.controlToken(kind: $0, token) } ?? .widgetToken(token)
        _ = contract.handle(event, at: .zero, time: time)
        return contract.queue.next(at: .zero).map { ($0.path, $0.body) }
    }
}
