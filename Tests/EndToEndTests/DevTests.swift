import Glibc
import TestSupport
import Testing
import TomboloJSON

@testable import TomboloProgram

/// `tombolo dev` and the scenario on its phones: relay, simulator and command line as three
/// processes.
@Suite(.serialized) struct DevTests {
    @Test func `the cat runs on three phones, each as its class allows, and all show the end`()
        throws
    {
        let dev = try RunningRelay()
        let result = try dev.tombolo("trigger", "runner", "--for", "3s", "-o", "json")
        #expect(result.status == 0, "\(result.errors)")
        let summary = try json(result.output)
        #expect(result.output.split(separator: "\n").count == 1)
        #expect(summary["scenario"]?.string == "runner")
        #expect(summary["converged"]?.bool == true)
        let phones = try #require(summary["phones"]).elements.map { $0 }
        #expect(phones.map { $0["phone"]?.string } == ["phone-1", "phone-2", "phone-3"])
        #expect(phones.map { $0["class"]?.string } == ["lab", "frequent", "standard"])
        #expect(phones.allSatisfy { $0["final"]?.bool == true })
        // 3 s at ten a second; a busy machine may be late with the last one.
        // It runs on until the slowest phone has drawn its second picture.
        #expect((phones[0]["asked"]?.integer ?? 0) >= 30)
        #expect(phones.allSatisfy { ($0["pictures"]?.integer ?? 0) >= 2 })
        #expect((phones[0]["fps"]?.double ?? 0) > 8)
        #expect((phones[1]["sent"]?.integer ?? 99) < (phones[0]["sent"]?.integer ?? 0) / 5)
        for phone in phones {
            let parts = ["sent", "merged", "skipped"].compactMap { phone[$0]?.integer }
            #expect(parts.reduce(0, +) == phone["asked"]?.integer)
        }
    }

