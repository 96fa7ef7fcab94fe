import Geodesy

extension Event {
    /// The device and the fix by which the log finds a repeat of this event; `nil` for an event that is not looked up, and no
    /// fix if the event does not open.
    ///
    /// A reported visit is found by a stand-in, so that a file with more visits than are remembered for a device can be
    /// imported again.
    package var identified: (device: DeviceID, fix: Fix?)? {
        if case .fixReported(let device, _, let part) = self {
            if case .open(let fix) = part { return (device, fix) }
            return (device, nil)
        }
        if case .sightingReported(let device, .visit, let part) = self {
            if case .open(.visit(let visit)) = part { return (device, visit.standIn) }
            return (device, nil)
        }
        return nil
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
