import Glibc
import Testing

@testable import TomboloProgram

/// A start where something is wrong: the disk is full, or the last run was killed.
@Suite struct FullDiskTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private var data: String { "\(work.path)/data" }

    @Test(.enabled(if: geteuid() == 0, "only root mounts a file system"))
    func `a start on a full disk says what is full, and how much it needs`() throws {
        mkdir(data, 0o700)
        // Too small for a ballast, which would be given up.
        let mounted = try Shell.run("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", data)
        try #require(mounted.status == 0, "\(mounted.errors)")
        defer { umount2(data, Int32(MNT_DETACH)) }
        _ = try RunningRelay.mintKey(data)
        _ = try Shell.run("dd", "if=/dev/zero", "of=\(data)/fill", "bs=4k")
        let started = try Tombolo.run(["serve", "--data", data, "--listen", "127.0.0.1:0"])
        #expect(started.status != 0)
        #expect(
            started.errors.contains(
                "the disk of \(data) is full: 0 kB are free, and a start needs"),
            "\(started.errors)")
        #expect(started.errors.contains("du -xh \(data)"))
        unlink("\(data)/fill")
    }

    @Test func `a run that was killed has a line at the next start, and one that ended has none`()
        throws
    {
        let first = try RunningRelay(serve: data)
        #expect(try first.tombolo("start", "cat", "--type", "T").status == 0)
        try first.kill()
        let second = try RunningRelay(serve: data, key: first.key)
        let line = try second.process.errorLine(containing: "last-run", within: 20)
        #expect(line.contains("did not stop by itself"), "\(line)")
        #expect(line.contains("its last sign was at 20"), "\(line)")
        #expect(try second.terminate() == 0)
        let third = try RunningRelay(serve: data, key: first.key)
        third.process.signal(SIGTERM)
        let ended = try third.process.finish(within: RunningRelay.stopTime)
        #expect(!ended.errors.contains("last-run"), "\(ended.errors)")
    }
}
