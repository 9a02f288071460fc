import Glibc
import TomboloCore
import TomboloCrypto

/// The files and names of a `dev` run: a push key that Apple does not know, and an example app.
struct DevWorkplace: Sendable {
    static let bundleID = "com.example.app"
    static let teamID = "DEVTEAM001"
    static let keyID = "DEVKEY0001"
    /// Budget of starts for each phone. It is large, because people experiment in `dev`.
    static let starts: Int64 = 1_000
    /// Budget of reloads for the widgets and for each control of a phone, and of a widget's
    /// fetches. It is large, too.
    static let reloads: Int64 = 1_000

    /// The relay's data directory. It also contains the files of this run.
    let directory: String
    /// Removed at the end of the run; nil if the user named a directory.
    private let temporary: TemporaryDirectory?

    var keyFile: String { "\(directory)/AuthKey_\(Self.keyID).p8" }
    var caFile: String { "\(directory)/simulator-ca.pem" }
    var simulatorData: String { "\(directory)/simulator" }
    /// A page that leads a browser to the wall.
    var wallFile: String { "\(directory)/wall.html" }
    /// A copy of the first line that `dev` prints, for programs that cannot read its stdout.
    var readyFile: String { Self.readyFile(in: directory) }

    static func readyFile(in directory: String) -> String { "\(directory)/dev.json" }

    /// The standard budgets, except for starts and for reloads of widgets and controls.
    static var budgets: Budgets {
        var budgets = Budgets()
        budgets[.start].burst = starts
        budgets[.start].perHour = Double(starts)
        for surface in [BudgetClass.widget, .control] {
            budgets[surface].spacing = .seconds(2)
            budgets[surface].burst = reloads
            budgets[surface].perHour = Double(reloads)
        }
        return budgets
    }

    /// Makes the files that are missing. A directory that was used before keeps its key, so that
    /// its phones stay valid.
    init(_ path: String?) throws(ProgramError) {
        if let path {
            temporary = nil
            directory = path
        } else {
            let fresh = try TemporaryDirectory()
            temporary = fresh
            directory = fresh.path
        }
        for path in [directory, simulatorData] {
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
                throw ProgramError(
                    "\(path) cannot be made: \(SystemError(errno))",
                    remedy: "name another with --data DIR")
            }
        }
        unlink(readyFile)
        guard access(keyFile, F_OK) != 0 else { return }
        do {
            try FileBytes.write(P256PrivateKey.generate().pkcs8PEM, to: keyFile)
        } catch {
            throw ProgramError("\(keyFile) cannot be written: \(error)")
        }
    }

    /// The relay's configuration, with a placeholder for the simulator's address.
    ///
    /// - Parameter database: the database for the log; nil means that the directory keeps it.
    func configuration(
        _ listen: SocketAddressText, _ database: Configuration.Database?
    ) -> Configuration {
        let app = Configuration.App(
            id: Self.bundleID, teamID: Self.teamID, keyID: Self.keyID,
            keyFile: keyFile, environment: .sandbox,
            endpoint: Origin(scheme: .https, host: "127.0.0.1", port: 1), caFile: caFile)
        var database = database
        database?.pepperFile = "\(directory)/pepper"
        return Configuration(
            listen: listen, data: database == nil ? directory : nil, database: database,
            apps: [app], budgets: Self.budgets)
    }

    /// Settings of the phones, with two kinds of Control Center, two users and two time zones.
    private static func habits(phones: Int) -> [String] {
        var settings = [
            "all.reloads=\(reloads)", "all.fetches=\(reloads)", "all.fetch-spacing=1s",
            "phone-1.control-center=top_right", "phone-1.user=u1", "pad-1.user=u1",
            "phone-1.time-zone=Europe/Berlin",
            "pad-1.time-zone=Europe/Berlin",
        ]
        if phones > 1 {
            settings += [
                "phone-2.control-center=top_right", "phone-2.user=u1",
                "phone-2.time-zone=America/New_York",
            ]
        }
        if phones > 2 { settings.append("phone-3.user=u2") }
        return ["--pad"] + settings.flatMap { ["--phone", $0] }
    }

    /// The simulator's arguments. Its key for the relay is passed by the environment.
    func simulatorArguments(
        _ address: SocketAddressText, relay: Origin, phones: Int, types: [String],
        settings: [String]
    ) -> [String] {
        [
            "--listen", address.description, "--key-file", keyFile, "--key-id", Self.keyID,
            "--team-id", Self.teamID, "--topic", Self.bundleID, "--ca-out", caFile, "--data",
            simulatorData, "--phones", "\(phones)", "--start-budget", "\(Self.starts)", "--relay",
            relay.description, "--control", "127.0.0.1:0", "--end-with-input", "--takeover",
        ] + Self.habits(phones: phones) + types.flatMap { ["--type", $0] }
            + settings.flatMap { ["--phone", $0] }
    }
}
