import Geodesy

// The fields of a fix, written and read by hand: nine of ten events are fixes.

extension Fix: FieldShape {
    package static let forms: [[ShapeField]] = [
        [
            ShapeField(1, .moment, "timestamp, the device's own"),
            ShapeField(2, .latitude, "latitude"),
            ShapeField(3, .longitude, "longitude"),
            .optional(4, .real, "horizontal accuracy, meters; negative: the coordinate is invalid"),
            .optional(5, .real, "altitude above mean sea level, meters"),
            .optional(6, .real, "altitude above the ellipsoid, meters"),
            .optional(7, .real, "vertical accuracy, meters"),
            .optional(8, .integer, "floor"),
            .optional(9, .real, "speed, meters a second"),
            .optional(10, .real, "speed accuracy"),
            .optional(11, .real, "course, degrees clockwise from true north"),
            .optional(12, .real, "course accuracy"),
            .optional(13, .bool, "simulated by software"),
            .optional(14, .bool, "produced by an accessory"),
            .optional(15, .real, "battery, 0 to 1"),
            .optional(16, .text, "the client's name for it"),
            .optional(17, .moment, "received by the service of origin; absent: not imported"),
            .optional(18, .text, "other members the client sent, a JSON object"),
        ]
    ]

    package func write(to fields: inout FieldWriter) {
        fields.numbers(atMost: 15) { fields in
            fields.timestamp(1, timestamp)
            fields.degrees(2, coordinate.latitude)
            fields.degrees(3, coordinate.longitude)
            fields.double(4, horizontalAccuracy)
            writeDetails(to: &fields)
        }
        fields.text(16, clientID)
        fields.timestamp(17, receivedAt)
        fields.text(18, remainder)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        let timestamp = try require(try fields.timestamp(1))
        let coordinate = try fields.coordinate(latitude: 2, longitude: 3)
        try self.init(timestamp, coordinate, try fields.double(4), from: &fields, isWhole: true)
    }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> Fix? { try Fix(from: &fields) }

    package func show(in shown: inout ShownFields) { shown.add("fix", .fix(self)) }
}
