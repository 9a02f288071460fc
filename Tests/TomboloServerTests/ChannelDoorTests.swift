import Synchronization
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// Channels that are left behind at Apple count against the quota there: they can be seen, and got
/// rid of.
@Suite struct ChannelDoorTests {
    @Test func `what nobody here knows of is listed and deleted by Apple's id`() async throws {
        let shelf = ChannelShelf()
        shelf.leave("a+/b==")
        try await withDoors(channels: shelf) { doors in
            let made = try await doors.call("PUT", "/v1/channels/final", "{}")
            let own = try #require(try json(made)["id"]?.string)
            func unknown() async throws -> [String] {
                let list = try json(try await doors.call("GET", "/v1/channels"))
                let app = list["apps"]?.elements.first { _ in true }
                return app?["unknown"].map { $0.elements.compactMap(\.string) } ?? []
            }
            #expect(try await unknown() == ["a+/b=="])
            let path = "/v1/channels/a%2B%2Fb%3D%3D"
            let tried = try json(try await doors.call("DELETE", path + "?dry_run=true"))
            #expect(tried["dry_run"]?.bool == true)
            #expect(try await unknown() == ["a+/b=="])
            let gone = try await doors.call("DELETE", path)
            #expect(gone.status == 200)
            #expect(try json(gone)["channel"]?.string == "a+/b==")
            #expect(try await unknown() == [])
            #expect(try await doors.call("DELETE", path).status == 404)
            let kept = try await doors.call("DELETE", "/v1/channels/\(own)")
            #expect(kept.status == 409)
            #expect(kept.text.contains("deleted by it"))
            #expect(try await doors.call("GET", "/v1/channels/final").status == 200)
            #expect(try await doors.call("DELETE", "/v1/channels/final").status == 200)
            #expect(try await doors.call("DELETE", "/v1/channels/final").status == 404)
        }
    }

    private static let start = #"{"type":"Score","audience":{"channel":"final"},"state":{}}"#

    @Test func `nothing starts on a channel while Apple is asked to delete it`() async throws {
        let shelf = ChannelShelf()
        try await withDoors(channels: shelf) { doors in
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            let status = Mutex<[Int]>([])
            shelf.whileDeleting = {
                // A failing call is seen below: no status is there.
                let start = try? await doors.call("PUT", "/v1/activities/cup", Self.start)
                let put = try? await doors.call("PUT", "/v1/channels/final", "{}")  // as above
                status.withLock { $0 = [start?.status ?? 0, put?.status ?? 0] }
                return nil
            }
            #expect(try await doors.call("DELETE", "/v1/channels/final").status == 200)
            #expect(status.withLock { $0 } == [404, 412])
            shelf.whileDeleting = nil
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            #expect(try await doors.call("PUT", "/v1/activities/cup", Self.start).status == 201)
        }
    }

    @Test func `a channel that Apple does not delete serves again, unless nobody knows`()
        async throws
    {
        let shelf = ChannelShelf()
        try await withDoors(channels: shelf) { doors in
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            shelf.whileDeleting = { .unknown("the connection ended") }
            #expect(try await doors.call("DELETE", "/v1/channels/final").status >= 500)
            let refused = try await doors.call("PUT", "/v1/activities/cup", Self.start)
            #expect(refused.status == 404)
            #expect(refused.text.contains("is being deleted"))
            shelf.whileDeleting = { .unreachable("no route") }
            #expect(try await doors.call("DELETE", "/v1/channels/final").status >= 500)
            #expect(try await doors.call("PUT", "/v1/activities/cup", Self.start).status == 201)
            shelf.whileDeleting = nil
            #expect(try await doors.call("DELETE", "/v1/channels/final").status == 409)
        }
    }
}
