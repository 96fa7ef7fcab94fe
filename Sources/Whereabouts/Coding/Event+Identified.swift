import Geodesy

extension Event {
    /// The device and the fix by which the log finds a repeat of this event; `nil` for an event that is not looked up, and no
    /// fix if the event does not open.
    ///
    /// An envelope and a reported visit are found by a stand-in: an envelope, so that a phone can send it again; a visit, so that a file with more visits than are remembered for a device can be
    /// imported again.
    package var identified: (device: DeviceID, fix: Fix?)? {
        if case .fixReported(let device, _, let part) = self {
            if case .open(let fix) = part { return (device, fix) }
            return (device, nil)
        }
        if case .sealedFixReported(let device, _, let part) = self {
            return (device, part.content?.standIn)
        }
        if case .sightingReported(let device, .visit, let part) = self {
            if case .open(.visit(let visit)) = part { return (device, visit.standIn) }
            return (device, nil)
        }
        return nil
    }
}

extension SealedFix {
    /// A fix that no device can report, because it is before 1970, made of the identity. It is further back than the stand-in
    /// of any visit.
    var standIn: Fix? {
        // 44 bits as a time from about the year 6000 BC backwards, 52 as a latitude, 32 as a longitude. Both are exact.
        let time = Int64(identity.high >> 20)
        let north = identity.high << 32 | identity.low >> 32
        let latitude = Double(north & 0xF_FFFF_FFFF_FFFF) / 0x10_0000_0000_0000 * 64
        let longitude = Double(identity.low & 0xFFFF_FFFF) / 0x1_0000_0000 * 128
        guard let coordinate = try? Coordinate(latitude: latitude, longitude: longitude) else { return nil }
        return Fix(timestamp: Timestamp(milliseconds: Self.standInBefore - time), coordinate: coordinate)
    }

    /// Earlier than the negative of any time that a visit can have.
    private static let standInBefore: Int64 = -253_402_300_800_000
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
