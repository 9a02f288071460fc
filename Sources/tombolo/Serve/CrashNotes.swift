import CLinux
import Glibc
import TomboloCore

/// What relays on a data directory trapped over: one page of the file `tombolo.crashes`, which
/// outlives them.
///
/// A bug that one row of the log brings about would else end every start. Where two processes have
/// trapped while they worked on the same activity or record, the next one leaves it out, and says
/// so. Only traps count: a process that was killed says nothing about what it worked on. Another
/// program begins anew. Where the page cannot be made, nothing is noted.
struct CrashNotes {
    /// A subject is tried so often.
    static let trapsMax = 2

    private let page: UnsafeMutablePointer<tombolo_crash_page>

    /// Nil where the directory is not there yet, or its file system does not map files.
    init?(directory: String) {
        guard access(directory, W_OK) == 0,
            let page = tombolo_crash_page_open(directory + "/tombolo.crashes")
        else { return nil }
        self.page = page
        let program = Self.program
        if page.pointee.program != program {
            page.pointee = tombolo_crash_page()
            page.pointee.program = program
        }
        countTheLast()
    }

    /// What is to be left out, and how many processes trapped over it.
    var trapped: [WorkNote.Subject: Int] {
        var found: [WorkNote.Subject: Int] = [:]
        for entry in counts where entry.count >= Self.trapsMax {
            if let subject = WorkNote.Subject(word: entry.subject) {
                found[subject] = Int(entry.count)
            }
        }
        return found
    }

    /// Where the core notes what it works on. From now on the page takes note of this process's
    /// traps.
    func watch() -> WorkNote {
        page.pointee.working = 0
        tombolo_crash_page_watch(page)
        return WorkNote(tombolo_crash_page_working(page))
    }

    /// At a first start there is nothing to note in; another process's signal ends the relay all
    /// the same.
    static func watchWithoutPage() { tombolo_crash_page_watch(nil) }

    private func countTheLast() {
        let (signal, subject) = (page.pointee.signal, page.pointee.trapped_over)
        page.pointee.signal = 0
        guard signal != 0, WorkNote.Subject(word: subject) != nil else { return }
        // A full page forgets what is rarest.
        let place =
            counts.firstIndex { $0.subject == subject }
            ?? counts.indices.min { counts[$0].count < counts[$1].count }
        guard let place else { return }
        if counts[place].subject != subject {
            counts[place] = tombolo_crash_count(subject: subject, count: 0)
        }
        counts[place].count += 1
    }

    private var counts: UnsafeMutableBufferPointer<tombolo_crash_count> {
        UnsafeMutableBufferPointer(
            start: tombolo_crash_page_counts(page), count: TOMBOLO_CRASH_SUBJECTS)
    }

    /// Of this program's file: an upgrade is another one.
    private static var program: UInt64 {
        var status = stat()
        guard stat("/proc/self/exe", &status) == 0 else { return 1 }
        let parts = [
            Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
        ]
        return parts.reduce(1) { sum, part in
            (sum ^ UInt64(bitPattern: part)) &* 0x100_0000_01b3 | 1
        }
    }
}
