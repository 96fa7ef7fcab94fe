package import Geodesy

/// The fields of a fix other than time, coordinate and accuracy, as projections store them: the CBOR map of an event's
/// fix without those fields, the client's name for the fix and the time of receipt.
package enum FixDetails {
    /// `nil` if the fix has none of these fields. Equal contents give equal bytes.
    package static func encode(_ fix: Fix) -> [UInt8]? {
        guard
            fix.altitude != nil || fix.ellipsoidalAltitude != nil || fix.verticalAccuracy != nil || fix.floor != nil
                || fix.speed != nil || fix.speedAccuracy != nil || fix.course != nil || fix.courseAccuracy != nil
                || fix.isSimulatedBySoftware != nil || fix.isProducedByAccessory != nil || fix.batteryLevel != nil
                || fix.remainder != nil
        else { return nil }
        guard let remainder = fix.remainder else {
            return NumberFields.map(atMost: 11) { fix.writeDetails(to: &$0) }
        }
        var fields = FieldWriter(capacity: 192 + remainder.utf8.count)
        fields.numbers(atMost: 11) { fix.writeDetails(to: &$0) }
        fields.text(18, remainder)
        return fields.finish()
    }

    /// The fix of these fields and those that projections store beside them.
    package static func fix(
        _ timestamp: Timestamp, _ coordinate: Coordinate, _ horizontalAccuracy: Double?,
        details bytes: UnsafeRawBufferPointer
    ) throws(CBORError) -> Fix {
        var fields = try FieldReader(bytes)
        let fix = try Fix(timestamp, coordinate, horizontalAccuracy, from: &fields, isWhole: false)
        try fields.end()
        return fix
    }

    /// Degrees as a whole number of 10⁻⁷ degrees, if they are exactly that: half the bytes of a float. The same rule as
    /// in events, except that −0 becomes 0.
    package static func wholeDegrees(_ degrees: Double) -> Int64? {
        let scaled = (degrees * 1e7).rounded()
        guard let whole = Int64(exactly: scaled), Double(whole) / 1e7 == degrees else { return nil }
        return whole
    }

    /// The exact inverse of ``wholeDegrees(_:)``.
    package static func degrees(whole: Int64) -> Double { Double(whole) / 1e7 }
}

extension Fix {
    /// Fields 5 to 15 of a fix, the same in events and projections.
    func writeDetails(to fields: inout NumberFields) {
        fields.double(5, altitude)
        fields.double(6, ellipsoidalAltitude)
        fields.double(7, verticalAccuracy)
        fields.integer(8, floor)
        fields.double(9, speed)
        fields.double(10, speedAccuracy)
        fields.double(11, course)
        fields.double(12, courseAccuracy)
        fields.bool(13, isSimulatedBySoftware)
        fields.bool(14, isProducedByAccessory)
        fields.double(15, batteryLevel)
    }

    /// Reads fields 5 to 18, if the fix is whole, or those of ``FixDetails``.
    init(
        _ timestamp: Timestamp, _ coordinate: Coordinate, _ horizontalAccuracy: Double?,
        from fields: inout FieldReader, isWhole: Bool
    ) throws(CBORError) {
        // A fix whose properties are set one by one would be copied.
        let altitude = try fields.double(5)
        let ellipsoidalAltitude = try fields.double(6)
        let verticalAccuracy = try fields.double(7)
        let floor = try fields.integer(8)
        let speed = try fields.double(9)
        let speedAccuracy = try fields.double(10)
        let course = try fields.double(11)
        let courseAccuracy = try fields.double(12)
        let isSimulatedBySoftware = try fields.bool(13)
        let isProducedByAccessory = try fields.bool(14)
        let batteryLevel = try fields.double(15)
        let clientID = isWhole ? try fields.text(16) : nil
        let receivedAt = isWhole ? try fields.timestamp(17) : nil
        let remainder = try fields.text(18)
        self.init(
            timestamp: timestamp, coordinate: coordinate, horizontalAccuracy: horizontalAccuracy, altitude: altitude,
            ellipsoidalAltitude: ellipsoidalAltitude, verticalAccuracy: verticalAccuracy, floor: floor, speed: speed,
            speedAccuracy: speedAccuracy, course: course, courseAccuracy: courseAccuracy,
            isSimulatedBySoftware: isSimulatedBySoftware, isProducedByAccessory: isProducedByAccessory,
            batteryLevel: batteryLevel, clientID: clientID, receivedAt: receivedAt, remainder: remainder)
    }
}
