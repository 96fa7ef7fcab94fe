/// The person wants to know entries to and exits from an area.
enum RegionAdded: Fact {
    static let kind = EventKind.regionAdded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .thing
    static let concerns: FactConcerns = [.timeline, .feed]

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (id: RegionID, region: Part<Region>)?
        if case .regionAdded(let id, let region)? = event { given = (id, region) }
        let id = try fact.clear.required(1, "region", given?.id)
        return .regionAdded(id, try fact.part(.rest, given?.region))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .regionAdded(let region, let content) = recorded.event else { return .nothing }
        return .change(SettingChange(item: region.rawValue, name: content.content?.identifier))
    }
}

extension Region: SealedContent {
    package static let rule = "region"

    package static func visit<V: FieldVisitor>(_ given: Region?, _ fields: inout V) throws(V.Failure) -> Region {
        try fields.shape(given)
    }
}
