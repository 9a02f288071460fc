import TomboloCore
import TomboloEventLog

// Rows of the log that cannot be read: found at the start, or by a read later.

extension Relay {
    /// What to do about them.
    package static let damageRemedy =
        "tombolo log verify --data DIR lists all of it; tombolo backup restore puts a sound copy back"

    /// How many were found since the process began; reads count at most 100.
    package var damagedRows: Int {
        noteDamage()
        return damageAtStart + damageTold
    }

    /// The first of those that reads have met.
    package var damageFound: [String] { log.damage }

    /// A line for each damaged row that a read has met since somebody looked last.
    package func noteDamage() {
        let lines = log.damage
        for line in lines.dropFirst(damageTold) {
            report(OperatorNote(.warning, .damage, line, remedy: Self.damageRemedy))
        }
        damageTold = max(damageTold, lines.count)
    }
}
