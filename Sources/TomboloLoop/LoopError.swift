/// A failed system call of the loop: its name and `errno`.
package struct LoopError: Error, Hashable, CustomStringConvertible {
    package let call: String
    package let errno: Int32

    package var description: String {
        "\(call) failed: \(systemErrorText(errno))\(remedy)"
    }

    private var remedy: String {
        errno == 24 || errno == 23
            ? "; raise the limit of open files (LimitNOFILE=, ulimit -n)" : ""
    }
}
