// The changes of the zone and the ranges are stored as flat lists of pairs. Key 1 may be a person's name before them.

extension WeeklyHours: FieldShape {
    package static let forms: [[ShapeField]] = [
        [
            ShapeField(2, .text, "time zone"),
            ShapeField(3, .integer, "its offset before the first change, in seconds, east positive"),
            .optional(4, .shape("[+ int]"), "its changes: moment in seconds, offset from then on, moment, offset …"),
            ShapeField(5, .shape("[+ 0..10080]"), "minutes from Monday 00:00: from, to, from, to …"),
        ]
    ]

    package func write(to fields: inout FieldWriter) {
        fields.text(2, zone.name)
        fields.integer(3, zone.offsetSeconds)
        fields.integers(4, zone.changes.flatMap { [$0.at.milliseconds / 1000, $0.offsetSeconds] })
        fields.integers(5, ranges.flatMap { [$0.lowerBound, $0.upperBound] })
    }

    package static func read(from fields: inout FieldReader) throws(CBORError) -> WeeklyHours? {
        guard let name = try fields.text(2) else { return nil }
        let offset = try require(try fields.integer(3))
        let changes = try pairs(try fields.integers(4)).map {
            ZoneRules.Change(at: Timestamp(milliseconds: $0 &* 1000), offsetSeconds: $1)
        }
        let ranges = try pairs(try fields.integers(5))
        guard ranges.allSatisfy({ $0 < $1 }),
            let zone = ZoneRules(name: name, offsetSeconds: offset, changes: changes),
            let hours = WeeklyHours(ranges: ranges.map { $0..<$1 }, zone: zone)
        else { throw .unexpected }
        return hours
    }

    /// The IANA zone and the weekly text, for example `Mo-Fr 08:00-18:00`.
    package func show(in shown: inout ShownFields) {
        shown.add("timeZone", .text(zone.name))
        shown.add("hours", .text(text))
    }
}

private func pairs(_ flat: [Int64]) throws(CBORError) -> [(Int64, Int64)] {
    guard flat.count % 2 == 0 else { throw .unexpected }
    return stride(from: 0, to: flat.count, by: 2).map { (flat[$0], flat[$0 + 1]) }
}
