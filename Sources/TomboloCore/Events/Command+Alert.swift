import TomboloJSON

extension Command.Content {
    var alert: JSON? {
        switch self {
        case .start(let start): start.alert
        case .update(let update): update.alert
        case .end(let end): end.alert
        case .play, .stop: nil
        }
    }
}
