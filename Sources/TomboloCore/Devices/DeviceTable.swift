/// All devices by their places, and beside them what pacing asks with each look: small, where a
/// device is large.
struct DeviceTable: RandomAccessCollection, MutableCollection, Sendable {
    /// What a device is to pacing.
    struct Traits: Sendable {
        /// False where there is none any more.
        var isThere = false
        var isChannel = false
        /// It said something of its app.
        var isHeard = false
        var hasOwnClass = false
        var mayBeFrequent = false
        var budgetClass = BudgetClass.standard

        init(_ device: Device?) {
            guard let device else { return }
            isThere = true
            isChannel = device.channel != nil
            isHeard = device.heard != nil
            hasOwnClass = device.common.budgetClass != nil
            mayBeFrequent = device.common.frequentUpdates ?? false
            budgetClass = device.budgetClass
        }
    }

    private var devices: [Device?] = []
    /// Places that nothing refers to any more.
    private var free: [Int] = []
    private var all: [Traits] = []
    /// What the activities of each have spent together.
    var budgets: [DeviceBudget] = []

    init() {}

    var startIndex: Int { 0 }
    var endIndex: Int { devices.count }

    subscript(place: Int) -> Device? {
        _read { yield devices[place] }
        _modify {
            yield &devices[place]
            all[place] = Traits(devices[place])
        }
    }

    /// Follows every change of the device.
    func traits(_ place: Int) -> Traits { all[place] }

    /// Answers its place.
    mutating func insert(_ device: Device) -> Int {
        if let place = free.popLast() {
            self[place] = device
            budgets[place] = DeviceBudget()
            return place
        }
        devices.append(device)
        all.append(Traits(device))
        budgets.append(DeviceBudget())
        return devices.count - 1
    }

    /// Frees its place, for another device.
    mutating func remove(_ place: Int) {
        guard devices[place] != nil else { return }
        self[place] = nil
        free.append(place)
    }
}
