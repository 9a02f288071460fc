import TomboloCore
import TomboloLoop

// Stale is the age of the producer's data (rule 1).

extension World {
    /// Producers that say the same again, each two minutes, also while all is calm.
    func repeatEverything() async {
        guard faults.contains(FaultSet(.repeats)) else { return }
        while !isOver {
            await pause(dice.time(.repeats, 90_000...150_000))
            for (tenant, id) in runningActivities() {
                guard !isOver, !isSilent, let (_, model) = reference.model(tenant: tenant, id: id),
                    !model.hasEnded, model.staleAfter != nil, model.stateVersion == nil,
                    model.bundle == nil
                else { continue }
                await Producer(self, tenant, 95).repeat(id, model.mark)
            }
        }
    }

    /// What was said last is stored before a running relay and a rebuilt one are compared.
    func endRepeating() async {
        guard faults.contains(FaultSet(.repeats)) else { return }
        isSilent = true
        await pause(.seconds(1))
    }

    /// The date of an update is that of one of its producer's events.
    func checkStaleDate(_ content: PushContent, _ key: CardKey) {
        guard let date = content.staleDate, let origin = reference.origins[content.mark] else {
            return
        }
        let isOfEvent = reference.events.reversed().contains { recorded in
            recorded.event.activity == origin.activity
                && recorded.event.recordedAt.seconds + 600 == date
        }
        guard !isOfEvent else { return }
        violated(
            .fresh,
            "phone \(key.phone) \(key.reference.text): stale at \(date), after no event")
    }

    /// No card is stale whose producer has repeated itself.
    func checkFresh(_ card: Card, _ view: ActivityView, _ name: String) {
        guard faults.contains(FaultSet(.repeats)), let date = card.staleDate,
            let due = view.staleAt?.seconds, date < due, date < clock.now().seconds
        else { return }
        violated(.fresh, "\(name) is stale since \(date), and its data is fresh until \(due)")
    }
}
