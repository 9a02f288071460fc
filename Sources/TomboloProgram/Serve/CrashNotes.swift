import CLinux
import Glibc
import TomboloCore

/// Counts which rows of the log make relays crash. The file `tombolo.crashes` in the data
/// directory, one mapped page, keeps the counts from process to process. For a log in a database,
/// it is in the service's state directory.
///
/// Without it, a bug that one row triggers would crash every start. After two processes have
/// crashed while they worked on the same activity or record, the next one leaves it out and reports
/// this. Only traps of the program count, not kills, because a kill does not depend on the row. For
/// another version of the program the counts start again. If it cannot be made, nothing is counted.
struct CrashNotes {
    /// Number of crashes after which a subject is left out.
    static let trapsMax = 2

    private let page: UnsafeMutablePointer<tombolo_crash_page>

    /// For the log of `configuration`: in its data directory, or with a database, where each schema
    /// has a file of its own, in systemd's `STATE_DIRECTORY`. Nil without such a directory.
    ///
    /// - Parameter state: paths with colons between; the first one is used.
    init?(
        _ configuration: Configuration,
        state: String? = getenv("STATE_DIRECTORY").map { String(cString: $0) }
    ) {
        if let database = configuration.database {
            guard let directory = state?.split(separator: ":").first else { return nil }
            self.init(directory: String(directory), file: "tombolo-\(database.schema).crashes")
        } else {
            guard let data = configuration.data else { return nil }
            self.init(directory: data)
        }
    }

    /// Nil if the directory does not exist yet, or its file system cannot map files.
    init?(directory: String, file: String = "tombolo.crashes") {
        guard access(directory, W_OK) == 0,
            let page = tombolo_crash_page_open("\(directory)/\(file)")
        else { return nil }
        self.page = page
        let program = Self.program
        if page.pointee.program != program {
            page.pointee = tombolo_crash_page()
            page.pointee.program = program
        }
        countTheLast()
    }

    /// The subjects to leave out, each with the number of processes that crashed on it.
    var trapped: [WorkNote.Subject: Int] {
        var found: [WorkNote.Subject: Int] = [:]
        for entry in counts where entry.count >= Self.trapsMax {
            if let subject = WorkNote.Subject(word: entry.subject) {
                found[subject] = Int(entry.count)
            }
        }
        return found
    }

    /// From now on, records a crash of this process. Returns where the core notes what it works on.
    func watch() -> WorkNote {
        page.pointee.working = 0
        tombolo_crash_page_watch(page)
        return WorkNote(tombolo_crash_page_working(page))
    }

    /// For a first start, when there is no page: a crash ends the relay, but is not recorded.
    static func watchWithoutPage() { tombolo_crash_page_watch(nil) }

    private func countTheLast() {
        let (signal, subject) = (page.pointee.signal, page.pointee.trapped_over)
        page.pointee.signal = 0
        guard signal != 0, WorkNote.Subject(word: subject) != nil else { return }
        // If the page is full, replace the subject with the lowest count.
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

    /// Identifies this program's file, so that an upgraded program counts as another one.
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
