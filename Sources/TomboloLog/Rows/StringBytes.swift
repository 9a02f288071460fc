/// Calls `body` with the UTF-8 bytes of `string`, without a copy if possible.
@inline(__always)
func withBytes<Answer>(of string: String, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    var string = string
    return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}
