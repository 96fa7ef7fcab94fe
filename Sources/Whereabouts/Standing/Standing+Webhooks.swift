extension Standing {
    /// A webhook, which posts a person's feed to a target. The URL and the signing secret are only in the log.
    package struct Webhook: Hashable, Sendable {
        /// The person whose feed it posts.
        package let person: PersonID
        /// The token whose rights it has.
        package let token: TokenID
        /// The kinds of items that it posts.
        package let topics: FeedTopics
        /// Everything up to this event was posted or has failed.
        package internal(set) var place: Int64
        /// The last item that failed. Items up to it are no longer posted automatically.
        package internal(set) var passed: FeedPlace?
        /// The messages that were given up and neither accepted later nor discarded, with their items.
        package internal(set) var letters: [DeadLetterID: FeedPlace] = [:]
        /// Whether the target has answered that it wants nothing more.
        package internal(set) var isGone = false

        /// Whether it posts nothing until the person intervenes.
        package var isStopped: Bool { isGone || letters.count >= Limits.deadLettersPerWebhook }

        /// Whether the item has yet to be posted.
        package func isToTell(_ item: FeedPlace) -> Bool { passed.map { $0 < item } ?? true }

        func isOpen(_ settlement: WebhookSettlement) -> Bool {
            switch settlement {
            case .told(let number): place < number
            case .taken(let letter), .discarded(let letter): letters[letter] != nil
            }
        }
    }

    /// In the order in which they were added. Cost: a look at each webhook.
    package func webhooks(of person: PersonID) -> [WebhookID] {
        webhooks.lazy.filter { $0.value.person == person }.map(\.key).sorted()
    }

    /// The caller as which a webhook acts, with the rights of its token; `nil` if the token is no longer valid.
    package func caller(of webhook: Webhook, at now: Timestamp) -> Caller? {
        guard let token = tokens[webhook.token] else { return nil }
        let caller = Caller(principal: token.issued.principal, scopes: token.issued.scopes, token: webhook.token)
        return isValid(caller, at: now) ? caller : nil
    }
}

extension Standing.Webhook {
    mutating func settle(_ settlement: WebhookSettlement) {
        switch settlement {
        case .told(let number): place = max(place, number)
        case .discarded(let letter): letters[letter] = nil
        case .taken(let letter):
            letters[letter] = nil
            isGone = false
        }
    }

    /// The items before the message were posted; the other items of its event follow it.
    mutating func note(_ failure: WebhookFailure, as letter: DeadLetterID) {
        letters[letter] = failure.item
        place = max(place, failure.item.number - 1)
        passed = failure.item
        if failure.status == WebhookFailure.gone { isGone = true }
    }
}

// In the saved standing: 1 person · 2 token · 3 topics · 4 place · 5 letters, three numbers each · 6 gone · 7, 8 passed
extension Standing.Webhook {
    func write(to fields: inout FieldWriter) {
        fields.integer(1, person.rawValue)
        fields.integer(2, token.rawValue)
        fields.integer(3, topics.rawValue)
        fields.integer(4, place)
        fields.integers(
            5,
            letters.sorted { $0.key < $1.key }.flatMap { [$0.key.rawValue, $0.value.number, $0.value.ordinal] })
        fields.bool(6, isGone ? true : nil)
        fields.integer(7, passed?.number)
        fields.integer(8, passed?.ordinal)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        person = PersonID(rawValue: try require(try fields.integer(1)))
        token = TokenID(rawValue: try require(try fields.integer(2)))
        topics = FeedTopics(rawValue: try require(try fields.integer(3)))
        place = try require(try fields.integer(4))
        let numbers = try fields.integers(5)
        guard numbers.count % 3 == 0 else { throw .unexpected }
        for index in stride(from: 0, to: numbers.count, by: 3) {
            letters[DeadLetterID(rawValue: numbers[index])] = FeedPlace(
                number: numbers[index + 1], ordinal: numbers[index + 2])
        }
        isGone = try fields.mark(6)
        if let number = try fields.integer(7) {
            passed = FeedPlace(number: number, ordinal: try require(try fields.integer(8)))
        }
    }
}
