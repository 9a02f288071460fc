import Glibc
import Testing

@testable import TomboloProgram

/// Who may use the data directory and its files.
@Suite struct DataModesTests {
    private let directory: TemporaryDirectory
    private let data: String

    init() throws {
        directory = try TemporaryDirectory()
        data = "\(directory.path)/data"
        mkdir(data, 0o700)
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test
    func `what others may use is repaired where the relay owns it, and a group keeps its right`()
        throws
    {
        let pepper = try directory.write("data/pepper", "x")
        let database = try directory.write("data/tombolo.db", "x")
        chmod(data, 0o755)
        chmod(pepper, 0o646)
        chmod(database, 0o640)
        let planned = DataModes(data, isDryRun: true)
        #expect(planned.repaired == [data, pepper] && planned.open.isEmpty)
        #expect(mode(pepper) == 0o646, "a dry run changes nothing")
        #expect(DataModes(data, isDryRun: false).repaired == [data, pepper])
        #expect([data, pepper, database].map(mode) == [0o750, 0o640, 0o640])
        #expect(DataModes(data, isDryRun: false).repaired.isEmpty)
    }

    @Test func `what others may use and somebody else owns is refused with its remedy`() throws {
        chmod(data, 0o755)
        let modes = DataModes(data, isDryRun: false, user: geteuid() + 1)
        #expect(modes.open == [data] && modes.repaired.isEmpty)
        #expect(modes.findings.map(\.remedy) == ["chmod o-rwx \(data)"])
        #expect(mode(data) == 0o755)
    }

    @Test func `a relay repairs its data at the start and on a reload, and says so`() throws {
        let key = try RunningRelay.mintKey(data)
        chmod(data, 0o755)
        chmod("\(data)/pepper", 0o644)
        let relay = try RunningRelay(serve: data, key: key)
        #expect([data, "\(data)/pepper"].map(mode) == [0o750, 0o640])
        chmod("\(data)/tombolo.db", 0o666)
        let reload = try relay.tombolo("config", "reload", "-o", "table")
        #expect(reload.output.contains("others could read or write \(data)/tombolo.db"))
        #expect(mode("\(data)/tombolo.db") == 0o660)
        #expect(try relay.terminate() == 0)
    }
}
