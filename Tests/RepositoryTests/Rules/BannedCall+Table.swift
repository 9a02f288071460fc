extension BannedCall {
    /// The calls this house does without. An allowance that is no longer used fails as well.
    static let table: [BannedCall] = concurrency + timeAndChance + traps + faces

    private static let concurrency: [BannedCall] = [
        BannedCall(
            patterns: ["Task {", "Task(", "Task<", "Task.init", "Task.immediate"],
            scope: .sourcesAndTests,
            allowed: [
                "Sources/TomboloLoop/EpollLoop+Start.swift", "Tests/TestSupport/VirtualLoop.swift",
                "Tests/SimulationTests/VirtualLoopTests.swift",
            ],
            reason: "a task without a parent outlives what it works for and leaves the loop; "
                + "be a child: a task group, or `async let`"),
        BannedCall(
            patterns: ["Task.detached", "Task.immediateDetached"], scope: .sourcesAndTests,
            reason: "a detached task leaves the loop and nobody waits for it"),
        BannedCall(
            patterns: ["Task.sleep"], scope: .sourcesAndTests,
            reason: "it sleeps on the system's clock, which no virtual loop can turn; "
                + "wait on the loop: `loop.sleep(until:)`"),
        BannedCall(
            patterns: ["@MainActor"], scope: .sourcesAndTests,
            reason: "the main actor's queue is none of our loops"),
        BannedCall(
            patterns: ["DispatchQueue", "DispatchSource", "DispatchSemaphore", "DispatchGroup"],
            scope: .sourcesAndTests,
            reason: "Dispatch brings threads of its own; the loop waits and wakes"),
        BannedCall(
            patterns: ["async", "await", "actor"], scope: .pureRooms, unlessAfter: ["."],
            reason: "a pure room is synchronous: what it decides, a shell carries out"),
    ]

    private static let timeAndChance: [BannedCall] = [
        BannedCall(
            patterns: ["ContinuousClock", "SuspendingClock", "Date(", "DispatchTime"],
            scope: .sourcesAndTests,
            reason: "time is a parameter: take `now` from the loop, or a clock that was given"),
        BannedCall(
            patterns: ["clock_gettime", "gettimeofday", "time(nil", "time(&"], scope: .sources,
            allowed: [
                "Sources/TomboloLoop/EpollLoop.swift",
                "Sources/TomboloSimulator/Time/SystemWallClock.swift", "Sources/TomboloProgram/",
            ],
            reason: "time is a parameter: the system's clocks are read where the program starts"),
        BannedCall(
            patterns: ["usleep(", "nanosleep(", "sleep("], scope: .sourcesAndTests,
            unlessAfter: [".", "func"], unlessArguments: ["until", "for"],
            reason: "it stops the thread and everybody on it; wait on the loop"),
        BannedCall(
            patterns: ["SystemRandomNumberGenerator"], scope: .sourcesAndTests,
            allowed: ["Sources/TomboloProgram/", "Tests/tombolo-bench/"],
            reason: "chance is a parameter, or no run can be repeated from its seed; and a "
                + "generator without bytes has no address for the thread sanitizer to look at"),
        BannedCall(
            patterns: [".random(", ".randomElement(", ".shuffled(", ".shuffle("], scope: .sources,
            unlessArguments: ["using"],
            reason: "chance is a parameter: name the generator with `using:`"),
    ]

    private static let traps: [BannedCall] = [
        BannedCall(
            patterns: ["unsafeAddress", "unsafeMutableAddress"], scope: .sourcesAndTests,
            reason: "nothing keeps the value there while somebody reads it; "
                + "`_read` and `_modify` yield it where it is"),
        BannedCall(
            patterns: ["try!"], scope: .sourcesAndTests,
            reason: "an error is an answer, not the end of the process"),
        BannedCall(
            patterns: ["fatalError("], scope: .sourcesAndTests,
            reason: "what comes from outside is refused with its remedy; "
                + "a bug of our own is a `precondition`"),
        BannedCall(
            patterns: [")[0]", ".first!", ".last!", ")!", "]!"], scope: .sources,
            reason: "what came from outside may have no first element, or be nothing at all; "
                + "bind it with `guard let`, and refuse what is not there"),
    ]

    private static let faces: [BannedCall] = [
        BannedCall(
            patterns: ["public"], scope: .sources,
            allowed: Rooms.outward.keys.map { "Sources/\($0)/" },
            reason: "nobody builds on these modules from outside: `package` is the widest face"),
        BannedCall(
            patterns: ["@_exported", "@_spi"], scope: .sources,
            reason: "a module has one face, and every file names what it imports"),
        BannedCall(
            patterns: ["print(", "debugPrint(", "dump("], scope: .sources,
            allowed: ["Sources/TomboloProgram/"], unlessAfter: [".", "func"],
            reason: "standard output belongs to the program and to who reads it by machine"),
    ]
}
