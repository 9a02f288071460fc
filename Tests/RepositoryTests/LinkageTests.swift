import Testing

/// What the compiler made of the rooms: an arrow that the manifest does not show would be seen
/// here.
///
/// Reads the object files beside the running test; skipped where the build lays them out otherwise.
@Suite(.enabled(if: Objects.areThere, "no object files were found beside the test"))
struct LinkageTests {
    private static let network = ["SSL_", "nghttp2_", "sqlite3_", "EVP_", "X509_", "BIO_"]
    private static let sockets: Set<String> = [
        "socket", "connect", "bind", "listen", "accept", "accept4", "tombolo_accept",
        "tombolo_stream_socket",
    ]
    /// What a room without I/O, clock and `async` does not call.
    private static let system: Set<String> = [
        "open", "open64", "fopen", "read", "write", "poll", "epoll_wait", "clock_gettime",
        "gettimeofday",
        "time", "nanosleep", "usleep", "getenv", "getrandom", "arc4random_buf",
        "swift_stdlib_random",
        "pthread_create", "posix_spawn", "fork", "swift_task_create", "swift_task_switch",
        "swift_task_alloc",
    ]

    @Test(arguments: [
        "TomboloCore", "TomboloJSON", "TomboloAPI", "TomboloEventLog", "TomboloRelay",
        "TomboloContract",
    ])
    func `needs no network library`(room: String) throws {
        let symbols = try Objects.undefinedSymbols(of: room)
        let found = symbols.filter { symbol in Self.network.contains(where: symbol.hasPrefix) }
        #expect(found.isEmpty, "\(room) calls \(found.sorted())")
        #expect(symbols.isDisjoint(with: Self.sockets), "\(room) opens a socket")
    }

    @Test(arguments: Rooms.pure.sorted())
    func `a pure room asks nothing of the system`(room: String) throws {
        let found = try Objects.undefinedSymbols(of: room).intersection(Self.system)
        #expect(found.isEmpty, "\(room) calls \(found.sorted())")
    }

    /// One room each calls libpq and libpng: a build without the room's trait links neither.
    @Test func `what is behind a trait is in its own room`() throws {
        for room in Rooms.arrows.keys.filter({ $0.hasPrefix("Tombolo") }) {
            let symbols = try Objects.undefinedSymbols(of: room)
            #if Postgres
            let isHere = room == "TomboloPostgres"
            #else
            let isHere = false
            #endif
            #expect(symbols.contains { $0.hasPrefix("PQ") } == isHere, "\(room) and libpq")
            let isOfPictures = room == "TomboloProgram"
            #expect(isOfPictures || !symbols.contains { $0.hasPrefix("png_") }, "\(room)")
        }
    }

    @Test func `the reader finds what is there`() throws {
        let bytes = try Objects.undefinedSymbols(of: "TomboloHTTP")
        #expect(bytes.contains { $0.hasPrefix("SSL_") }, "TLS without SSL_: the reader is blind")
        let loop = try Objects.undefinedSymbols(of: "TomboloLoop")
        #expect(loop.contains("clock_gettime") && loop.contains { $0.hasPrefix("swift_task_") })
    }

    @Test func `what is no object is refused`() {
        #expect(ELFObject([]) == nil)
        #expect(ELFObject(Array("!<arch>\n".utf8)) == nil)
        let header: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1] + [UInt8](repeating: 0xFF, count: 58)
        #expect(ELFObject(header) == nil)
    }
}
