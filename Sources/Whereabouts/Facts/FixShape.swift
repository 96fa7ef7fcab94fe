import Geodesy

// The fields of a fix, written and read by hand: nine of ten events are fixes. An event stores the time of a fix as its
// age at the recording, and a number with at most two decimals as its hundredths, which saves some five bytes each. Other
// files have no time of recording: they have the form that events had before.

extension Fix: FieldShape {
    package static let forms: [[ShapeField]] = [
        [
            .optional(
                0, .integer,
                "age, milliseconds: the event's recorded_at_ms less the timestamp; absent: field 1 has the timestamp"),
            .optional(1, .moment, "timestamp, the device's own; absent: field 0 has the age"),
            ShapeField(2, .latitude, "latitude"),
            ShapeField(3, .longitude, "longitude"),
            .optional(4, .decimal, "horizontal accuracy, meters; negative: the coordinate is invalid"),
            .optional(5, .decimal, "altitude above mean sea level, meters"),
            .optional(6, .decimal, "altitude above the ellipsoid, meters"),
            .optional(7, .decimal, "vertical accuracy, meters"),
            .optional(8, .integer, "floor"),
            .optional(9, .decimal, "speed, meters a second"),
            .optional(10, .decimal, "speed accuracy"),
            .optional(11, .decimal, "course, degrees clockwise from true north"),
            .optional(12, .decimal, "course accuracy"),
            .optional(13, .bool, "simulated by software"),
            .optional(14, .bool, "produced by an accessory"),
            .optional(15, .decimal, "battery, 0 to 1"),
            .optional(16, .text, "the client's name for it"),
            .optional(17, .moment, "received by the service of origin; absent: not imported"),
            .optional(18, .text, "other members the client sent, a JSON object"),
        ]
    ]

    package func write(to fields: inout FieldWriter) { write(to: &fields, recordedAt: nil) }

    /// Writes the fields in the form of events.
    ///
    /// - Parameter recordedAt: The time of recording; `nil` for the form without one.
    func write(to fields: inout FieldWriter, recordedAt: Timestamp?) {
        fields.numbers(atMost: 15) { fields in
            fields.usesHundredths = recordedAt != nil
            if let age = recordedAt.flatMap({ age(at: $0) }) {
                fields.integer(0, age)
            } else {
                fields.timestamp(1, timestamp)
            }
            fields.degrees(2, coordinate.latitude)
            fields.degrees(3, coordinate.longitude)
            fields.double(4, horizontalAccuracy)
            writeDetails(to: &fields)
        }
        fields.text(16, clientID)
        fields.timestamp(17, receivedAt)
        fields.text(18, remainder)
    }

    /// The age in milliseconds, if it takes less room than the timestamp.
    private func age(at recordedAt: Timestamp) -> Int64? {
        let (age, overflow) = recordedAt.milliseconds.subtractingReportingOverflow(timestamp.milliseconds)
        return overflow || age.magnitude > UInt64(UInt32.max) ? nil : age
    }

    /// Reads the fields.
    ///
    /// - Parameter recordedAt: The time of recording; `nil` for the form without one.
    init(from fields: inout FieldReader, recordedAt: Timestamp? = nil) throws(CBORError) {
        fields.readsHundredths = recordedAt != nil
        let timestamp: Timestamp
        if let recordedAt, let age = try fields.integer(0) {
            let (milliseconds, overflow) = recordedAt.milliseconds.subtractingReportingOverflow(age)
            guard !overflow else { throw .unexpected }
            timestamp = Timestamp(milliseconds: milliseconds)
        } else {
            timestamp = try require(try fields.timestamp(1))
        }
        let coordinate = try fields.coordinate(latitude: 2, longitude: 3)
        try self.init(timestamp, coordinate, try fields.double(4), from: &fields, isWhole: true)
    }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> Fix? { try Fix(from: &fields) }

    package func show(in shown: inout ShownFields) { shown.add("fix", .fix(self)) }
}
