import Geodesy

/// The person corrects their visits, or names a place.
enum CorrectionMade: Fact {
    static let kind = EventKind.correctionMade
    static let streams: FactStreams = .audit
    static let item = ChangedItem.correction
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
            let latitude = try fields.required(4, "latitude", given?.place.map { Degrees($0.latitude) })
            let longitude = try fields.required(
                5, Label("longitude", .longitude), given?.place.map { Degrees($0.longitude) })
            let coordinate = try fields.whole(
                try? Coordinate(latitude: latitude.value, longitude: longitude.value))
            return .rename(coordinate, try fields.required(6, "name", given?.name))
        }
    }

    package func show(in shown: inout ShownFields) { shown.add("correction", .correction(self)) }

    private var time: Range<Timestamp>? {
        switch self {
        case .merge(let time), .notVisit(let time): time
        case .split, .rename: nil
        }
    }

    private var splitAt: Timestamp? { if case .split(let moment) = self { moment } else { nil } }
    private var place: Coordinate? { if case .rename(let coordinate, _) = self { coordinate } else { nil } }
    private var name: String? { if case .rename(_, let name) = self { name } else { nil } }
}
