import TomboloJSON

/// The running cat of scenario `runner`: five frames of 48 by 32 pixels, as 1-bit PNGs in base64.
///
/// They have 1,156 bytes together, so that all five fit into one payload.
/// `Protocol/examples/runner/` has the same pictures as files; a test compares them.
enum RunnerCat {
    /// The frames of the first clip in the scenario's file.
    static let frames =
        Scenario(named: "runner")?.steps.flatMap(\.requests)
        .lazy.compactMap { $0.body.document.root["flipbook"]?.texts("frames") }.first ?? []
}
