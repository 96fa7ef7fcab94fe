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
        var fields = FieldWriter(capacity: 48)
        fix.writeDetails(to: &fields)
        fields.text(18, fix.remainder)
        return fields.finish()
    }

    /// Adds the fields of ``encode(_:)`` to `fix`.
    package static func decode(_ bytes: UnsafeRawBufferPointer, into fix: inout Fix) throws(CBORError) {
        var fields = try FieldReader(bytes)
        try fix.readDetails(from: &fields)
        fix.remainder = try fields.text(18)
        try fields.end()
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
    func writeDetails(to fields: inout FieldWriter) {
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

    mutating func readDetails(from fields: inout FieldReader) throws(CBORError) {
        altitude = try fields.double(5)
        ellipsoidalAltitude = try fields.double(6)
        verticalAccuracy = try fields.double(7)
        floor = try fields.integer(8)
        speed = try fields.double(9)
        speedAccuracy = try fields.double(10)
        course = try fields.double(11)
        courseAccuracy = try fields.double(12)
        isSimulatedBySoftware = try fields.bool(13)
        isProducedByAccessory = try fields.bool(14)
        batteryLevel = try fields.double(15)
    }
}
