import CSQLite
import Glibc

/// SQLite's view of a `SimulatedDisk`: functions for C, which find their objects in what SQLite
/// hands them.
enum SimulatedVFS {
    /// What SQLite knows as an open file: its own part first, then ours.
    private struct Handle {
        var base: sqlite3_file
        var open: Unmanaged<OpenFile>?
    }

    final class OpenFile {
        let disk: SimulatedDisk
        let file: SimulatedFile
        let holder = SimulatedHolder()
        /// A journal that is new: its first sync makes its name durable too.
        var isNewJournal: Bool

        init(_ disk: SimulatedDisk, _ file: SimulatedFile, isNewJournal: Bool) {
            self.disk = disk
            self.file = file
            self.isNewJournal = isNewJournal
        }
    }

    // MARK: The file system

    static func register(
        _ disk: SimulatedDisk, name: String
    ) -> UnsafeMutablePointer<sqlite3_vfs>? {
        guard let standard = sqlite3_vfs_find(nil) else { return nil }
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: standard.pointee)
        vfs.pointee.iVersion = 1
        vfs.pointee.szOsFile = Int32(MemoryLayout<Handle>.size)
        vfs.pointee.zName = UnsafePointer(strdup(name))
        vfs.pointee.pNext = nil
        vfs.pointee.pAppData = Unmanaged.passUnretained(disk).toOpaque()
        vfs.pointee.xOpen = { vfs, name, target, flags, outFlags in
            // As on a real one: what may not be written is opened for reading.
            let isReadOnly = SimulatedVFS.owner(vfs).isReadOnly
            outFlags?.pointee =
                isReadOnly
                ? flags & ~SQLITE_OPEN_READWRITE & ~SQLITE_OPEN_CREATE | SQLITE_OPEN_READONLY
                : flags
            return SimulatedVFS.open(
                SimulatedVFS.owner(vfs), name.map { String(cString: $0) }, target, flags)
        }
        vfs.pointee.xDelete = { vfs, name, syncs in
            guard let name else { return SQLITE_OK }
            return SimulatedVFS.delete(
                SimulatedVFS.owner(vfs), String(cString: name), syncs: syncs != 0)
        }
        vfs.pointee.xAccess = { vfs, name, _, answer in
            answer?.pointee = SimulatedVFS.exists(name, vfs) ? 1 : 0
            return SQLITE_OK
        }
        vfs.pointee.xFullPathname = { _, name, count, target in
            guard let name, let target, strlen(name) < count else { return SQLITE_CANTOPEN }
            strcpy(target, name)
            return SQLITE_OK
        }
        vfs.pointee.xRandomness = { vfs, count, target in
            SimulatedVFS.owner(vfs).fill(.init(start: target, count: Int(count)))
            return count
        }
        sqlite3_vfs_register(vfs, 0)
        return vfs
    }

    static func unregister(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) {
        guard let vfs else { return }
        sqlite3_vfs_unregister(vfs)
        free(UnsafeMutablePointer(mutating: vfs.pointee.zName))
        vfs.deallocate()
    }

    private static func owner(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> SimulatedDisk {
        guard let data = vfs?.pointee.pAppData else {
            preconditionFailure("SQLite hands over the VFS that was registered")
        }
        return Unmanaged.fromOpaque(data).takeUnretainedValue()
    }

    private static func exists(
        _ name: UnsafePointer<CChar>?, _ vfs: UnsafeMutablePointer<sqlite3_vfs>?
    ) -> Bool {
        guard let name else { return false }
        return owner(vfs).file(String(cString: name)) != nil
    }

    private static func open(
        _ disk: SimulatedDisk, _ name: String?, _ target: UnsafeMutablePointer<sqlite3_file>?,
        _ flags: Int32
    ) -> Int32 {
        target?.pointee.pMethods = nil
        guard !disk.isDark else { return SQLITE_CANTOPEN }
        let journals = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
        let file: SimulatedFile
        var isNew = false
        if let name {
            if let there = disk.file(name) {
                file = there
            } else {
                guard flags & SQLITE_OPEN_CREATE != 0 else { return SQLITE_CANTOPEN }
                file = disk.make(name)
                isNew = flags & journals != 0
            }
        } else {
            file = SimulatedFile()
        }
        let open = OpenFile(disk, file, isNewJournal: isNew)
        UnsafeMutableRawPointer(target)?.bindMemory(to: Handle.self, capacity: 1)
            .initialize(
                to: Handle(
                    base: sqlite3_file(pMethods: UnsafePointer(SimulatedIO.methods)),
                    open: Unmanaged.passRetained(open)))
        return SQLITE_OK
    }

    private static func delete(_ disk: SimulatedDisk, _ name: String, syncs: Bool) -> Int32 {
        guard disk.strike() == .nothing else { return TOMBOLO_SQLITE_IOERR_DELETE }
        disk.remove(name)
        if syncs { disk.syncDirectory() }
        return SQLITE_OK
    }

    // MARK: For the files' functions

    static func file(_ target: UnsafeMutablePointer<sqlite3_file>?) -> OpenFile {
        guard let open = handle(target)?.pointee.open else {
            preconditionFailure("SQLite hands over a file that was opened")
        }
        return open.takeUnretainedValue()
    }

    static func close(_ target: UnsafeMutablePointer<sqlite3_file>?) {
        let open = file(target)
        open.file.locks.unlock(open.holder, to: SQLITE_LOCK_NONE)
        open.file.shared.leave(open.holder)
        handle(target)?.pointee.open?.release()
        handle(target)?.pointee.open = nil
    }

    private static func handle(
        _ target: UnsafeMutablePointer<sqlite3_file>?
    ) -> UnsafeMutablePointer<Handle>? {
        UnsafeMutableRawPointer(target)?.assumingMemoryBound(to: Handle.self)
    }
}
