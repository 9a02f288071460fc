import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

@Suite struct ConsoleDoorTests {
    @Test func `the console comes without a key, and nothing else runs in its pages`() async throws
    {
        try await withDoors { doors in
            for (name, type) in [
                ("", "text/html; charset=utf-8"), ("main.js", "text/javascript; charset=utf-8"),
                ("console.css", "text/css; charset=utf-8"), ("icon.svg", "image/svg+xml"),
            ] {
                let curl = try Curl([doors.origin + "/console/" + name, "-i"], on: doors.loop)
                _ = await curl.wait()
                let answer = try #require(CurlAnswer(output: curl.collected))
                #expect(answer.status == 200, "\(name)")
                #expect(answer.fields["content-type"] == type)
                #expect(answer.fields["x-content-type-options"] == "nosniff")
                #expect(answer.fields["referrer-policy"] == "no-referrer")
                let policy = answer.fields["content-security-policy"] ?? ""
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
            }
        }
    }

    @Test func `a file that the browser has is not sent again`() async throws {
        try await withDoors { doors in
            let first = try await doors.call("GET", "/console/main.js")
            let tag = try #require(first.fields["etag"])
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
                let again = try await doors.call(
                    "GET", "/console/main.js", fields: ["If-None-Match: \(known)"])
                #expect(again.status == 304, "\(known)")
                #expect(again.text.isEmpty)
            }
            let other = try await doors.call(
                "GET", "/console/main.js", fields: [#"If-None-Match: "other""#])
            #expect(other.status == 200)
        }
    }

    @Test(arguments: [
        "none.js", "main.JS", "..%2Fmain.js", ".git", "main", "main.js%00", "%2Fetc%2Fpasswd",
        "main.json",
    ])
    func `another name is nothing here`(name: String) async throws {
        try await withDoors { doors in
            let answer = try await doors.call("GET", "/console/\(name)")
            #expect(answer.status == 404)
        }
    }

    @Test func `without its slash the console is elsewhere`() async throws {
        try await withDoors { doors in
            let answer = try await doors.call("GET", "/console")
            #expect(answer.status == 308)
            #expect(answer.fields["location"] == "/console/")
        }
    }

    @Test func `files may come from a directory, and only by their names`() async throws {
        let files = ConsoleFiles { name in Array("of \(name)".utf8) }
        try await withDoors(configure: { $0.console = files }) { doors in
            let there = try await doors.call("GET", "/console/new.js")
            #expect(there.text == "of new.js")
            #expect(try await doors.call("GET", "/console/..%2Fnew.js").status == 404)
            #expect(try await doors.call("GET", "/console/new.txt").status == 404)
        }
    }

    @Test func `every file of the folder is in the program, and byte for byte`() throws {
        let folder =
            #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
            + "/Sources/CConsoleAssets/console"
        let handle = try #require(opendir(folder))
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        #expect(names.sorted() == ConsoleFiles.names)
        for name in names {
            let file = try #require(fopen("\(folder)/\(name)", "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            #expect(ConsoleFiles.embedded.file(name)?.body == Array(bytes[..<count]), "\(name)")
        }
    }
}

@Suite struct PhoneDoorTests {
    @Test func `phones are one tenant's, and only where there are some`() async throws {
        try await withDoors { doors in
            #expect(try await doors.call("GET", "/v1/phones").status == 404)
            let shelf = PhoneShelf()
            doors.doors.phoneWall = PhoneWall(tenant: DoorsUnderTest.tenant, control: shelf)
            #expect(try await doors.call("GET", "/v1/phones").status == 200)
            let observer = try await doors.mint("observe")
            #expect(try await doors.call("GET", "/v1/phones", key: observer).status == 403)
            let other = try await doors.mint("all", tenant: TenantID(Identifier("other")!))
            #expect(try await doors.call("GET", "/v1/phones", key: other).status == 404)
            for (key, hasPhones) in [(doors.key, true), (observer, false), (other, false)] {
                let answer = try json(try await doors.call("GET", "/v1/overview", key: key))
                #expect(answer["phones"]?.bool == hasPhones)
            }
            #expect(shelf.asked == ["GET "])
        }
    }

    @Test func `what the simulator refuses is a problem`() async throws {
        try await withDoors { doors in
            let shelf = PhoneShelf()
            doors.doors.phoneWall = PhoneWall(tenant: DoorsUnderTest.tenant, control: shelf)
            shelf.refusal = PhoneAnswer(
                status: 404, body: Array(#"{"error":"there is no phone x"}"#.utf8))
            let answer = try await doors.call("POST", "/v1/phones/x", #"{"do":"lock"}"#)
            #expect(answer.status == 404)
            #expect(try json(answer)["detail"]?.string == "there is no phone x")
            let odd = try await doors.call("POST", "/v1/phones/a%2Fb", #"{"do":"lock"}"#)
            #expect(odd.status == 422)
            #expect(try await doors.call("POST", "/v1/phones/x", #"{"do":"drop"}"#).status == 422)
            #expect(shelf.asked == ["POST /x"])
        }
    }
}
