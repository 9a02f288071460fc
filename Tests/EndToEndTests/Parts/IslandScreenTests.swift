import Testing
import TomboloCore
import TomboloCrypto

@testable import TomboloProgram

@Suite struct IslandScreenTests {
    private func phones(_ count: Int) -> [IslandScreen.Phone] {
        (1...count).map { number in
            var phone = IslandScreen.Phone(name: "phone-\(number)", budgetClass: "lab")
            phone.drawing = Base64.decode(RunnerCat.frames[0]).flatMap(Bitmap.init(png:)).map(
                IslandDrawing.picture)
            phone.waiting = "next push in 14.9 s"
            return phone
        }
    }

    @Test(arguments: [(80, 1), (78, 1), (76, 1), (75, 2), (50, 2), (24, 3)])
    func `islands stand side by side where there is room, and wrap where there is none`(
        _ columns: Int, _ rows: Int
    ) {
        let screen = IslandScreen(columns: columns, usesColor: false)
        let lines = screen.lines(phones(3), title: "dev")
        #expect(lines.count { $0.contains("phone-") } == rows)
        #expect(lines.allSatisfy { $0.count <= columns })
    }

    @Test func `why a change waits is a sentence that fits under the island`() throws {
        let now = Instant(seconds: 1_800_000_000)
        #expect(IslandScreen.waiting(nil, now: now) == nil)
        #expect(IslandScreen.waiting(.merged, now: now) == nil)
        #expect(
            IslandScreen.waiting(
                .deferred(until: now + .milliseconds(14_620), .lowPrioritySpacing), now: now)
                == "next push in 14.7 s")
        for reason in WaitReason.allCases {
            for until in [nil, now, now + .milliseconds(999_900), now + .seconds(43_200)] {
                let text = try #require(
                    IslandScreen.waiting(.deferred(until: until, reason), now: now))
                #expect((1...IslandScreen.width).contains(text.count), "\(text)")
            }
        }
    }

    @Test func `three islands fit a terminal of 80 by 24 with a line for the key`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        #expect(screen.lines(phones(3), title: "dev").count <= 20)
    }

    @Test func `the picture is drawn in braille, with activity, alert and counts below`() throws {
        let screen = IslandScreen(columns: 80, usesColor: false)
        var phone = phones(1)[0]
        phone.activity = "cat-7"
        phone.alert = "Mike is off"
        phone.sent = 3
        phone.framesAsked = 100
        phone.framesSent = 99
        var lines = screen.lines([phone], title: "dev")
        guard case .picture(let picture)? = phones(1)[0].drawing else {
            Issue.record("no picture")
            return
        }
        let cat = picture.braille
        #expect(Array(lines[3..<11]) == cat)
        #expect(lines[11].hasPrefix("cat-7 "))
        #expect(lines[12].hasPrefix("alert: Mike is off"))
        #expect(lines[13].hasPrefix("sent 3  merged 0"))
        #expect(lines[14].hasPrefix("frames 99 of 100"))
        phone.hasEnded = true
        lines = screen.lines([phone], title: "dev")
        #expect(lines[11].hasPrefix("cat-7 · ended"))
        #expect(lines.contains { $0.hasPrefix("next push in 14.9 s") })
    }

    @Test func `a state without a picture is drawn as text`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        var phone = IslandScreen.Phone(name: "phone-1", budgetClass: "lab")
        phone.drawing = .texts(["step: baking", "minutes: 12"])
        let lines = screen.lines([phone], title: "dev")
        #expect(lines[6].contains("step: baking"))
        #expect(lines[7].contains("minutes: 12"))
    }

    @Test func `an island that shows nothing is empty`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        let phone = IslandScreen.Phone(name: "phone-1", budgetClass: "lab")
        let lines = screen.lines([phone], title: "dev")
        #expect(lines[3..<11].allSatisfy { $0.allSatisfy { $0 == " " } })
    }

    @Test func `a phone whose class is not known yet has its name alone above it`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        let fresh = IslandScreen.Phone(name: "phone-1", budgetClass: "")
        #expect(!screen.lines([fresh], title: "dev")[2].contains("·"))
        #expect(screen.lines(phones(1), title: "dev")[2].hasPrefix("phone-1 · lab"))
    }

    @Test func `colours are there only where they are wanted`() {
        let plain = IslandScreen(columns: 80, usesColor: false).lines(phones(1), title: "dev")
        let colored = IslandScreen(columns: 80, usesColor: true).lines(phones(1), title: "dev")
        #expect(!plain.joined().contains("\u{1B}"))
        #expect(colored.joined().contains("\u{1B}["))
    }
}
