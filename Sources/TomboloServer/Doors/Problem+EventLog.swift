import TomboloAPI
import TomboloEventLog

extension Problem {
    /// The problem for a failed read of the log. The relay's own output has the operator's remedy.
    init(_ error: EventLogError) {
        switch error {
        case .unusable(let cause, let hint), .owned(let cause, let hint),
            .unavailable(let cause, let hint):
            self.init(.logUnreadable, "The log cannot be read: \(cause). \(hint)")
        case .closed: self.init(.stopping, "The relay is stopping. Send the request again.")
        case .full(let hint): self.init(.logUnreadable, "The disk is full. \(hint)")
        case .outcomeUnknown(let cause):
            self.init(.logUnreadable, "The log has failed: \(cause). Start the relay again.")
        case .versionConflict, .duplicateKey:
            self.init(.internalError, "The log refused a read.")
        }
    }
}
