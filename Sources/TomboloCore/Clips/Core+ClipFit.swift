// How a clip's frames become pushes (pacing rule 10).

extension Core {
    /// How a clip's frames become pushes: as its producer said, else as its type's app can.
    func fit(_ clip: Clip, _ projection: Projection, _ activity: Activity) -> Clip.Fit {
        guard clip.fit == .auto else { return clip.fit }
        guard let type = type(of: activity.definition, activity.key.tenant) else { return .step }
        switch clip.motion {
        case .tween: return type.animates ? .keyframes : .step
        case .flipbook:
            guard type.plays,
                let bytes = bundleBytes(clip, projection, activity.definition)
            else { return .step }
            return bytes <= Payload.bytesMax ? .bundle : .step
        }
    }

    /// What a clip will cost and show at the slowest destination.
    func plan(
        _ clip: Clip, payloadBytes: Int, _ projection: Projection, _ activity: Activity,
        _ grant: GrantInForce
    ) -> ClipPlan {
        let fit = fit(clip, projection, activity)
        let bundle = fit == .bundle ? bundleBytes(clip, projection, activity.definition) : nil
        return ClipPlan(
            clip, fit: fit, grant, intervalMax: configuration.limits.frameIntervalMax,
            payloadBytes: bundle ?? payloadBytes)
    }
}
