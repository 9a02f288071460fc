import Glibc

/// The process's environment. It is read once, before there is a second thread.
var environment: [String: String] = [:]
var entry = environ
while let variable = entry.pointee {
    let text = String(cString: variable)
    if let equals = text.firstIndex(of: "=") {
        environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
    }
    entry += 1
}
exit(Program(environment: environment).run(Array(CommandLine.arguments.dropFirst())).rawValue)
