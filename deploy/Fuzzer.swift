import Glibc

// What libFuzzer calls; `deploy/fuzz` builds it with the functions in `Tests/*/Fuzzed`. It is in no
// target of the package: a program with a `main` of libFuzzer's own.

/// What is fuzzed: `TOMBOLO_FUZZ` names it.
private let fuzzed: @Sendable ([UInt8]) -> Void = {
    switch getenv("TOMBOLO_FUZZ").map({ String(cString: $0) }) {
    case "json": return fuzzJSON
    case "http1": return fuzzHTTP1
    case "client": return fuzzClient
    case "server": return fuzzServer
    default: preconditionFailure("TOMBOLO_FUZZ must be json, http1, client or server")
    }
}()

/// One input of the fuzzer's.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    fuzzed(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
