/// A device reported its location, with every field as received.
enum FixReported: Fact {
    static let kind = EventKind.fixReported
    static let streams: FactStreams = .track
    static let item: HouseNumber.Kind? = nil
    static let concerns: FactConcerns = [.current, .timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (device: DeviceID, query: QueryID?, fix: Part<Fix>)?
        if case .fixReported(let device, let query, let fix)? = event { given = (device, query, fix) }
        let device = try fact.clear.required(1, "device", given?.device)
        let query = try fact.clear.optional(2, Label("answering", absent: "no query woke it"), given?.query)
        return .fixReported(device: device, answering: query, try fact.part(.track, given?.fix))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited { .nothing }

    // Nine of ten events are fixes, so these two are written by hand: no event is made while one is written.

    static func write(_ event: Event, to fact: inout FactWriter) {
        guard case .fixReported(let device, let query, let part) = event, let fix = part.content else {
            preconditionFailure("An erased part cannot be written.")
        }
        fact.clear.integer(1, device.rawValue)
        fact.clear.identifier(2, query)
        let recordedAt = fact.recordedAt
        fact.add(.track, of: nil) { fix.write(to: &$0, recordedAt: recordedAt) }
    }

    static func read(from fact: inout FactReader) throws(CBORError) -> Event {
        let device = DeviceID(rawValue: try require(try fact.clear.integer(1)))
        let query = try fact.clear.identifier(2)
        switch try fact.nextPart() {
        case .open(let bytes):
            var fields = try FieldReader(bytes)
            let fix = try Fix(from: &fields, recordedAt: fact.recordedAt)
            try fields.end()
            return .fixReported(device: device, answering: query, .open(fix))
        case .erased: return .fixReported(device: device, answering: query, .erased)
        case .keyLost: return .fixReported(device: device, answering: query, .keyLost)
        }
    }
}

extension Fix: SealedContent {
    package static let rule = "fix"

    package static func visit<V: FieldVisitor>(_ given: Fix?, _ fields: inout V) throws(V.Failure) -> Fix {
        try fields.shape(given)
    }
}
