import TomboloCore
import TomboloEventLog

// Damaged rows of the log. Start-up or later reads have found them.

extension Relay {
    /// What to do about damaged rows.
    package static let damageRemedy =
        "tombolo log verify --data DIR lists all of it; tombolo backup restore puts a sound copy back"

    /// Number of damaged rows found since the process began; reads count at most 100.
    package var damagedRows: Int {
        noteDamage()
        return damageAtStart + damageTold
    }

    /// The first damaged rows that reads found.
    package var damageFound: [String] { log.damage }

    /// Reports each damaged row that reads have found since the last call.
    package func noteDamage() {
        let lines = log.damage
        for line in lines.dropFirst(damageTold) {
            report(OperatorNote(.warning, .damage, line, remedy: Self.damageRemedy))
        }
        damageTold = max(damageTold, lines.count)
    }
}
