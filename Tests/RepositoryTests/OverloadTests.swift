import Testing

/// No room gets a fourth function of one name. The table has those that are still there; it only
/// shrinks.
@Suite struct OverloadTests {
    private static let allowed = Ratchet(
        table: OverloadRule.table([
            "TomboloAPI": "adding 4 optional 4 writeMembers 4",
            "TomboloCore": """
            add 25 adopt 14 answer 6 append 6 apply 5 asked 4 at 4 backOff 4
            bytes 4 check 9 collect 4 count 12 enter 4 fault 10 finish 4 follow 8
            followClock 5 forget 7 holds 8 insert 10 isSame 4 keep 11 leave 7 make 4
            moment 4 note 9 number 5 of 6 owner 4 place 10 put 5 read 4 reading 14
            record 11 recover 6 refusal 4 remove 15 reserve 6 running 4 set 5 skip 8 slot 4
            slots 4 state 4 steady 4 step 6 stored 4 takeNumber 4 time 5 upstream 4 value 7
            wake 4
            """,
            "TomboloHTTP": """
            add 6 append 17 begin 10 close 5 closed 7 drain 6 finish 7 handlerReturned 4
            next 4 opened 6 receive 5 received 6 removeAll 5 reset 4 resume 4 start 4
            submit 4 timerFired 4 wait 4
            """,
            "TomboloJSON": "member 6",
            "TomboloLog": """
            add 19 begin 5 bury 5 check 4 close 6 count 6 cut 5 event 7 find 4 finish 5
            follow 5 forEach 4 forget 4 mark 4 newest 4 note 4 numbers 8 place 5 put 6
            read 4 recover 8 retired 5 scan 4 set 4 settle 5 snapshot 4 store 7 takeBack 4
            value 5
            """,
            "TomboloPostgres": "add 6 ask 5",
            "TomboloSQLite": "bind 4",
            "TomboloServer": "begin 4 count 4 end 4 entries 4 page 4 read 4",
            "TomboloProgram": """
            answer 4 bytes 5 draw 5 end 5 escaped 4 line 7 lines 6 list 6
            note 4 path 4 place 5 print 9 put 4 read 12 rows 6
            send 8 show 8 size 4 start 4 stop 4 summary 4 table 4 value 5 watch 5
            """,
        ]))

    private let tree: SourceTree

    init() throws { tree = try SourceTree.here.get() }

    @Test func `no more than three functions of a room have one name`() {
        let report = Self.allowed.report(now: OverloadRule.counts(tree.sources))
        #expect(report.isEmpty, "give the new function a name that says what it does\(report)")
    }
}

@Suite struct OverloadRuleTests {
    private func counts(_ text: String, _ other: String = "") -> [String: Int] {
        OverloadRule.counts([
            SwiftFile(path: "Sources/A/B.swift", text: text),
            SwiftFile(path: "Sources/A/C/D.swift", text: other),
        ])
    }

    private func functions(_ count: Int, _ name: String = "take") -> String {
        String(repeating: "func \(name)(_ a: Int) {}\n", count: count)
    }

    @Test func `three functions of one name are let through, and the fourth is found`() {
        #expect(counts(functions(3)).isEmpty)
        #expect(counts(functions(4)) == ["A take": 4])
        #expect(counts("struct E {\n\(functions(3))}", functions(1)) == ["A take": 4])
    }

    @Test func `a name in another room does not count`() {
        let files = ["A", "B"].map {
            SwiftFile(path: "Sources/\($0)/C.swift", text: functions(2))
        }
        #expect(OverloadRule.counts(files).isEmpty)
    }

    @Test(arguments: ["write", "encode", "run"])
    func `a name that a convention asks for is let through`(name: String) {
        #expect(counts(functions(9, name)).isEmpty)
    }

    @Test func `requirements of protocols, operators and initialisers do not count`() {
        #expect(counts("protocol E {\n func f()\n func f(a: Int)\n}", functions(3, "f")).isEmpty)
        #expect(counts(functions(5, "==")).isEmpty)
        #expect(counts(String(repeating: "init() {}\n", count: 5)).isEmpty)
    }

    @Test func `the table is read from words and numbers`() {
        #expect(
            OverloadRule.table(["A": "take 4\n send 5", "B": ""]) == ["A take": 4, "A send": 5])
    }
}
