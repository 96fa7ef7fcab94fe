import Geodesy

extension Event {
    /// The device and the fix by which the log finds a repeat of this event; `nil` for an event that is not looked up, and no
    /// fix if the event does not open.
    ///
    /// A reported visit is found by a stand-in, so that a file with more visits than are remembered for a device can be
    /// imported again.
    package var identified: (device: DeviceID, fix: Fix?)? {
        switch self {
        case .fixReported(let device, _, .open(let fix)): (device, fix)
        case .fixReported(let device, _, _): (device, nil)
        case .sightingReported(let device, .visit, .open(.visit(let visit))): (device, visit.standIn)
        case .sightingReported(let device, .visit, _): (device, nil)
        // Every other kind is known to be new by the standing.
        default: nil
        }
    }
}

extension VisitReport {
    /// A fix that no device can report, because it is before 1970, with every member of the visit.
    var standIn: Fix {
        var fix = Fix(
            timestamp: Timestamp(milliseconds: -(arrival ?? timestamp).milliseconds), coordinate: coordinate,
            horizontalAccuracy: horizontalAccuracy)
        fix.altitude = Double(timestamp.milliseconds)
        fix.floor = departure?.milliseconds
        fix.isProducedByAccessory = arrival != nil
        return fix
    }
}
