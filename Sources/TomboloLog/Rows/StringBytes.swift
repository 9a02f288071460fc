/// The UTF-8 of `string` where it lies, or of a copy.
@inline(__always)
func withBytes<Answer>(of string: String, _ body: (UnsafeRawBufferPointer) -> Answer) -> Answer {
    var string = string
    return string.withUTF8 { body(UnsafeRawBufferPointer($0)) }
}
