import Testing

@testable import Whereabouts

/// The bytes by which two processes know that a read depends on the same.
@Suite struct ReadingMarkTests {
    private static let zone = ZoneRules(name: "Europe/Vienna", offsetSeconds: 3600, changes: [])

    private static func permit(
        grant: Int64 = 7, precision: Precision = .exact, from: Timestamp? = nil, hours: WeeklyHours? = nil,
        asks: Bool = false, pauses: [Pause] = [], subject: Int64 = 2
    ) -> Permit {
        Permit(
            Grant(
                id: GrantID(rawValue: grant), subject: PersonID(rawValue: subject), requester: PersonID(rawValue: 3),
                GrantTerms(
                    precision: precision, includesHistory: true, asksEachTime: asks, from: from, until: nil,
                    hours: hours)),
            pauses: pauses)
    }

    @Test func `each part of a permit changes the mark, and equal permits have equal marks`() throws {
        let time = Timestamp(milliseconds: 5)
        let zone = try #require(Self.zone)
        let hours = try [[60..<120], [60..<121], [60..<120, 240..<300]].map {
            try #require(WeeklyHours(ranges: $0, zone: zone))
        }
        let permits = [
            Self.permit(), Self.permit(grant: 8), Self.permit(precision: .city), Self.permit(from: time),
            Self.permit(from: Timestamp(milliseconds: 6)), Self.permit(hours: hours[0]), Self.permit(hours: hours[1]),
            Self.permit(hours: hours[2]), Self.permit(asks: true), Self.permit(subject: 4),
            Self.permit(pauses: [Pause(from: time, until: nil)]),
            Self.permit(pauses: [Pause(from: time, until: Timestamp(milliseconds: 9))]),
            Permit(subject: PersonID(rawValue: 2), .own), Permit(subject: PersonID(rawValue: 2), .operatorOnRecord),
        ]
        let standing = Standing()
        let marks = permits.map { standing.readingMark($0) }
        #expect(Set(marks).count == permits.count)
        #expect(permits.map { Standing().readingMark($0) } == marks)
        // Each is one item of CBOR.
        for mark in marks {
            let count = mark.withUnsafeBytes { bytes -> Int? in
                var reader = CBORReader(bytes)
                return try? reader.array()
            }
            #expect(count == 10)
        }
    }
}
