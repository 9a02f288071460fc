/// Dead letters of all tenants, oldest first. Each tenant keeps only its newest letters. Removals
/// are returned as records, so that the log deletes the letters, too.
struct DeadLetterTable: Sendable {
    /// A tenant's oldest letters are removed above this number, so that others have room.
    static let countMax = 10_000
    /// This many are removed together, because a search for the oldest ones scans all letters.
    private static let forgottenAtOnce = 100

    private var letters: [DeadLetter] = []
    private var counts: [TenantID: Int] = [:]
    private var serials: [TenantID: Int64] = [:]
    private(set) var nextNumber: Int64 = 1

    init() {}

    var count: Int { letters.count }

    func count(of tenant: TenantID) -> Int { counts[tenant] ?? 0 }

    mutating func takeNumber(of tenant: TenantID) -> (number: Int64, serial: Int64) {
        defer { nextNumber += 1 }
        serials[tenant, default: 0] += 1
        return (nextNumber, serials[tenant] ?? 0)
    }

    /// Adds a letter. Returns the records to write: the letter, and the deletion of old letters.
    mutating func add(_ letter: DeadLetter) -> [Record] {
        keep(letter)
        return [letter.record()] + removeOldest(of: letter.activity.tenant)
    }

    private mutating func keep(_ letter: DeadLetter) {
        letters.append(letter)
        counts[letter.activity.tenant, default: 0] += 1
    }

    private mutating func removeOldest(of tenant: TenantID) -> [Record] {
        var left = Self.forgottenAtOnce
        guard count(of: tenant) >= Self.countMax + left else { return [] }
        return remove { letter in
            guard left > 0, letter.activity.tenant == tenant else { return false }
            left -= 1
            return true
        }
    }

    /// Removes letters. Returns the records that delete them in the log.
    mutating func remove(where isGone: (DeadLetter) -> Bool) -> [Record] {
        var left: [DeadLetter] = []
        var records: [Record] = []
        left.reserveCapacity(letters.count)
        for letter in letters {
            guard isGone(letter) else {
                left.append(letter)
                continue
            }
            records.append(Record(space: .deadLetter, number: letter.number, value: nil))
            counts[letter.activity.tenant, default: 0] -= 1
        }
        letters = left
        return records
    }

    /// At most `limit` letters with serials below `before`, newest first.
    func page(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        let page = letters.lazy.reversed()
            .filter { $0.serial < before ?? .max && query.matches($0) }.prefix(limit + 1)
        let letters = Array(page)
        return (
            Array(letters.prefix(limit)), letters.count > limit ? letters[limit - 1].serial : nil
        )
    }

    /// The serials of the matching letters, in pieces of about `pieceMax`. All letters of a card
    /// are in one piece, so that one push serves them. If no letter matches, the only piece is
    /// `query.serials`.
    func pieces(of query: DeadLetterQuery) -> [Set<Int64>?] {
        var places: [DeadLetter.Card: Int] = [:]
        var cards: [[Int64]] = []
        for letter in letters where query.matches(letter) {
            let place = places[letter.card] ?? cards.count
            if place == cards.count {
                places[letter.card] = place
                cards.append([])
            }
            cards[place].append(letter.serial)
        }
        var pieces: [Set<Int64>] = []
        for card in cards {
            if let last = pieces.last, last.count + card.count <= DeadLetterQuery.pieceMax {
                pieces[pieces.count - 1].formUnion(card)
            } else {
                pieces.append(Set(card))
            }
        }
        return pieces.isEmpty ? [query.serials] : pieces
    }

    /// The matching letters. Throws if the query names one letter and it does not exist.
    func meant(by query: DeadLetterQuery) throws(Refusal) -> [DeadLetter] {
        let matching = letters.filter(query.matches)
        guard matching.isEmpty, query.serial != nil || query.apnsID != nil else { return matching }
        throw Refusal(
            .unknownDeadLetter,
            "no such dead letter; it was already retried, or is too old: GET /v1/dead-letters")
    }

    /// Restores a letter from its record. Returns a text if the record is damaged.
    mutating func adopt(_ record: Record) -> [String] {
        nextNumber = max(nextNumber, record.number + 1)
        guard let value = record.value else { return [] }
        guard let letter = DeadLetter(record: value, number: record.number) else {
            return ["dead letter number \(record.number) cannot be read"]
        }
        keep(letter)
        let tenant = letter.activity.tenant
        serials[tenant] = max(serials[tenant] ?? 0, letter.serial)
        return []
    }
}
