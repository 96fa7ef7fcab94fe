internal import Whereabouts

/// How many location pushes a device still takes for an app.
///
/// Apple's documentation describes about 360 a day, with one more every few minutes. A device that has used them up
/// leaves the topic for some time. Neither the device nor the sender can read how many are left, and the sender gets no
/// error.
struct PushBudget {
    private var left: Double
    private var asOf: Timestamp
    private var isOnTopic = true

    init(profile: SimulationProfile, at moment: Timestamp) { (left, asOf) = (Double(profile.pushesMax), moment) }

    /// Whether a push that comes now is handed over; it is paid for then.
    mutating func take(at moment: Timestamp, profile: SimulationProfile) -> Bool {
        left = min(left + moment.seconds(since: asOf) / profile.pushRefillSeconds, Double(profile.pushesMax))
        asOf = moment
        if !isOnTopic, left >= Double(profile.pushesToReturn) { isOnTopic = true }
        guard isOnTopic else { return false }
        guard left >= 1 else {
            isOnTopic = false
            return false
        }
        left -= 1
        return true
    }
}
