import TomboloLoop
import TomboloSimulator

private func exampleOfTheSimulator(_ key: ProviderKey, _ loop: EpollLoop) async throws {
    var configuration = SimulatorConfiguration(keys: [key], bundleIDs: ["com.example.app"])
    configuration.port = 0  // a free one; the first line names it
    let simulator = try Simulator(configuration, loop: loop) { line in
        print(String(decoding: line, as: UTF8.self))
    }
    try await simulator.run()
}
