/// A page of `/problems` for browsers: the same lines that other clients get, as HTML with links
/// and headings.
enum PageHTML {
    /// - Parameter text: the first line is the title. A line that begins with a path becomes a
    ///   link. An indented line is a paragraph; under the heading "Command" it is a command. A line
    ///   before indented lines is a heading.
    static func page(_ text: String) -> String {
        let lines = text.split(separator: "\n").map(String.init)
        let title = lines.first.flatMap { $0.hasPrefix("/") ? nil : $0 } ?? "Problems"
        var body = ""
        var heading = ""
        for (index, line) in lines.enumerated() {
            let isIndented = line.hasPrefix("  ")
            let words = escaped(isIndented ? String(line.dropFirst(2)) : line)
            if let path = line.split(separator: " ").first, path.hasPrefix("/problems/") {
                body += "<p><a href=\"\(escaped(String(path)))\">\(words)</a></p>\n"
            } else if index == 0 {
                body += "<h1>\(words)</h1>\n"
            } else if isIndented {
                body += heading == "Command" ? "<pre>\(words)</pre>\n" : "<p>\(words)</p>\n"
            } else if lines.dropFirst(index + 1).first?.hasPrefix("  ") == true {
                heading = line
                body += "<h2>\(words)</h2>\n"
            } else {
                body += "<p>\(words)</p>\n"
            }
        }
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <title>\(escaped(title))</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <link rel="icon" href="/console/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/console/console.css">
            </head>
            <body>
            <main>
            \(body)<p><a href="/problems">All problems</a> · <a href="/console/">Console</a></p>
            </main>
            </body>
            </html>

            """
    }

    /// Escapes a text for HTML, also inside quotes.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
