/// A share link shows nothing any more, also to those who have opened it.
enum LinkEnded: Fact {
    static let kind = EventKind.linkEnded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .link
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LinkID?
        if case .linkEnded(let link)? = event { given = link }
        return .linkEnded(try fact.clear.required(1, "link", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .linkEnded(let link) = recorded.event else { return .nothing }
        return .change(SettingChange(item: link.rawValue, other: link.principal))
    }
}
