import CLinux
import Testing
import TomboloCore

@testable import TomboloLog

@Test(
    arguments: [
        // RFC 3720, appendix B.4.
        ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
        ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
        (Array(0..<32), 0x46dd_794e),
        (Array((0..<32).reversed()), 0x113f_db5c),
        // The check value that catalogues of CRCs print.
        (Array("123456789".utf8), 0xe306_9283),
        ([], 0),
    ] as [([UInt8], UInt32)])
func `CRC32C agrees with its specification, with the instruction and without`(
    bytes: [UInt8], sum: UInt32
) {
    #expect(tombolo_crc32c(0, bytes, bytes.count) == sum)
    #expect(tombolo_crc32c_software(0, bytes, bytes.count) == sum)
}

@Test func `both ways agree at every length and from any middle`() {
    var chance: UInt64 = 0x9e37_79b9_7f4a_7c15
    let bytes = (0..<200).map { _ -> UInt8 in
        chance = chance &* 6_364_136_223_846_793_005 &+ 1
        return UInt8(truncatingIfNeeded: chance >> 33)
    }
    for count in 0...bytes.count {
        let whole = tombolo_crc32c(0, bytes, count)
        #expect(whole == tombolo_crc32c_software(0, bytes, count))
        let first = tombolo_crc32c(0, bytes, count / 3)
        let rest = Array(bytes[(count / 3)..<count])
        #expect(tombolo_crc32c(first, rest, rest.count) == whole)
    }
}

@Test func `a row's sum depends on its table`() {
    var one = RowChecksum(.log)
    var other = RowChecksum(.fact)
    one.add(Int64(7))
    other.add(Int64(7))
    #expect(one.value != other.value)
}

/// Made by a second implementation, which gives the vector of the paper for SipHash-2-4: bytes 0,
/// 1, 2 … under the key 0, 1 … 15.
@Test(
    arguments: [
        (8, 0x3690_9511_8d29_9a8e), (9, 0x25a4_8eb3_6c06_3de4), (15, 0xd320_d86d_2a51_9956),
        (16, 0xcc4f_dd1a_7d90_8b66), (23, 0x525a_0e7f_dae6_c123), (63, 0x9d19_9062_b7bb_b3a8),
    ] as [(Int, UInt64)])
func `the keyed hash is SipHash-1-3`(count: Int, expected: UInt64) {
    let hash = KeyedHash(key0: 0x0706_0504_0302_0100, key1: 0x0f0e_0d0c_0b0a_0908)
    let bytes = (8..<count).map { UInt8($0) }
    #expect(bytes.withUnsafeBytes { hash(0x0706_0504_0302_0100, $0) } == expected)
}
