import Geodesy

/// The person corrects their visits, names a place, or says that two places are one.
enum CorrectionMade: Fact {
    static let kind = EventKind.correctionMade
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .correction
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Part<Correction>?
        if case .correctionMade(let correction)? = event { given = correction }
        return .correctionMade(try fact.part(.rest, given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .correctionMade(let correction) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: correction.content?.kind.word))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        .correction(CorrectionID(rawValue: recorded.number))
    }
}

extension Correction: SealedContent {
    package static let rule = "correction"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let kind = try fields.choice(1, "type", given?.kind)
        switch kind {
        case .merge, .notVisit:
            let from = try fields.required(2, "from", given?.time?.lowerBound)
            let to = try fields.required(3, Label("to", note: "not included"), given?.time?.upperBound)
            let time = try fields.whole(from < to ? from..<to : nil)
            return kind == .merge ? .merge(time) : .notVisit(time)
        case .split: return .split(at: try fields.required(2, "at", given?.splitAt))
        case .rename:
            let coordinate = try coordinate(4, "latitude", 5, "longitude", given?.place, &fields)
            return .rename(coordinate, try fields.required(6, "name", given?.name))
        case .samePlace:
            let first = try coordinate(4, "latitude", 5, "longitude", given?.place, &fields)
            let other = try coordinate(7, "otherLatitude", 8, "otherLongitude", given?.other, &fields)
            return .samePlace(first, with: other)
        }
    }

    private static func coordinate<V: FieldVisitor>(
        _ first: Int64, _ latitudeName: String, _ second: Int64, _ longitudeName: String, _ given: Coordinate?,
        _ fields: inout V
    ) throws(V.Failure) -> Coordinate {
        let latitude = try fields.required(first, Label(latitudeName), given.map { Degrees($0.latitude) })
        let longitude = try fields.required(
            second, Label(longitudeName, .longitude), given.map { Degrees($0.longitude) })
        return try fields.whole(try? Coordinate(latitude: latitude.value, longitude: longitude.value))
    }

    package func show(in shown: inout ShownFields) { shown.add("correction", .correction(self)) }

    private var time: Range<Timestamp>? {
        switch self {
        case .merge(let time), .notVisit(let time): time
        case .split, .rename, .samePlace: nil
        }
    }

    private var splitAt: Timestamp? { if case .split(let moment) = self { moment } else { nil } }
    private var place: Coordinate? {
        switch self {
        case .rename(let coordinate, _), .samePlace(let coordinate, _): coordinate
        case .merge, .split, .notVisit: nil
        }
    }
    private var other: Coordinate? { if case .samePlace(_, let other) = self { other } else { nil } }
    private var name: String? { if case .rename(_, let name) = self { name } else { nil } }
}