    @Test(arguments: Scenario.ofCards)
    func `after each step every phone draws what the golden file says`(_ name: String) throws {
        let golden = try #require(ProtocolFiles.json("examples/\(name)/steps.json")["steps"])
        let dev = try RunningRelay()
        let flags = name == "runner" ? ["--steps"] : []
        let result = try dev.tombolo(["trigger", name, "-o", "json"] + flags)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.split(separator: "\n").count == 1)
        let summary = try json(result.output)
        #expect(summary["converged"]?.bool == true)
        let steps = try #require(summary["steps"]).elements.map { $0 }
        #expect(steps.map { $0["step"]?.string } == golden.elements.map { $0["step"]?.string })
        for (step, expected) in zip(steps, golden.elements) {
            #expect(step["held"]?.bool == true)
            #expect(step["shows"]?.json == expected["shows"]?.json)
        }
        let phones = try #require(summary["phones"]).elements.map { $0 }
        // All types of radial are on the phone that draws every frame.
        #expect(phones.count == (name == "radial" ? 5 : 3))
        #expect(phones.allSatisfy { ($0["pictures"]?.integer ?? 0) >= 2 })
        // Class lab: a turn, or corners, really moved.
        #expect((phones[0]["pictures"]?.integer ?? 0) > 4)
        let drawings = try ProtocolFiles.json("examples/\(name)/drawn.json")
        for phone in phones { try Self.check(phone, against: drawings) }
        // No producer posts a corner: it follows the app.
        if name == "window" {
            let log = try dev.tombolo("log", "ls", "-o", "json")
            #expect(log.output.contains("\"do\":\"start\""))
            #expect(!log.output.contains("\"do\":\"play\""))
            #expect(!log.output.contains("corner"))
        }
    }

    @Test(arguments: Scenario.ofWidgets)
    func `after each step every widget shows what the golden file says`(_ name: String) throws {
        let golden = try #require(ProtocolFiles.json("examples/\(name)/steps.json")["steps"])
        let dev = try RunningRelay()
        let result = try dev.tombolo("trigger", name, "-o", "json")
        #expect(result.status == 0, "\(result.errors)")
        let summary = try json(result.output)
        #expect(summary["converged"]?.bool == true)
        let steps = try #require(summary["steps"]).elements.map { $0 }
        #expect(steps.map { $0["step"]?.string } == golden.elements.map { $0["step"]?.string })
        #expect(steps.allSatisfy { $0["held"]?.bool == true })
        let widgets = try #require(summary["widgets"]).elements.map { $0 }
        let names = widgets.compactMap { $0["phone"]?.string }
        #expect(names.contains("phone-1") && names.contains("pad-1"))
        let drawings = try ProtocolFiles.json("examples/\(name)/drawn.json")
        for widget in widgets {
            let own = drawings["widgets"]?[widget["widget"]?.string ?? ""]
            if drawings["widgets"] != nil { try #require(own != nil, "\(widget.json)") }
            try Self.check(widget, against: own ?? drawings, isShort: own != nil)
        }
        // They are taken off again.
        let phones = try dev.tombolo("phone", "ls", "-o", "json")
        let pages = try #require(json(phones.output)["phones"])
        #expect(pages.elements.allSatisfy { $0["widgets"]?.count == 0 })
        #expect(Array(pages.elements).last?["idiom"]?.string == "pad")
    }

    /// A phone's sequence of drawings against the golden one. A look every 50 ms, and a slow phone,
    /// miss some between two rests, and never a rest.
    private static func check(
        _ phone: JSONView, against golden: JSONView, isShort: Bool = false
    ) throws {
        let drawn = try #require(phone["drawn"]).elements.map(text)
        let isPictures = golden["pictures"]?.bool == true
        func texts(_ list: JSONView?) -> [String] {
            list?.elements.map { entry in
                guard isPictures, let number = entry.integer else { return text(entry) }
                return #"{"image":"\#(RunnerCat.frames[Int(number)])"}"#
            } ?? []
        }
        func isWithin(_ part: [String], _ whole: [String]) -> Bool {
            var rest = whole[...]
            return part.allSatisfy { one in
                guard let index = rest.firstIndex(of: one) else { return false }
                rest = rest[(index + 1)...]
                return true
            }
        }
        let rests = texts(golden["rests"])
        #expect((rests.count > 2 || isShort) && isWithin(rests, drawn), "\(drawn) lacks a rest")
        // SwiftUI's default goes from one place to the next by itself.
        let isDefault = phone["type"]?.string == "RadialDefaultWidgetAttributes"
        if phone["class"]?.string == "lab", !isDefault {
            #expect(drawn.count > rests.count + 3, "\(drawn) has nothing between the rests")
        }
        guard let path = golden["rises"]?.string.flatMap(JSONPointer.init) else {
            #expect(isWithin(drawn, texts(golden["drawn"])), "\(drawn) is not of the golden ones")
            return
        }
        let numbers = try #require(phone["drawn"]).elements.compactMap { $0.at(path)?.double }
        #expect(numbers.count == drawn.count)
        // Seen once on a busy machine: 152.551, then 152.495. The cause is not known.
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 - 0.5 < $1 }, "\(numbers)")
    }

    /// A state without spaces, and without what the app needs beside it.
    private static func text(_ state: JSONView) -> String {
        switch state.kind {
        case .object:
            let members = state.members.filter { $0.0 != "clip" }.map { "\"\($0)\":\(text($1))" }
            return "{\(members.joined(separator: ","))}"
        case .array: return "[\(state.elements.map(text).joined(separator: ","))]"
        default: return String(decoding: state.raw, as: UTF8.self)
        }
    }

    @Test func `the first line tells where everything is, and the CA file is there`() throws {
        let dev = try RunningRelay()
        #expect(dev.ready["ready"]?.bool == true)
        #expect(dev.ready["console"]?.string == "\(dev.api)/console/")
        #expect(Origin(dev.ready["simulator"]?.string ?? "")?.scheme == .https)
        let ca = try FileBytes.read(dev.ready["ca"]?.string ?? "")
        #expect(String(decoding: ca, as: UTF8.self).contains("BEGIN CERTIFICATE"))
    }

    @Test func `SIGTERM ends dev with 0, and nothing of it stays`() throws {
        let dev = try RunningRelay()
        let ca = try #require(dev.ready["ca"]?.string)
        let simulator = try #require(Origin(dev.ready["simulator"]?.string ?? ""))
        #expect(try dev.terminate() == 0)
        #expect(access(ca, F_OK) != 0)
        // Its port is free again: the second process is gone too.
        let port = try Tombolo.run(
            ["sim", "--listen", simulator.authority, "--end-with-input", "--topic", "a"])
        #expect(port.status == 0, "\(port.errors)")
    }

    @Test func `a reader who stops reading does not stop the relay`() throws {
        let dev = try RunningRelay()
        // Nobody reads the islands' lines, of which a pipe this small holds a handful.
        dev.process.shrinkOutputPipe()
        let result = try dev.tombolo("trigger", "runner", "--for", "2s", "-o", "json")
        #expect(result.status == 0, "\(result.errors)")
        #expect(try dev.terminate() == 0)
    }

    @Test func `dev refuses to listen where others reach it`() throws {
        let result = try Tombolo.run("dev", "--listen", "0.0.0.0:0")
        #expect(result.status == 2)
        #expect(result.errors.contains("can be reached from other machines"))
    }
}
