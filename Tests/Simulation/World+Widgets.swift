import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

// Timelines: a producer says what widgets show of a user, and each phone's widget fetches it.

/// What a producer has said of one user's widgets, each time with a number of its own.
final class TimelineBook {
    let tenant: TenantID
    let user: String
    /// The newest number that was asked for, and the newest that the relay has taken.
    var asked: Int64 = 0
    var taken: Int64 = 0
    /// When the newest was taken.
    var takenAt = MonotonicInstant(nanoseconds: 0)

    init(_ tenant: TenantID, _ user: String) { (self.tenant, self.user) = (tenant, user) }
}

/// One phone's widget: what it shows, as it fetches.
final class WidgetView {
    /// The number of the timeline that it shows; nil: the placeholder.
    var shown: Int64?
    /// It is to fetch.
    var isWanted = true
    let parking: Parking

    init(_ loop: any Loop) { parking = Parking(loop) }
}

extension World {
    private static let kind = Plan.identifier("profile")

    /// Others may have the phone, or the log knows less than was answered.
    private static let unsure: FaultSet = [
        FaultSet(.deletedDevices), FaultSet(.deletions), FaultSet(.secondIDs),
        FaultSet(.changedUsers), FaultSet(.restores), FaultSet(.strangers), FaultSet(.wrongTokens),
        FaultSet(.months),
    ]

    func makeTimelines() {
        guard faults.contains(FaultSet(.widgets)) else { return }
        for tenant in plan.tenants {
            timelineBooks += ["ann", "bob"].map { TimelineBook(tenant, $0) }
        }
    }

    /// Producers say what is new, until the heal.
    func keepTimelines() async {
        guard !timelineBooks.isEmpty else { return }
        let gap = Int(plan.chaos.components.seconds) * 1_000 / 12
        while !isHealed, !isOver {
            await pause(dice.time(.widgets, 1...2 * gap))
            let book = dice.pick(.widgets, timelineBooks)
            for _ in 0..<(dice.happens(.widgets, oneIn: 4) ? 3 : 1) where !isHealed {
                _ = await put(book)
                await pause(dice.time(.widgets, 1...3_000))
            }
        }
    }

    /// When nothing goes wrong any more, every timeline changes once.
    func changeTimelines() async {
        for book in timelineBooks {
            for _ in 0..<2_000 {
                if await put(book) { break }
                await pause(.milliseconds(300))
            }
        }
    }

    /// - Returns: whether the relay has taken it.
    private func put(_ book: TimelineBook) async -> Bool {
        guard let life, life.isReady, let relay = life.relay else { return false }
        book.asked += 1
        let number = book.asked
        let now = clock.trueNow()
        // Now's entry, and two to come: one within the run.
        let dates = [now, now + .seconds(40), now + .hours(20_000)].map(\.rfc3339)
        let entries = dates.enumerated().map { index, date in
            #"{"date":"\#(date)","content":{"user":"\#(book.user)","number":\#(number),"#
                + #""entry":\#(index)}}"#
        }.joined(separator: ",")
        let body = #"{"subject":{"user":"\#(book.user)"},"policy":"never","entries":[\#(entries)]}"#
        // The simulation writes what it reads.
        guard let request = try? TimelineRequest(reading: Self.json(body)) else {
            preconditionFailure(body)
        }
        for reloads in reloadBooks
        where reloads.phone.tenant == book.tenant && reloads.name == .widget
            && reloads.phone.users.contains(book.user)
        {
            reloads.wantedAt = loop.now
        }
        note(.command, who: -1, number, 0, "timeline \(number) of \(book.user)")
        let answer = await relay.submitTimelineCommand(
            .put(request, kind: Self.kind), of: book.tenant)
        note(.answer, who: -1, number, 0, "\(answer)")
        guard !life.isDead, case .stored = answer else { return false }
        if number > book.taken { (book.taken, book.takenAt) = (number, loop.now) }
        return true
    }

    // MARK: Phones

    /// A widget hears that there is something new.
    func fetch(_ phone: Phone) {
        phone.widget.isWanted = true
        phone.widget.parking.unpark()
    }

    /// One phone's widget, from the moment at which it is placed.
    func fetchTimelines(of number: Int) async {
        let widget = phones[number].widget
        while !timelineBooks.isEmpty, !isOver {
            guard widget.isWanted else {
                await widget.parking.park()
                continue
            }
            await pause(dice.time(.widgets, 10...2_000))
            guard phones[number].isOnline, let life, life.isReady, let relay = life.relay else {
                continue
            }
            widget.isWanted = false
            let taken = timelineBooks.map(\.taken)
            let entries = await ask(relay, phones[number])
            // Another life may have begun.
            if life.isDead { widget.isWanted = true } else { take(entries, phones[number], taken) }
        }
    }

    /// What the relay says now; nil where it says nothing of it.
    private func ask(_ relay: Relay, _ phone: Phone) async -> TimelineEntries? {
        let answer = await relay.entries(
            Self.kind, app: nil, nil, family: nil, by: .device(phone.id, boundTo: nil),
            of: phone.tenant)
        // A device that the relay has not heard of.
        guard case .success((let entries, _)) = answer else { return nil }
        return seam.entries(entries, of: phone)
    }

    /// - Parameter taken: of each book, when the widget began to ask.
    private func take(_ entries: TimelineEntries?, _ phone: Phone, _ taken: [Int64]) {
        func check(_ holds: Bool, _ detail: @autoclosure () -> String) {
            if !holds { violated(.widgets, "the widget of phone \(phone.number): \(detail())") }
        }
        let first = entries?.entries.first
        let content = first?.content.document.root
        guard let number = content?["number"]?.integer, let user = content?["user"]?.string else {
            phone.widget.shown = nil
            return
        }
        check(phone.usersEver.contains(user), "it shows what is \(user)'s")
        phone.widget.shown = number
        guard faults.isDisjoint(with: Self.unsure),
            let index = timelineBooks.firstIndex(where: {
                $0.tenant == phone.tenant && $0.user == user
            })
        else { return }
        check(number >= taken[index], "it got \(number) after \(taken[index]) was taken")
        check(number <= timelineBooks[index].asked, "nobody has said \(number)")
        checkBoundaries(entries?.entries.map(\.date) ?? [], phone)
    }

    /// The first entry is now's, and the others are to come, in their order.
    private func checkBoundaries(_ dates: [Instant], _ phone: Phone) {
        guard clocksAgree else { return }
        let now = clock.trueNow()
        guard dates.first.map({ $0 <= now + .seconds(1) }) == true,
            dates.dropFirst().allSatisfy({ $0 > now - .seconds(1) }),
            zip(dates, dates.dropFirst()).allSatisfy({ $0 < $1 })
        else {
            return violated(
                .widgets, "the widget of phone \(phone.number): at \(now) entries at \(dates)")
        }
    }

    // MARK: Checks

    /// Once all is calm, no widget shows what is over.
    func checkWidgets() {
        // By the usual grants a push takes longer than the quiet.
        guard plan.widensReloads, faults.isDisjoint(with: Self.unsure) else { return }
        for book in timelineBooks where book.taken > 0 {
            for phone in phones
            where phone.tenant == book.tenant && phone.user == book.user && !phone.isWrong {
                guard phone.surfaces.contains(where: { $0.name == .widget && $0.isRegistered }),
                    phone.widget.shown != book.taken
                else { continue }
                violated(
                    .widgets,
                    "the widget of phone \(phone.number) shows \(phone.widget.shown ?? 0), and "
                        + "\(book.taken) was taken at \(book.takenAt)")
            }
        }
    }
}
