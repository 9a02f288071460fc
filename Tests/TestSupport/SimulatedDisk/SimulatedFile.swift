import Glibc

/// One file: what programs see, what is surely on the disk, and what lies between.
final class SimulatedFile {
    private enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncation(count: Int)
    }

    private static let sectorBytes = 512

    private var seen: [UInt8] = []
    private var durable: [UInt8] = []
    private var pending: [Change] = []
    let locks = SimulatedLocks()
    let shared = SimulatedSharedMemory()

    var count: Int { seen.count }

    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        let available = max(0, min(target.count, seen.count - offset))
        if available > 0 {
            seen.withUnsafeBytes { bytes in
                target.copyMemory(from: .init(rebasing: bytes[offset..<offset + available]))
            }
        }
        return available
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let change = Change.write(offset: offset, bytes: Array(bytes))
        pending.append(change)
        Self.apply(change, to: &seen)
    }

    func truncate(to count: Int) {
        let change = Change.truncation(count: count)
        pending.append(change)
        Self.apply(change, to: &seen)
    }

    func sync() {
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// What is left after the power was gone.
    func losePower(_ chance: inout SplitMix64) {
        for change in pending {
            guard case .write(let offset, let bytes) = change else {
                if chance.next(below: 2) == 0 { Self.apply(change, to: &durable) }
                continue
            }
            for range in Self.survivors(offset: offset, count: bytes.count, &chance) {
                Self.apply(
                    .write(offset: offset + range.lowerBound, bytes: Array(bytes[range])),
                    to: &durable)
            }
        }
        pending = []
        seen = durable
        locks.forget()
        shared.forget()
    }

    func flip(byte: Int, bit: Int) {
        sync()
        seen[byte] ^= 1 << UInt8(bit)
        durable[byte] ^= 1 << UInt8(bit)
    }

    /// The parts of a write that reach the disk: all, none, those up to a sector, or any sectors.
    private static func survivors(
        offset: Int, count: Int, _ chance: inout SplitMix64
    ) -> [Range<Int>] {
        let way = chance.next(below: 4)
        if way == 0 { return [] }
        if way == 1 { return [0..<count] }
        let sectors = cuts(offset: offset, count: count)
        if way == 2 {
            return Array(sectors.prefix(Int(chance.next(below: UInt64(sectors.count)))))
        }
        return sectors.filter { _ in chance.next(below: 2) == 0 }
    }

    /// A write in pieces that end at the disk's sectors.
    private static func cuts(offset: Int, count: Int) -> [Range<Int>] {
        var cuts: [Range<Int>] = []
        var start = 0
        while start < count {
            let end = min(count, start + sectorBytes - (offset + start) % sectorBytes)
            cuts.append(start..<end)
            start = end
        }
        return cuts
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if content.count < end {
                content += [UInt8](repeating: 0, count: end - content.count)
            }
            content.withUnsafeMutableBytes { content in
                UnsafeMutableRawBufferPointer(rebasing: content[offset..<end])
                    .copyBytes(from: bytes)
            }
        case .truncation(let count):
            if content.count > count { content.removeLast(content.count - count) }
        }
    }
}
