import Glibc
import TomboloCrypto

/// The `openssl` command on a directory of its own: the second opinion on what our code makes.
struct OpenSSLCommand: ~Copyable {
    let directory: String

    init() {
        directory = "/tmp/tombolo-crypto-\(Hex.encode(RandomBytes.make(8)))"
        mkdir(directory, 0o700)
    }

    deinit {
        system("rm -r '\(directory)'")
    }

    func write(_ bytes: [UInt8], to name: String) {
        let file = fopen("\(directory)/\(name)", "w")
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    func read(_ name: String) -> [UInt8] {
        guard let file = fopen("\(directory)/\(name)", "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return [UInt8](bytes[..<count])
    }

    /// Runs `openssl ARGUMENTS` in the directory: its exit status, and what it printed.
    func run(_ arguments: String) -> (status: Int32, output: String) {
        let pipe = popen("cd '\(directory)' && openssl \(arguments) 2>&1", "r")
        var output: [UInt8] = []
        while case let character = fgetc(pipe), character >= 0 { output.append(UInt8(character)) }
        let status = pclose(pipe)
        return (status >> 8 & 0xFF, String(decoding: output, as: UTF8.self))
    }
}
