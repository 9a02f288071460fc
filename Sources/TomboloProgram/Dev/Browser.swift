import Glibc

/// The user's browser.
enum Browser {
    /// Opens an address, if there is a desktop. A failure is not reported, as the address is also
    /// printed.
    ///
    /// - Parameter file: the page that leads to the address. Other users can see the arguments of a
    ///   program, and the address has a key.
    static func visit(_ address: String, by file: String, _ context: CommandContext) throws {
        let desktops = ["DISPLAY", "WAYLAND_DISPLAY"]
        guard desktops.contains(where: { context.environment[$0] != nil }) else { return }
        let page = "<meta http-equiv=\"refresh\" content=\"0;url=\(address)\">"
        try FileBytes.write(Array(page.utf8), to: file)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(1)...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        // `setsid --fork` ends at once, so that this process need not wait for the browser.
        let words =
            ["setsid", "--fork", "xdg-open", file].map { (word: String) in strdup(word) } + [nil]
        defer { for word in words { free(word) } }
        var id = pid_t()
        guard posix_spawnp(&id, "setsid", &actions, nil, words, environ) == 0 else { return }
        waitpid(id, nil, 0)
    }
}
