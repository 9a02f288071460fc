import Testing
import TomboloCore

/// Two sequences share a hash; otherwise hashes are spread.
private func hash(_ seq: Int64) -> UInt64 {
    let spread = UInt64(seq / 2) &* 0x9e37_79b9_7f4a_7c15
    return spread ^ spread >> 32
}

@Test func `keys that collide stand beside each other, and are taken back one by one`() {
    var index = KeyHashTable()
    for seq in Int64(1)...50_000 { index.insert(hash(seq), seq: seq) }
    for seq in Int64(1)...50_000 {
        #expect(index.first(hash(seq)) { $0 == seq } == seq)
    }
    #expect(index.first(hash(200)) { _ in true } == 200)
    index.remove(hash(200), seq: 200)
    #expect(index.first(hash(200)) { _ in true } == 201)
    #expect(index.first(hash(100_000)) { _ in true } == nil)
}

@Test func `what expired is absent at once, and makes room when the table grows`() {
    var index = KeyHashTable()
    for seq in Int64(1)...5_000 { index.insert(hash(seq), seq: seq) }
    index.expire(below: 5_000)
    #expect(index.first(hash(4_998)) { _ in true } == nil)
    #expect(index.first(hash(5_000)) { _ in true } == 5_000)
    for seq in Int64(5_001)...100_000 {
        index.expire(below: seq - 100)
        index.insert(hash(seq), seq: seq)
    }
    #expect(index.slotCount == 1_024)
    #expect(index.first(hash(99_950)) { _ in true } == 99_950)
}
