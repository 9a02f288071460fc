import TomboloCore
import TomboloJSON

/// `clip`: plays, stops and packs animations of an activity's state.
enum ClipCommands {
    static func play(_ context: CommandContext) async throws -> ExitStatus {
        let (id, path, clip) = try clip(context)
        let request = RelayRequest.write(context, "POST", path, body: clip)
        return try await ReadCommands.show(context, request, name: id)
    }

    /// Stops all playing clips, or the clip at one place in the state.
    static func stop(_ context: CommandContext) async throws -> ExitStatus {
        let id = context.invocation.arguments[0]
        let place = context.invocation.argument(1)
        if let place, JSONPointer(place)?.tokens.isEmpty ?? true {
            throw ProgramError.usage(
                "\(place) is not a JSON Pointer into the state",
                remedy: "tombolo clip stop \(id) /image")
        }
        let path = "/v1/activities/\(PathText.escaped(id))"
        let client = try await RelayClient.connect(context)
        defer { client.close() }
        let view = try await client.view(path, name: id)
        let playing = view.items("clips").filter {
            $0["playing"]?.bool == true && place ?? $0["path"]?.string == $0["path"]?.string
        }
        let clips = playing.compactMap { $0["clip"]?.string }
        guard !clips.isEmpty else {
            throw ProgramError(
                "no clip plays in \(id)" + (place.map { " at \($0)" } ?? ""),
                remedy: "tombolo activity show \(id)", status: .notFoundOrConflict)
        }
        for clip in clips {
            // Address the clip by its name, so that a clip started meanwhile is not stopped.
            let request = RelayRequest.write(
                context, "DELETE", path + "/clips/\(PathText.escaped(clip))")
            try ChangeReport.present(try await client.send(request, name: id), name: id, context)
        }
        return .succeeded
    }

    /// Shows the answer that `play` would get. Stores nothing.
    static func plan(_ context: CommandContext) async throws -> ExitStatus {
        let (id, path, clip) = try clip(context)
        let request = RelayRequest("POST", path + "?dry_run=true", body: clip)
        let answer = try await context.reply(to: request, name: id)
        let root = try answer.document().root
        guard context.printsTable, let plan = root["plan"] else {
            try context.terminal.write(answer.line)
            return .succeeded
        }
        try context.terminal.write(TextTable(of: plan))
        try ReadCommands.showLints(context, root)
        return .succeeded
    }

    private static func clip(
        _ context: CommandContext
    ) throws -> (id: String, path: String, clip: [UInt8]) {
        let id = context.invocation.arguments[0]
        let clip = try StateInput.object(path: context.invocation.arguments[1])
        return (id, "/v1/activities/\(PathText.escaped(id))/clips", clip.bytes)
    }

    /// Packs pictures into a clip. Needs no relay.
    static func pack(_ context: CommandContext) async throws -> ExitStatus {
        let invocation = context.invocation
        let path = invocation.text(.packPath) ?? "/image"
        guard let place = JSONPointer(path), !place.tokens.isEmpty else {
            throw ProgramError.usage(
                "--path \(path) is not a JSON Pointer into the state", remedy: "--path /image")
        }
        guard PNG.isThere else {
            throw ProgramError(
                "this tombolo is built without libpng",
                remedy: "swift build -c release --traits ClipPack; or use the package")
        }
        let pictures = try invocation.arguments.map(picture)
        guard pictures.count >= 2 else {
            throw ProgramError.usage(
                "a flip-book has two frames or more", remedy: "tombolo clip pack a.png b.png")
        }
        if let other = pictures.firstIndex(where: {
            $0.width != pictures[0].width || $0.height != pictures[0].height
        }) {
            throw ProgramError.usage(
                "\(invocation.arguments[other]) is \(pictures[other].width)x"
                    + "\(pictures[other].height), \(invocation.arguments[0]) is "
                    + "\(pictures[0].width)x\(pictures[0].height)",
                remedy: "make all frames the same size")
        }
        let fit = invocation.text(.packFit).flatMap(ClipPacking.Fit.init(rawValue:)) ?? .bundle
        let limit = invocation.integer(.packLimit) ?? 3_400
        guard
            let packing = ClipPacking(
                pictures, fit: fit, limit: limit, colours: invocation.integer(.packColours) ?? 256)
        else {
            throw ProgramError(
                "\(pictures.count) frames cannot be made to fit \(limit) bytes",
                remedy: "give fewer frames, or --fit step: one frame a push")
        }
        context.terminal.complain(
            "\(pictures.count) frames of \(pictures[0].width)x\(pictures[0].height), made "
                + "\(packing.width)x\(packing.height) of \(packing.colours) "
                + "colour\(packing.colours == 1 ? "" : "s"): "
                + "\(ClipPacking.bytes(packing.frames, fit)) of \(limit) bytes\n")
        try context.terminal.write(clip(packing, invocation) + [10])
        return .succeeded
    }

    private static func picture(_ path: String) throws(ProgramError) -> Picture {
        let bytes: [UInt8]
        do {
            bytes = try FileBytes.read(path)
        } catch {
            throw ProgramError(
                "\(path): \(error)", remedy: "ls -l \(path)", status: .notFoundOrConflict)
        }
        guard let size = PNG.size(bytes) else {
            throw .usage("\(path) is not a PNG file", remedy: "file \(path)")
        }
        let most = Bitmap.sideMax
        guard size.width <= most, size.height <= most else {
            throw .usage(
                "\(path) is \(size.width)x\(size.height), more than \(most) by \(most) pixels",
                remedy: "convert \(path) -resize \(most)x\(most) small.png")
        }
        if Picture.isAnimated(png: bytes) {
            throw .usage(
                "\(path) is animated: give each of its pictures as a PNG of its own",
                remedy: "ffmpeg -i \(path) frame-%d.png")
        }
        guard let picture = Picture(png: bytes) else {
            throw .usage("\(path) is a damaged PNG", remedy: "pngcheck \(path)")
        }
        return picture
    }

    private static func clip(_ packing: ClipPacking, _ invocation: Invocation) -> [UInt8] {
        JSON.object { writer in
            writer.object("flipbook") { writer in
                writer.member("path", invocation.text(.packPath) ?? "/image")
                writer.array("frames", of: packing.frames) { $0.string($1) }
                writer.member("every", invocation.text(.packEvery) ?? "100ms")
            }
        }.bytes
    }
}
