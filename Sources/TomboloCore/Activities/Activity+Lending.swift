extension [Activity] {
    /// An activity where it stands, for whoever looks at it: a copy costs a count for each of its
    /// references. Only of a slot that is taken, and only as long as nobody changes it.
    subscript(lent slot: Int) -> Activity {
        unsafeAddress {
            precondition(indices.contains(slot), "there is no such activity")
            return withUnsafeBufferPointer { all in
                all.baseAddress.unsafelyUnwrapped + slot
            }
        }
    }
}
