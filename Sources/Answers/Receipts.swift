import Cryptography
package import HTTPServer
package import Log
package import Transparency
package import Whereabouts

/// The signed promises that go with answers about people: the answer has an entry in the person's own log. An asker who
/// keeps them can show later that the service answered without recording it.
///
/// A promise is an `AskerReceipt` in base 64, in one header:
///
///     Whereabouts-Receipt: d2hlcmVhYm91dHMgcmVjZWlwdCB2MQpsb2cg…
///
/// Streams have no receipts. Neither have the places of friends in answers to devices.
///
/// Cost: a signature and an entry (``PersonLogs``), about 20 µs each.
package struct Receipts: Sendable {
    /// The header of a promise.
    package static let header = "Whereabouts-Receipt"

    /// The log whose entries are promised.
    package let decisions: Decisions
    /// Signs the promises as the house.
    package let seal: HouseSeal
    /// Where promises are signed that the log's thread has the news of.
    package let answers: AnswerPool

    package init(decisions: Decisions, seal: HouseSeal, answers: AnswerPool) {
        self.decisions = decisions
        self.seal = seal
        self.answers = answers
    }

    /// The header for an answer whose record is durable; none without a record about one person.
    package func headers(of receipt: Receipt) -> [(name: String, value: String)] {
        guard let promise = receipt.promise ?? receipt.disclosed.flatMap({ promise(of: $0) }) else { return [] }
        return [(Self.header, promise)]
    }

    /// Adds the header to an answer and sends it. Signing takes too long for the log's thread, so an answering thread
    /// does it, unless all have too much to do.
    package func add(
        to response: HTTPResponse, of receipt: Receipt, _ caller: Caller,
        _ respond: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        let send = { @Sendable in
            var response = response
            response.headers += headers(of: receipt)
            respond(response)
        }
        let isTaken = answers.submit(for: caller.principal) { _ in send() }
        if !isTaken { send() }
    }

    /// The name of a person's own log; `nil` for a person who is erased or never was. Its key is made with the first
    /// call, and destroyed when the person is erased.
    package func logName(of person: PersonID) throws(LogError) -> LogOrigin? {
        try decisions.log.proofKey(of: person).map(seal.origin(under:))
    }

    /// The signed receipt of an erasure, as the text of a note.
    ///
    /// - Parameters:
    ///   - log: The name of the person's own log, read before the erasure.
    ///   - event: The erasure.
    ///   - backupsLeft: The number of known backups whose keys could not be reached.
    package func erasure(of log: LogOrigin, recordedAs event: RecordedEvent, backupsLeft: Int) -> String {
        do {
            let receipt = try ErasureReceipt(
                log: log, entries: event.version, recordedAtMs: event.recordedAt.milliseconds,
                backupsLeft: Int64(backupsLeft))
            return String(decoding: try receipt.signed(by: seal.signer).bytes, as: UTF8.self)
        } catch { preconditionFailure("An event has a version and a time after 1970.") }
    }

    /// The promise for a record; `nil` for a person who was erased meanwhile.
    private func promise(of recorded: RecordedEvent) -> String? {
        guard let subject = recorded.stream.person,
            let key = try? decisions.log.proofKey(of: subject)
        else { return nil }
        let origin = seal.origin(under: key)
        let references = decisions.references(of: subject)
        do {
            let entry = try PersonLogs.Entry(of: recorded, in: origin, under: key) { references.name(of: $0) }
            let asker = withUnsafeBytes(of: recorded.actor.rawValue.bigEndian) { Array($0) }
            let receipt = try AskerReceipt(
                pseudonym: AskerReceipt.pseudonym(of: origin, for: asker, key: key),
                commit: PersonLogEntry.commit(salt: entry.salt, content: entry.content, SHA256()),
                recordedAtMs: recorded.recordedAt.milliseconds)
            return Base64.encode(try receipt.signed(by: seal.signer).bytes)
        } catch { return nil }
    }
}
