extension [Destination?] {
    /// A destination where it stands, for whoever asks for a part of it: taken out of its optional
    /// all of it would be copied, with a count for each of its references. Only of a slot that is
    /// taken.
    subscript(lent slot: Int) -> Destination {
        unsafeAddress {
            precondition(self[slot] != nil, "there is no such destination")
            // An optional that is there begins with what is in it.
            return withUnsafeBufferPointer { all in
                UnsafeRawPointer(all.baseAddress.unsafelyUnwrapped + slot)
                    .assumingMemoryBound(to: Destination.self)
            }
        }
    }

    /// Whether a slot is taken.
    func holds(_ slot: Int) -> Bool { slot < count && self[slot] != nil }
}
