import Geodesy

/// The stored fields of a sighting, as in `events.cddl`.
extension Sighting {
    func write(to fields: inout FieldWriter) {
        switch self {
        case .heading(let heading):
            fields.timestamp(1, heading.timestamp)
            fields.double(2, heading.magneticHeading)
            fields.double(3, heading.trueHeading)
            fields.double(4, heading.headingAccuracy)
        case .beacon(let beacon):
            fields.timestamp(1, beacon.timestamp)
            fields.identifier(2, beacon.uuid)
            fields.integer(3, beacon.major)
            fields.integer(4, beacon.minor)
            fields.integer(5, beacon.proximity)
            fields.double(6, beacon.accuracy)
            fields.integer(7, beacon.rssi)
        case .visit(let visit):
            fields.timestamp(1, visit.timestamp)
            fields.degrees(2, visit.coordinate.latitude)
            fields.degrees(3, visit.coordinate.longitude)
            fields.double(4, visit.horizontalAccuracy)
            fields.timestamp(5, visit.arrival)
            fields.timestamp(6, visit.departure)
        case .crossing(let crossing):
            fields.timestamp(1, crossing.timestamp)
            fields.text(2, crossing.region)
            fields.bool(3, crossing.isEntry)
        }
    }

    init(_ kind: Kind, from fields: inout FieldReader) throws(CBORError) {
        let timestamp = try require(try fields.timestamp(1))
        switch kind {
        case .heading:
            self = .heading(
                HeadingReport(
                    timestamp: timestamp, magneticHeading: try require(try fields.double(2)),
                    trueHeading: try fields.double(3), headingAccuracy: try fields.double(4)))
        case .beacon:
            self = .beacon(
                BeaconReport(
                    timestamp: timestamp, uuid: try require(try fields.identifier(2)),
                    major: try require(try fields.integer(3)), minor: try require(try fields.integer(4)),
                    proximity: try require(try fields.integer(5)), accuracy: try fields.double(6),
                    rssi: try require(try fields.integer(7))))
        case .visit:
            self = .visit(
                VisitReport(
                    timestamp: timestamp, coordinate: try fields.coordinate(latitude: 2, longitude: 3),
                    horizontalAccuracy: try fields.double(4),
                    arrival: try fields.timestamp(5), departure: try fields.timestamp(6)))
        case .crossing:
            self = .crossing(
                CrossingReport(
                    timestamp: timestamp, region: try require(try fields.text(2)),
                    isEntry: try require(try fields.bool(3))))
        }
    }

    /// 64 bits that identify a repeat: FNV-1a (draft-eastlake-fnv) over the kind and the stored bytes. A repeat is
    /// searched among the last thousand sightings of a device; two of these agree by chance once in 10¹⁶ sightings.
    package var mark: Int64 {
        var fields = FieldWriter()
        write(to: &fields)
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in [UInt8(truncatingIfNeeded: kind.rawValue)] + fields.finish() {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return Int64(bitPattern: hash)
    }
}
