/// The service hands the person's feed to a target.
enum WebhookAdded: Fact {
    static let kind = EventKind.webhookAdded
    static let streams: FactStreams = .audit
    static let item: HouseNumber.Kind? = .webhook
    static let concerns: FactConcerns = []

    static func visit<V: FactVisitor>(_ event: Event?, _ fact: inout V) throws(V.Failure) -> Event {
        var given: (token: TokenID, topics: FeedTopics, terms: NoticeTerms, target: Part<WebhookTarget>)?
        if case .webhookAdded(let token, let topics, let terms, let target)? = event {
            given = (token, topics, terms, target)
        }
        let token = try fact.clear.required(1, "token", given?.token)
        let topics = try fact.clear.required(2, "topics", given?.topics)
        let kind = try fact.clear.optional(3, Label("kind", absent: "signed JSON"), given?.terms.kind)
        let silentAfter = try fact.clear.optional(
            4, Label("silentAfter", note: "seconds", absent: "no topic silence"), given?.terms.silentAfterSeconds)
        let codeHash = try fact.clear.optional(
            5, .hidden("hash of the code that confirms the address", absent: "no code"), given?.terms.codeHash)
        let terms = NoticeTerms(kind: kind, silentAfterSeconds: silentAfter, codeHash: codeHash)
        return .webhookAdded(token: token, topics, terms, try fact.part(.rest, given?.target))
    }

    static func audited(_ recorded: RecordedEvent) -> Audited {
        guard case .webhookAdded(_, _, _, let target) = recorded.event else { return .nothing }
        return .change(SettingChange(item: recorded.number, name: target.content?.origin))
    }

    static func reply(to recorded: RecordedEvent) -> CommandReply? { .webhook(WebhookID(rawValue: recorded.number)) }
}

extension WebhookTarget: SealedContent {
    package static let rule = "webhook-target"

    package static func visit<V: FieldVisitor>(_ given: Self?, _ fields: inout V) throws(V.Failure) -> Self {
        let url = try fields.required(1, .hidden("URL"), given?.url)
        let secret = try fields.required(2, .hidden("key of the signatures, or access token"), given?.secret)
        let priority = try fields.optional(3, .hidden("priority", absent: "that of the topic"), given?.priority)
        let isDetailed = try fields.mark(4, .hidden("detail in the title"), given?.showsDetailInTitle)
        let language = try fields.optional(
            5, .hidden("language of its texts", absent: "English, times in UTC"), given?.wording?.language)
        let zone = try fields.optional(6, .hidden("time zone", absent: "the zone of the place"), given?.wording?.zone)
        return Self(
            url: url, secret: secret, priority: priority, showsDetailInTitle: isDetailed,
            wording: language.map { NoticeWording(language: $0, zone: zone) })
    }

    /// The rest of the URL may hold a secret of the receiver.
    package func show(in shown: inout ShownFields) { shown.add("target", .text(origin)) }
}

extension NoticeWording.Language: WordValue {
    package static let form = FieldForm.words("notice-language", NoticeWording.Language.self)
}
extension NoticeKind: WordValue { package static let form = FieldForm.words("notice-kind", NoticeKind.self) }
