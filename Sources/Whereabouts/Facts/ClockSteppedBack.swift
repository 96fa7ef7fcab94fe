/// The clock of the service went back by this much before the next event.
enum ClockSteppedBack: Fact {
    static let kind = EventKind.clockSteppedBack
    static let streams: FactStreams = .house
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: Int64?
        if case .clockSteppedBack(let milliseconds)? = event { given = milliseconds }
        return .clockSteppedBack(byMilliseconds: try fact.clear.required(1, "milliseconds", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }
}
