import Testing
import TomboloCore
import TomboloCrypto

@testable import tombolo

@Suite struct IslandScreenTests {
    private func phones(_ count: Int) -> [IslandScreen.Phone] {
        (1...count).map { number in
            var phone = IslandScreen.Phone(name: "phone-\(number)", budgetClass: "lab")
            phone.picture = Base64.decode(RunnerCat.frames[0]).flatMap(Bitmap.init(png:))
            phone.waiting = "14.9 s: low_priority_spacing"
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

    /// The longest reason left no room for the seconds.
    @Test func `of what waits, the seconds are shown whole`() throws {
        let now = Instant(seconds: 1_800_000_000)
        var phone = IslandScreen.Phone(name: "phone-3", budgetClass: "standard")
        phone.waiting = DevScreen.waiting(
            .deferred(until: now + .milliseconds(14_620), .lowPrioritySpacing), now: now)
        let lines = IslandScreen(columns: 80, usesColor: false).lines([phone], title: "dev")
        #expect(lines.contains { $0.hasPrefix("14.7 s: low_priority") })
        #expect(DevScreen.waiting(nil, now: now) == nil)
    }

    @Test func `three islands fit a terminal of 80 by 24 with a line for the key`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        #expect(screen.lines(phones(3), title: "dev").count <= 20)
    }

    @Test func `the picture is drawn in braille, and numbers and reason stand below`() throws {
        let screen = IslandScreen(columns: 80, usesColor: false)
        let lines = screen.lines(phones(1), title: "dev")
        let cat = try #require(phones(1)[0].picture).braille
        #expect(Array(lines[3..<11]) == cat)
        #expect(lines[11].contains("asked 0"))
        #expect(lines.contains { $0.hasPrefix("14.9 s: low_priority") })
    }

    @Test func `an island that shows nothing is empty`() {
        let screen = IslandScreen(columns: 80, usesColor: false)
        let phone = IslandScreen.Phone(name: "phone-1", budgetClass: "lab")
        let lines = screen.lines([phone], title: "dev")
        #expect(lines[3..<11].allSatisfy { $0.allSatisfy { $0 == " " } })
    }

    @Test func `colours are there only where they are wanted`() {
        let plain = IslandScreen(columns: 80, usesColor: false).lines(phones(1), title: "dev")
        let colored = IslandScreen(columns: 80, usesColor: true).lines(phones(1), title: "dev")
        #expect(!plain.joined().contains("\u{1B}"))
        #expect(colored.joined().contains("\u{1B}["))
    }
}
