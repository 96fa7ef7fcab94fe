/// The log's place is another one from here on. Its events, their leaves and the epoch are the same.
enum LogMoved: Fact {
    static let kind = EventKind.logMoved
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LogPlace?
        if case .logMoved(let place)? = event { given = place }
        return .logMoved(try fact.clear.required(1, "place", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        .act("moveLog", projection: nil, version: nil, epoch: nil)
    }
}

extension LogPlace: WordValue {
    package static let form = FieldForm.words("log-place", LogPlace.self)
}
