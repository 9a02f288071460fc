import CLinux
import Glibc
import TomboloCore

/// Counts which rows of the log made relays on a data directory trap. The file `tombolo.crashes`,
/// one mapped page, keeps the counts across processes.
///
/// Otherwise a bug that one row triggers would end every start. After two processes have trapped on
/// the same activity or record, the next one leaves it out and reports that. Only traps count: a
/// kill does not depend on the row. Another version of the program starts with empty counts. If the
/// page cannot be made, nothing is counted.
struct CrashNotes {
    /// Traps after which a subject is left out.
    static let trapsMax = 2

    private let page: UnsafeMutablePointer<tombolo_crash_page>

    /// Nil if the directory does not exist yet, or its file system cannot map files.
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

    /// The subjects to leave out, and the number of processes that trapped on each.
    var trapped: [WorkNote.Subject: Int] {
        var found: [WorkNote.Subject: Int] = [:]
        for entry in counts where entry.count >= Self.trapsMax {
            if let subject = WorkNote.Subject(word: entry.subject) {
                found[subject] = Int(entry.count)
            }
        }
        return found
    }

    /// Starts to record this process's traps. Returns the place where the core notes its present
    /// work.
    func watch() -> WorkNote {
        page.pointee.working = 0
        tombolo_crash_page_watch(page)
        return WorkNote(tombolo_crash_page_working(page))
    }

    /// For a first start without a page: traps still end the relay, but are not recorded.
    static func watchWithoutPage() { tombolo_crash_page_watch(nil) }

    private func countTheLast() {
        let (signal, subject) = (page.pointee.signal, page.pointee.trapped_over)
        page.pointee.signal = 0
        guard signal != 0, WorkNote.Subject(word: subject) != nil else { return }
        // If the page is full, the rarest subject is replaced.
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

    /// Identifies this program's file, so that an upgrade counts as another program.
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
