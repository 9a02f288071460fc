import CSQLite
import Glibc

/// What SQLite does with an open file of a `SimulatedDisk`.
enum SimulatedIO {
    /// One table for all files, made once and never changed.
    nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: sqlite3_io_methods())
        methods.pointee.iVersion = 2
        setContents(&methods.pointee)
        setLocks(&methods.pointee)
        return methods
    }()

    private static func setContents(_ methods: inout sqlite3_io_methods) {
        methods.xClose = { file in
            SimulatedVFS.close(file)
            return SQLITE_OK
        }
        methods.xRead = { file, target, count, offset in
            let target = UnsafeMutableRawBufferPointer(start: target, count: Int(count))
            return SimulatedIO.read(SimulatedVFS.file(file), target, at: Int(offset))
        }
        methods.xWrite = { file, bytes, count, offset in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            return SimulatedIO.write(SimulatedVFS.file(file), bytes, at: Int(offset))
        }
        methods.xTruncate = { file, count in
            let open = SimulatedVFS.file(file)
            guard open.disk.strike() == .nothing else { return TOMBOLO_SQLITE_IOERR_TRUNCATE }
            open.file.truncate(to: Int(count))
            return SQLITE_OK
        }
        methods.xSync = { file, _ in SimulatedIO.sync(SimulatedVFS.file(file)) }
        methods.xFileSize = { file, answer in
            answer?.pointee = Int64(SimulatedVFS.file(file).file.count)
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 4_096 }
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    }

    private static func setLocks(_ methods: inout sqlite3_io_methods) {
        methods.xLock = { file, level in
            let open = SimulatedVFS.file(file)
            return open.file.locks.lock(open.holder, level)
        }
        methods.xUnlock = { file, level in
            let open = SimulatedVFS.file(file)
            open.file.locks.unlock(open.holder, to: level)
            return SQLITE_OK
        }
        methods.xCheckReservedLock = { file, answer in
            answer?.pointee = SimulatedVFS.file(file).file.locks.isReserved ? 1 : 0
            return SQLITE_OK
        }
        methods.xShmMap = { file, index, bytes, extends, answer in
            answer?.pointee = SimulatedVFS.file(file).file.shared.region(
                Int(index), bytes: Int(bytes), extends: extends != 0)
            return SQLITE_OK
        }
        methods.xShmLock = { file, first, count, flags in
            let open = SimulatedVFS.file(file)
            return open.file.shared.lock(
                open.holder, slots: Int(first)..<Int(first + count), flags: flags)
        }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, deletes in
            let open = SimulatedVFS.file(file)
            open.file.shared.leave(open.holder)
            if deletes != 0 { open.file.shared.forget() }
            return SQLITE_OK
        }
    }

    private static func read(
        _ open: SimulatedVFS.OpenFile, _ target: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Int32 {
        guard !open.disk.isDark else { return TOMBOLO_SQLITE_IOERR_READ }
        let count = open.file.read(target, at: offset)
        guard count < target.count else { return SQLITE_OK }
        for index in count..<target.count { target[index] = 0 }
        return TOMBOLO_SQLITE_IOERR_SHORT_READ
    }

    private static func write(
        _ open: SimulatedVFS.OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> Int32 {
        switch open.disk.strike() {
        case .lastOfAll:
            open.file.write(bytes, at: offset)
            return TOMBOLO_SQLITE_IOERR_WRITE
        case .error:
            if open.disk.tossesCoin() {
                open.file.write(.init(rebasing: bytes.prefix(bytes.count / 2)), at: offset)
            }
            return TOMBOLO_SQLITE_IOERR_WRITE
        case .dark:
            return TOMBOLO_SQLITE_IOERR_WRITE
        case .nothing:
            break
        }
        let growth = max(0, offset + bytes.count - open.file.count)
        let missing = growth - open.disk.room(for: growth)
        guard missing == 0 else {
            if missing < bytes.count {
                open.file.write(.init(rebasing: bytes.dropLast(missing)), at: offset)
            }
            return SQLITE_FULL
        }
        open.file.write(bytes, at: offset)
        return SQLITE_OK
    }

    private static func sync(_ open: SimulatedVFS.OpenFile) -> Int32 {
        guard open.disk.strike() == .nothing else { return TOMBOLO_SQLITE_IOERR_FSYNC }
        open.disk.syncs += 1
        guard !open.disk.liesAboutSync else { return SQLITE_OK }
        open.file.sync()
        if open.isNewJournal { open.disk.syncDirectory() }
        open.isNewJournal = false
        return SQLITE_OK
    }
}
