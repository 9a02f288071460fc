import Glibc

/// The bytes of a file; none where there is no such file.
package func fileBytes(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: ftell(file))
    rewind(file)
    // Who writes it may cut it short meanwhile.
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
}

extension [UInt8] {
    /// Where `text` begins; nil where it is not in here.
    package func start(of text: String) -> Int? {
        let wanted = Array(text.utf8)
        return withUnsafeBufferPointer { all in
            all.indices.dropLast(wanted.count - 1).first { start in
                all[start] == wanted[0]
                    && wanted.indices.allSatisfy { all[start + $0] == wanted[$0] }
            }
        }
    }
}
