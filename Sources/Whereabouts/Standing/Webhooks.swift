extension Standing {
    /// A webhook, which sends a person's feed to a target. The URL and the secret are only in the log.
    package struct Webhook: Hashable, Sendable {
        /// The person whose feed it posts.
        package let person: PersonID
        /// The token whose rights it has.
        package let token: TokenID
        /// The kinds of items that it posts.
        package let topics: FeedTopics
        /// The way in which it delivers messages.
        package internal(set) var terms: NoticeTerms
        /// Everything up to this event was posted or has failed. The first message of an unconfirmed address is the code,
        /// under the number of the webhook.
        package internal(set) var place: Int64
        /// The last item that failed. Items up to it are no longer posted automatically.
        package internal(set) var passed: FeedPlace?
        /// When the code of ``NoticeTerms/codeHash`` ends; `nil` without one.
        package internal(set) var codeUntil: Timestamp?
        /// The messages that were given up and neither accepted later nor discarded, with their items.
        package internal(set) var letters: [DeadLetterID: FeedPlace] = [:]
        /// Whether the target has answered that it wants nothing more.
        package internal(set) var isGone = false
        /// The last test message that was asked for.
        package internal(set) var test: Standing.Test?
        /// The test messages that may still be asked for.
        package internal(set) var tests = Allowance()

        /// A webhook that begins with the event that added it.
        init(
            person: PersonID, token: TokenID, topics: FeedTopics, terms: NoticeTerms, addedBy number: Int64,
            at now: Timestamp
        ) {
            (self.person, self.token, self.topics, self.terms) = (person, token, topics, terms)
            place = terms.codeHash == nil ? number : number - 1
            codeUntil = terms.codeHash.map { _ in now.adding(seconds: Limits.codeSeconds) }
        }

        /// Whether the address is not confirmed yet; until then only the code may be mailed to it.
        package var isUnconfirmed: Bool { terms.codeHash != nil }

        /// How the last test message ended; `nil` without one.
        package var testOutcome: Standing.Test.Outcome? {
            test.map { $0.isGivenUp ? .givenUp : place < $0.number ? .waiting : .delivered }
        }

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

    /// A test message of a webhook.
    package struct Test: Hashable, Sendable {
        /// The event that asked for it, and the item of the message.
        package let number: Int64
        /// When it was asked for.
        package let at: Timestamp
        /// Whether the target accepted none of its tries.
        package internal(set) var isGivenUp = false

        /// The end of a test message.
        package enum Outcome: Sendable, CaseIterable {
            /// It has not been accepted yet.
            case waiting
            /// The target has accepted it.
            case delivered
            /// It is a dead letter, or was one.
            case givenUp

            /// The word in answers.
            package var word: String { String(describing: self) }
        }
    }

    /// The webhooks that are not removed.
    package struct Webhooks: Sendable, Equatable {
        /// By the number of the event that added it.
        package private(set) var all: [WebhookID: Webhook] = [:]

        /// A webhook, changed in place; `nil` once it is removed.
        package subscript(id: WebhookID) -> Webhook? {
            get { all[id] }
            _modify { yield &all[id] }
        }

        /// Those of a person, in the order in which they were added. Cost: a look at each webhook.
        package func of(_ person: PersonID) -> [WebhookID] {
            all.lazy.filter { $0.value.person == person }.map(\.key).sorted()
        }

        mutating func remove(_ id: WebhookID) { all[id] = nil }

        mutating func follow(clockSteppedBackBy milliseconds: Int64) {
            for id in all.keys { all[id]?.tests.follow(clockSteppedBackBy: milliseconds) }
        }

        /// Removes an erased person's webhooks.
        mutating func forget(_ person: PersonID) {
            for webhook in of(person) { all[webhook] = nil }
        }
    }

    /// The silences that webhooks report and that are not recorded yet, by device and length. A webhook without a valid
    /// token reports none.
    ///
    /// Cost: a look at each webhook, and at each device of the persons whose webhooks have the topic.
    package func newSilences(at now: Timestamp) -> [Silence] {
        var found: Set<Silence> = []
        for webhook in webhooks.all.values where webhook.topics.contains(.silence) && !webhook.isUnconfirmed {
            guard let after = webhook.terms.silentAfterSeconds, caller(of: webhook, at: now) != nil else { continue }
            for id in persons[webhook.person]?.devices ?? [] {
                guard let device = devices[id], !device.isRemoved, let since = device.reports.heardAt,
                    since.adding(seconds: after) <= now, !device.reports.silences.contains(after),
                    device.reports.silences.count < Limits.silencesPerDevice
                else { continue }
                found.insert(Silence(device: id, afterSeconds: after, since: since))
            }
        }
        return found.sorted { ($0.device, $0.afterSeconds) < ($1.device, $1.afterSeconds) }
    }

    /// The caller as which a webhook acts, with the rights of its token; `nil` if the token is no longer valid.
    package func caller(of webhook: Webhook, at now: Timestamp) -> Caller? {
        guard let token = tokens[webhook.token] else { return nil }
        let caller = Caller(principal: token.issued.principal, scopes: token.issued.scopes, token: webhook.token)
        return isValid(caller, at: now) ? caller : nil
    }
}

extension Standing.Webhook {
    /// From the event of this number on, the messages are mailed.
    mutating func confirm(by number: Int64) {
        terms = NoticeTerms(kind: terms.kind, silentAfterSeconds: terms.silentAfterSeconds)
        codeUntil = nil
        place = max(place, number)
    }

    mutating func settle(_ settlement: WebhookSettlement) {
        switch settlement {
        case .told(let number): place = max(place, number)
        case .discarded(let letter): letters[letter] = nil
        case .taken(let letter):
            if letters[letter]?.number == test?.number { test?.isGivenUp = false }
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
        if failure.item.number == test?.number { test?.isGivenUp = true }
    }

    /// The event of this number asked for a test message.
    mutating func beginTest(by number: Int64, at now: Timestamp) {
        test = Standing.Test(number: number, at: now)
        tests.take(at: Limits.testsPerWebhook, now: now)
    }
}

// MARK: - Rows

// Of one webhook: 1 person · 2 token · 3 topics · 4 place · 5 letters, three numbers each · 6 gone · 7, 8 passed ·
// 9 kind · 10 seconds of silence · 11, 12 hash and end of the code · 13 to 15 event, time and failure of the last test ·
// 16 allowance of tests
extension Standing.Webhooks {
    var rows: [StandingEntry] {
        all.map { id, webhook in StandingEntry(.webhook, id.rawValue) { webhook.write(to: &$0) } }
    }

    mutating func load(_ id: WebhookID, _ fields: inout FieldReader) throws(CBORError) {
        all[id] = try Standing.Webhook(from: &fields)
    }
}

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
        fields.integer(9, terms.kind?.rawValue)
        fields.integer(10, terms.silentAfterSeconds)
        fields.bytes(11, terms.codeHash?.bytes)
        fields.timestamp(12, codeUntil)
        fields.integer(13, test?.number)
        fields.timestamp(14, test?.at)
        fields.bool(15, test?.isGivenUp == true ? true : nil)
        fields.timestamp(16, tests.fullAt)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        person = PersonID(rawValue: try require(try fields.integer(1)))
        token = TokenID(rawValue: try require(try fields.integer(2)))
        topics = FeedTopics(rawValue: try require(try fields.integer(3)))
        place = try require(try fields.integer(4))
        terms = NoticeTerms()
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
        terms = NoticeTerms(
            kind: try fields.integer(9).map { (number) throws(CBORError) in try require(NoticeKind(rawValue: number)) },
            silentAfterSeconds: try fields.integer(10), codeHash: try fields.hash(11))
        codeUntil = try fields.timestamp(12)
        if let number = try fields.integer(13) {
            test = Standing.Test(
                number: number, at: try require(try fields.timestamp(14)), isGivenUp: try fields.mark(15))
        }
        tests.fullAt = try fields.timestamp(16)
    }
}
