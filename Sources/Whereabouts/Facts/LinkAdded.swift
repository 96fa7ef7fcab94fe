/// A viewer with a secret of this hash sees the location under the grant, until the link ends.
enum LinkAdded: Fact {
    static let kind = EventKind.linkAdded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .link
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: ShareLink?
        if case .linkAdded(let link)? = event { given = link }
        let id = try fact.clear.required(1, "link", given?.id)
        let grant = try fact.clear.required(2, "grant", given?.grant)
        let hash = try fact.clear.required(3, .hidden("hash of the secret and the passphrase"), given?.hash)
        let hasPassphrase = try fact.clear.required(4, "passphrase", given?.hasPassphrase)
        let isLive = try fact.clear.required(5, "live", given?.isLive)
        let openings = try fact.clear.optional(6, Label("openings", absent: "any number"), given?.openingsMax)
        return .linkAdded(
            ShareLink(
                id: id, grant: grant, hash: hash, hasPassphrase: hasPassphrase, isLive: isLive, openingsMax: openings,
                name: try fact.optionalPart(.rest, given?.name)))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .linkAdded(let link) = recorded.event else { return .nothing }
        return .change(SettingChange(item: link.id.rawValue, other: link.id.principal))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? {
        guard case .linkAdded(let link) = recorded.event else { return nil }
        return .link(link.id)
    }
}

extension LinkName: SealedContent {
    package static let rule = "link-name"

    package static func visit<V: FieldVisitor>(_ given: LinkName?, _ fields: inout V) throws(V.Failure) -> LinkName {
        LinkName(try fields.required(1, "name", given?.text))
    }
}
