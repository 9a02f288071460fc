extension Core {
    /// Whether an operator holds back everything that goes to a destination.
    func isPaused(_ slot: Int) -> Bool { false }
}
