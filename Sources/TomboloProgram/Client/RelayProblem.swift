import TomboloJSON

/// A refusal of the relay (RFC 9457), as the program reports it.
struct RelayProblem: Sendable {
    let status: Int
    let code: String
    private let text: String

    /// Reads a problem's body. If it is no problem document (RFC 9457), only the status is
    /// reported.
    init(status: Int, body: [UInt8]) {
        // A proxy's error page is not JSON.
        let view = try? JSONDocument(body).root
        self.init(status: status, view: view)
    }

    init(status: Int, view: JSONView?) {
        self.status = status
        code = view?["code"]?.string ?? ""
        var text = view?["title"]?.string ?? "the relay answered \(status)"
        if let detail = view?["detail"]?.string, detail != text { text += ": \(detail)" }
        if let errors = view?["errors"] {
            for error in errors.elements {
                let message = error["detail"]?.string ?? error["message"]?.string ?? ""
                text += "\n  \(error["pointer"]?.string ?? ""): \(message)"
            }
        }
        self.text = CommandWords.replacingRequests(in: text)
    }

    /// The error, with a remedy if the code has one. `name` is the activity or row.
    ///
    /// - Parameter path: the request's path, on which the remedy depends.
    func error(name: String?, path: String = "") -> ProgramError {
        ProgramError(
            text, remedy: remedy(name ?? "ID", path), status: ExitStatus(httpStatus: status))
    }

    private func remedy(_ name: String, _ path: String) -> String? {
        switch (status, code) {
        case (401, _):
            "give --key, or set TOMBOLO_KEY or TOMBOLO_KEY_FILE; "
                + "without a key see tombolo help key mint"
        case (403, _):
            "use a key with the scope; one of scope operate makes it: tombolo key mint --scope …"
        case (_, "activity-running") where path.contains("/erase"): "tombolo end \(name)"
        case (_, "activity-running") where path.contains("restart=true"):
            "tombolo end \(name), then: tombolo start \(name) --restart …"
        case (_, "activity-running"): "tombolo update \(name) …"
        case (_, "activity-ended"): "tombolo start \(name) --restart …"
        case (_, "unknown-app"): "tombolo config check"
        case (_, "unknown-activity"): "tombolo activity ls"
        case (412, _): "tombolo activity show \(name)"
        case (429, _), (503, _): "try again in a moment"
        default: nil
        }
    }
}
