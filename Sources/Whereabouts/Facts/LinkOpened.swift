/// A viewer opened a share link. The viewer's reads are recorded separately.
enum LinkOpened: Fact {
    static let kind = EventKind.linkOpened
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .link
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: LinkID?
        if case .linkOpened(let link)? = event { given = link }
        return .linkOpened(try fact.clear.required(1, "link", given))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .linkOpened(let link) = recorded.event else { return .nothing }
        return .change(SettingChange(item: link.rawValue, other: link.principal))
    }
}
