import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloCrypto
import TomboloEventLog
import TomboloJSON

@testable import TomboloServer

@Suite struct AccessControlTests {
    private let tenant = TenantID(Identifier("main")!)
    private let now = Instant(seconds: 1_795_000_000)

    @Test func `a key is read as it is written`() throws {
        let key = APIKey(environment: "live") { [UInt8](repeating: 0xab, count: $0) }
        let read = try APIKey(key.text)
        #expect(read.id == key.id)
        #expect(read.secret == key.secret)
        #expect(key.text.hasPrefix("tmb_live_abababababab_abab"))
        #expect(!key.description.contains(key.secret))
    }

    @Test func `a key with one wrong character is told from one of another kind`() {
        let key = APIKey(environment: "live") { [UInt8](repeating: 1, count: $0) }.text
        let wrong = key.replacing("tmb_live_01", with: "tmb_live_02")
        #expect(throws: APIKey.Fault.mistyped) { try APIKey(wrong) }
        #expect(throws: APIKey.Fault.mistyped) { try APIKey(String(key.dropLast())) }
        for text in ["", "hello", "tmb_LIVE_a_b_c", "tmb_live_a_b", "xmb_live_a_b_c"] {
            #expect(throws: APIKey.Fault.malformed) { try APIKey(text) }
        }
        #expect(throws: APIKey.Fault.malformed) {
            try APIKey(key + String(repeating: "a", count: 200))
        }
    }

    @Test func `a key opens after it was admitted, with its own secret, until it is revoked`()
        throws
    {
        let access = AccessControl(pepper: Pepper(), records: [])
        let scopes = try #require(ScopeSet(list: "produce,device:phone-1"))
        let minted = access.mint(environment: "live", tenant: tenant, scopes: scopes, now: now)
        #expect(access.principal(of: minted.key) == nil)
        access.admit(minted)
        #expect(access.principal(of: minted.key)?.scopes == scopes)
        let id = minted.key.id
        let forged = APIKey(environment: "live") { count in
            count == 6 ? Hex.decode(id) ?? [] : [UInt8](repeating: 7, count: count)
        }
        #expect(forged.id == id)
        #expect(access.principal(of: forged) == nil)
        access.revoke(minted.record)
        #expect(access.principal(of: minted.key) == nil)
    }

    @Test func `what is stored brings a key back under the same pepper, and holds no secret`()
        throws
    {
        let pepper = Pepper()
        let access = AccessControl(pepper: pepper, records: [])
        let minted = access.mint(environment: "live", tenant: tenant, scopes: .all, now: now)
        let stored = [(number: minted.record.number, value: minted.encoded)]
        #expect(!String(decoding: minted.encoded, as: UTF8.self).contains(minted.key.secret))
        let again = AccessControl(pepper: pepper, records: stored)
        #expect(again.records(of: tenant) == [minted.record])
        #expect(again.principal(of: minted.key)?.tenant == tenant)
        #expect(AccessControl(pepper: Pepper(), records: stored).principal(of: minted.key) == nil)
        let next = again.mint(environment: "live", tenant: tenant, scopes: .all, now: now)
        #expect(next.record.number == minted.record.number + 1)
    }

    @Test func `a damaged record is set aside and its number is not given again`() {
        let access = AccessControl(
            pepper: Pepper(), records: [(number: 4, value: Array("{\"id\":1}".utf8))])
        #expect(access.unreadable == [4])
        let minted = access.mint(environment: "live", tenant: tenant, scopes: .all, now: now)
        #expect(minted.record.number == 5)
    }

    @Test func `a key minted into a log is there when a relay starts`() async throws {
        let log = InMemoryEventLog()
        let pepper = Pepper()
        let first = try await AccessControl.mint(
            into: log, pepper: pepper, environment: "live", tenant: tenant, scopes: .all, now: now)
        let second = try await AccessControl.mint(
            into: log, pepper: pepper, environment: "live", tenant: tenant,
            scopes: try #require(ScopeSet(list: "observe")), now: now)
        let records = try await log.recover(idempotencySince: .distantPast).records
        let access = AccessControl(
            pepper: pepper, records: records.map { (number: $0.number, value: $0.value ?? []) })
        #expect(access.principal(of: first.key)?.scopes == .all)
        #expect(access.principal(of: second.key)?.scopes.contains(.operate) == false)
    }

    @Test func `lists of scopes are read as they are written`() {
        #expect(ScopeSet(list: "produce, observe")?.scopes == [.produce, .observe])
        #expect(ScopeSet(list: "all") == .all)
        #expect(ScopeSet(list: "observe,observe")?.scopes == [.observe])
        for wrong in ["", "produce,", "rule", "device:", "device:a~2", "Produce"] {
            #expect(ScopeSet(list: wrong) == nil, "\(wrong)")
        }
        let devices = (1...ScopeSet.scopesMax).map { "device:p\($0)" }.joined(separator: ",")
        #expect(ScopeSet(list: devices) != nil)
        #expect(ScopeSet(list: devices + ",produce") == nil)
    }
}

@Suite struct PepperTests {
    @Test func `a pepper is made once, for its owner alone, and read ever after`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove(Pepper.fileName) }
        let missing = #expect(throws: PepperError.self) {
            try Pepper(path: "\(folder.path)/pepper", keyCount: 3)
        }
        #expect(missing?.cause == "it is missing, and 3 API keys were stored under it")
        let made = try Pepper(path: "\(folder.path)/pepper", keyCount: 0)
        let read = try Pepper(path: "\(folder.path)/pepper", keyCount: 3)
        #expect(made.bytes == read.bytes)
        #expect(made.bytes.count == 32)
        var status = stat()
        #expect(stat("\(folder.path)/\(Pepper.fileName)", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func `a pepper that was cut is an error that says what to do`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove(Pepper.fileName) }
        let descriptor = open("\(folder.path)/\(Pepper.fileName)", O_WRONLY | O_CREAT, 0o600)
        #expect(write(descriptor, "short", 5) == 5)
        close(descriptor)
        let error = #expect(throws: PepperError.self) {
            try Pepper(path: "\(folder.path)/pepper", keyCount: 0)
        }
        #expect(error?.description.contains("32 bytes") == true)
        #expect(error?.description.contains("backup") == true)
    }

    @Test func `a folder that is not there is an error with its path`() {
        let error = #expect(throws: PepperError.self) {
            try Pepper(path: "/nowhere/pepper", keyCount: 0)
        }
        #expect(error?.path.hasPrefix("/nowhere/pepper") == true)
    }
}
