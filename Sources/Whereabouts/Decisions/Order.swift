/// A command together with the type of its reply, for callers who use what the command made.
///
/// For example, `Order.giveGrant(subject:requester:_:)` is the command `Command.giveGrant` whose reply is a ``GrantID``.
/// A caller who ignores the reply appends the command itself.
package struct Order<Reply: Sendable>: Sendable {
    /// The command that the writer decides.
    package let command: Command
    /// The reply in the form that the standing keeps for a repeated request; `nil` if it is of another type.
    private let reading: @Sendable (CommandReply) -> Reply?

    fileprivate init(_ command: Command, _ reading: @escaping @Sendable (CommandReply) -> Reply?) {
        (self.command, self.reading) = (command, reading)
    }

    /// The command's own reply; `nil` for the reply of another command, or of none, such as the ``CommandReply/done``
    /// that is kept of a repeated report.
    package func read(_ reply: CommandReply) -> Reply? { reading(reply) }
}

// One factory for each command whose reply is used. The tests append each and read its reply.

extension Order where Reply == GrantID {
    /// ``Command/giveGrant(subject:requester:_:)``
    package static func giveGrant(subject: Handle, requester: Handle, _ terms: GrantTerms) -> Order {
        Order(.giveGrant(subject: subject, requester: requester, terms)) { $0.grant }
    }

    /// ``Command/redeemInvitation(_:)``
    package static func redeemInvitation(_ hash: Hash256) -> Order { Order(.redeemInvitation(hash)) { $0.grant } }
}

extension Order where Reply == LinkID {
    /// ``Command/addLink(of:_:_:)``
    package static func addLink(of person: Handle, _ terms: GrantTerms, _ request: LinkRequest) -> Order {
        Order(.addLink(of: person, terms, request)) { if case .link(let id) = $0 { id } else { nil } }
    }
}

extension Order where Reply == TokenID {
    /// ``Command/issueToken(for:scopes:hash:until:)``
    package static func issueToken(
        for holder: TokenHolder, scopes: Scopes, hash: Hash256, until: Timestamp?
    ) -> Order {
        Order(.issueToken(for: holder, scopes: scopes, hash: hash, until: until)) { $0.token }
    }

    /// ``Command/openAccount(_:as:key:among:)``, whose reply is the new person's first token.
    package static func openAccount(
        _ hash: Hash256, as handle: Handle, key: Hash256, among shards: [ShardNumber] = []
    ) -> Order {
        Order(.openAccount(hash, as: handle, key: key, among: shards)) { $0.token }
    }

    /// ``Command/openSession(from:hash:)``
    package static func openSession(from: Hash256, hash: Hash256) -> Order {
        Order(.openSession(from: from, hash: hash)) { $0.token }
    }

    /// ``Command/openLink(_:token:isSession:)``
    package static func openLink(_ hash: Hash256, token: Hash256, isSession: Bool) -> Order {
        Order(.openLink(hash, token: token, isSession: isSession)) { $0.token }
    }
}

extension Order where Reply == InvitationID {
    /// ``Command/invite(subject:_:hash:expires:)``
    package static func invite(subject: Handle, _ terms: GrantTerms, hash: Hash256, expires: Timestamp) -> Order {
        Order(.invite(subject: subject, terms, hash: hash, expires: expires)) {
            if case .invitation(let id) = $0 { id } else { nil }
        }
    }
}

extension Order where Reply == AccountInvitationID {
    /// ``Command/inviteToAccount(by:hash:expires:)``
    package static func inviteToAccount(by person: Handle?, hash: Hash256, expires: Timestamp) -> Order {
        Order(.inviteToAccount(by: person, hash: hash, expires: expires)) {
            if case .accountInvitation(let id) = $0 { id } else { nil }
        }
    }
}

extension Order where Reply == ScheduleID {
    /// ``Command/setSchedule(of:everySeconds:until:)``
    package static func setSchedule(of person: Handle, everySeconds: Int64, until: Timestamp?) -> Order {
        Order(.setSchedule(of: person, everySeconds: everySeconds, until: until)) {
            if case .schedule(let id) = $0 { id } else { nil }
        }
    }
}

extension Order where Reply == WebhookID {
    /// ``Command/addWebhook(of:_:_:_:ownToken:)``
    package static func addWebhook(
        of person: Handle, _ target: WebhookTarget, _ topics: FeedTopics, _ terms: NoticeTerms,
        ownToken: Hash256? = nil
    ) -> Order {
        Order(.addWebhook(of: person, target, topics, terms, ownToken: ownToken)) {
            if case .webhook(let id) = $0 { id } else { nil }
        }
    }
}

extension Order where Reply == CorrectionID {
    /// ``Command/correct(_:of:)``
    package static func correct(_ correction: Correction, of person: Handle) -> Order {
        Order(.correct(correction, of: person)) { if case .correction(let id) = $0 { id } else { nil } }
    }
}

extension Order where Reply == [FixOutcome] {
    /// ``Command/reportFixes(device:_:)``, with one outcome for each report.
    package static func reportFixes(device: DeviceReference, _ reports: [DeviceReport]) -> Order {
        Order(.reportFixes(device: device, reports)) { if case .fixes(let outcomes) = $0 { outcomes } else { nil } }
    }

    /// ``Command/reportEnvelopes(_:)``, with one outcome for each envelope and refusal.
    package static func reportEnvelopes(_ reports: [EnvelopeReport]) -> Order {
        Order(.reportEnvelopes(reports)) { if case .fixes(let outcomes) = $0 { outcomes } else { nil } }
    }
}

extension Order where Reply == ImportID {
    /// ``Command/beginImport(_:of:)``
    package static func beginImport(_ file: ImportReference, of person: Handle) -> Order {
        Order(.beginImport(file, of: person)) { if case .importing(let id) = $0 { id } else { nil } }
    }
}

extension Order where Reply == ImportOutcome {
    /// ``Command/importFixes(of:device:_:in:)``
    package static func importFixes(
        of person: Handle, device: Handle, _ reports: [DeviceReport], in file: ImportReference
    ) -> Order {
        Order(.importFixes(of: person, device: device, reports, in: file)) {
            if case .imported(let outcome) = $0 { outcome } else { nil }
        }
    }
}

extension Order where Reply == [PushOrder] {
    /// ``Command/startPushes(_:to:)``
    package static func startPushes(_ query: QueryID, to devices: [DeviceID]) -> Order {
        Order(.startPushes(query, to: devices)) { $0.pushes }
    }

    /// ``Command/testPush(_:to:)``, with one order.
    package static func testPush(_ id: QueryID, to device: Handle) -> Order {
        Order(.testPush(id, to: device)) { $0.pushes }
    }
}

extension CommandReply {
    // The replies of several commands.
    fileprivate var grant: GrantID? { if case .grant(let id) = self { id } else { nil } }
    fileprivate var token: TokenID? { if case .token(let id) = self { id } else { nil } }
    fileprivate var pushes: [PushOrder]? { if case .pushes(let orders) = self { orders } else { nil } }
}
