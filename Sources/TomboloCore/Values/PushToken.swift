/// A device token, or a channel's id, as in the path of a push. It is stored as bytes, because
/// there are many tokens and their text is twice as long.
///
/// `text` returns the text unchanged: lower-case hex digits are stored as bytes, any other text as
/// it is. Tokens are equal if their texts are. Copies share their bytes.
package struct PushToken: Hashable, @unchecked Sendable {
    // Sendable: only `init` writes the bytes, before any other thread can read them.

    /// The bytes, stored directly after their count.
    private final class Storage: ManagedBuffer<Storage.Header, UInt8> {
        struct Header {
            var count: Int32
            var isHex: Bool
        }

        static func make(
            _ count: Int, isHex: Bool, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Void
        ) -> Storage {
            let made = create(minimumCapacity: count) { _ in
                Header(count: Int32(count), isHex: isHex)
            }
            made.withUnsafeMutablePointerToElements {
                fill(UnsafeMutableBufferPointer(start: $0, count: count))
            }
            return unsafeDowncast(made, to: Storage.self)
        }

        func read<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
            withUnsafeMutablePointers { header, bytes in
                body(UnsafeBufferPointer(start: bytes, count: Int(header.pointee.count)))
            }
        }
    }

    private let storage: Storage

    /// Accepts any text, because requests are checked where they arrive.
    package init(_ text: String) {
        let digits = text.utf8
        if digits.count.isMultiple(of: 2), digits.allSatisfy({ Self.value(of: $0) != nil }) {
            storage = Storage.make(digits.count / 2, isHex: true) { bytes in
                for (index, digit) in digits.enumerated() {
                    let value = Self.value(of: digit) ?? 0
                    let half = index / 2
                    bytes[half] = index.isMultiple(of: 2) ? value << 4 : bytes[half] | value
                }
            }
        } else {
            storage = Storage.make(digits.count, isHex: false) { bytes in
                for (index, byte) in digits.enumerated() { bytes[index] = byte }
            }
        }
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// The text from which the token was made.
    package var text: String {
        storage.read { bytes in
            guard storage.header.isHex, !bytes.isEmpty else {
                return String(decoding: bytes, as: UTF8.self)
            }
            return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
                for (index, byte) in bytes.enumerated() {
                    text[2 * index] = Self.digit(byte >> 4)
                    text[2 * index + 1] = Self.digit(byte & 15)
                }
                return 2 * bytes.count
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    /// Compares the texts.
    package static func == (one: PushToken, other: PushToken) -> Bool {
        if one.storage === other.storage { return true }
        guard one.storage.header.isHex == other.storage.header.isHex else { return false }
        return one.storage.read { bytes in
            other.storage.read { bytes.elementsEqual($0) }
        }
    }

    /// Hashes the values that `==` compares.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(storage.header.isHex)
        storage.read { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
