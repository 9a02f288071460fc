import Glibc
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLog

/// `budget simulate`: replays a log with other grants than those with which it was sent.
enum BudgetSimulateCommand {
    /// The contents of the log besides its events.
    private struct Registry {
        var records: [Record] = []
        var names: [ActivityNumber: Identifier] = [:]
        var apps: [CoreConfiguration.App] = []
    }

    static func run(_ context: CommandContext) async throws -> ExitStatus {
        let sources = try ConfigurationSources(context.invocation)
        guard let home = LogHome(sources.configuration) else {
            throw ProgramError.usage(
                "budget simulate needs --data", remedy: "tombolo budget simulate --data DIR")
        }
        try home.requireFile()
        let speed = try speed(context.invocation)
        let configured = budgets(sources)
        let asked = try budgets(context.invocation, over: configured)
        let budgetClass = context.invocation.text(.budgetClass).flatMap(BudgetClass.init(name:))
        let registry = try read(home)
        let only = try only(context.invocation, registry)
        func replay(_ budgets: Budgets, _ budgetClass: BudgetClass?) -> GrantReplay {
            var configuration = CoreConfiguration(apps: registry.apps)
            configuration.budgets = budgets
            return GrantReplay(
                configuration: configuration, records: registry.records,
                names: registry.names, only: only, budgetClass: budgetClass, speed: speed)
        }
        var before = replay(configured, nil)
        var after = replay(asked, budgetClass)
        try LogExport(home.reading()).run { item in
            guard case .event(let event) = item else { return }
            before.apply(event)
            after.apply(event)
        }
        let outcomes = [before.finish(), after.finish()]
        try BudgetSimulateReport(
            outcomes: outcomes, budgets: [configured, asked], budgetClass: budgetClass,
            speed: speed
        ).print(context)
        return .succeeded
    }

    /// The configured budgets. If there is no configuration file and the directory belongs to
    /// `dev`, the budgets of `dev`.
    private static func budgets(_ sources: ConfigurationSources) -> Budgets {
        guard sources.file == nil, let data = sources.configuration.data,
            access(DevWorkplace.readyFile(in: data), F_OK) == 0
        else {
            return sources.configuration.budgets
        }
        return DevWorkplace.budgets
    }

    /// Reads everything but the events.
    private static func read(_ home: LogHome) throws -> Registry {
        var registry = Registry()
        try LogExport(home.reading()).run { item in
            switch item {
            case .record(let record): registry.records.append(record)
            case .head(let recovered, let tenant, _):
                guard let head = DecodedHead(recovered.value, version: recovered.version) else {
                    return
                }
                registry.names[recovered.activity] = head.key.id
                let app = CoreConfiguration.App(
                    tenant: tenant, id: head.app, environment: .production, allowsLab: true)
                if !registry.apps.contains(app) { registry.apps.append(app) }
            case .identity, .cut, .lead, .event, .snapshot, .fact, .tally, .end: break
            }
        }
        return registry
    }

    private static func only(
        _ invocation: Invocation, _ registry: Registry
    ) throws(ProgramError) -> ActivityNumber? {
        guard let id = invocation.text(.ofActivity) else { return nil }
        let matching = registry.names.filter { $0.value.rawValue == id }
        if let number = matching.keys.min(by: { $0.rawValue < $1.rawValue }) { return number }
        throw ProgramError(
            "no activity \"\(id)\" is in this log", remedy: "tombolo activity ls lists them",
            status: .notFoundOrConflict)
    }

    private static func speed(_ invocation: Invocation) throws(ProgramError) -> Double {
        let text = invocation.text(.replaySpeed) ?? "1"
        guard let speed = Double(text), (0.001...1_000_000).contains(speed) else {
            throw .usage(
                "--speed \(text): is not a number from 0.001 to 1000000", remedy: "--speed 10")
        }
        return speed
    }

    /// Applies flags such as `--grant standard.per_hour=30`. The names are those of the
    /// configuration.
    private static func budgets(
        _ invocation: Invocation, over base: Budgets
    ) throws(ProgramError) -> Budgets {
        var budgets = base
        for (name, value) in invocation.pairs(.replayGrant) {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw .usage(
                    "--grant \(name)=\(value): names no class and field",
                    remedy: "--grant standard.per_hour=30")
            }
            let document = JSON.object { writer in
                writer.object("budgets") { writer in
                    writer.object(parts[0]) { $0.member(parts[1], StateInput.value(value)) }
                }
            }.document
            var reader = FieldReader(document.root)
            budgets = Configuration.budgets(&reader, over: budgets)
            do {
                try reader.finish()
            } catch {
                throw .usage(
                    "--grant \(name)=\(value): \(error.errors.first?.message ?? "is refused")",
                    remedy: "tombolo config show lists classes and fields")
            }
        }
        return budgets
    }
}
