extension Standing {
    /// A request with an `Idempotency-Key` and its outcome. A repeated request gets the same answer and is not done
    /// again.
    ///
    /// It does not contain the key or the content of the request: ``id`` consists of hashes under a secret.
    package struct KeyedRequest: Hashable, Sendable {
        /// The correlation of its events: an ``Identifier128/init(ofKeyedRequest:_:)``.
        package let id: RequestID
        /// The number of its last event.
        package internal(set) var last: Int64
        /// When it was done.
        package let at: Timestamp
        /// The result of its command.
        package internal(set) var reply: CommandReply
    }

    /// The outcome of a request whose key has the same `high`; `nil` if there is none, or it is too old. Cost: linear
    /// in the requests kept for one caller, newest first.
    package func keyedRequest(_ high: UInt64, by principal: PrincipalID, at now: Timestamp) -> KeyedRequest? {
        requests.keyed[principal]?.last {
            $0.id.high == high && now < $0.at.adding(seconds: Limits.keyedRequestKeptSeconds)
        }
    }

    /// The outcome of the same request before; `nil` if this is the first.
    ///
    /// - Throws: ``Refusal`` if the key came with another request, or if the caller has lost all rights.
    package func outcome(
        of correlation: RequestID, by caller: Caller, at now: Timestamp
    ) throws(Refusal) -> KeyedRequest? {
        guard correlation.isOfKeyedRequest,
            let kept = keyedRequest(correlation.high, by: caller.principal, at: now)
        else { return nil }
        guard isValid(caller, at: now) else { throw .notAuthenticated }
        guard kept.id == correlation else { throw .keyOfAnotherRequest }
        return kept
    }

    /// Remembers the present outcome of a request with a key. A recorded refusal is not an outcome: the request may be
    /// repeated.
    mutating func keep(keyed recorded: RecordedEvent) {
        guard recorded.correlation.isOfKeyedRequest, let reply = recorded.reply else { return }
        var kept = requests.keyed[recorded.actor] ?? []
        if let index = kept.lastIndex(where: { $0.id == recorded.correlation }) {
            kept[index].last = recorded.number
            if reply != .done { kept[index].reply = reply }
        } else {
            let expired = kept.prefix {
                $0.at.adding(seconds: Limits.keyedRequestKeptSeconds) <= recorded.recordedAt
            }
            kept.removeFirst(max(expired.count, kept.count + 1 - Limits.keyedRequestsKept))
            kept.append(
                KeyedRequest(
                    id: recorded.correlation, last: recorded.number, at: recorded.recordedAt, reply: reply))
        }
        requests.keyed[recorded.actor] = kept
    }
}

extension Refusal {
    static let keyOfAnotherRequest = Refusal.invalid(
        "This Idempotency-Key belongs to another request; send a new key with a new request.")
}

// The row of one caller in the saved standing.
extension Standing.KeyedRequest {
    static func write(_ requests: [Self], to fields: inout FieldWriter) {
        fields.bytes(1, requests.flatMap(\.id.bytes))
        // Four numbers for each: the last event, the time, and the kind and number of the created thing.
        fields.integers(
            2, requests.flatMap { [$0.last, $0.at.milliseconds, $0.reply.code.kind, $0.reply.code.id] })
    }

    static func all(from fields: inout FieldReader) throws(CBORError) -> [Self] {
        let ids = try fields.identifiers(1)
        let numbers = try fields.integers(2)
        guard numbers.count == ids.count * 4 else { throw .unexpected }
        var requests: [Self] = []
        for (index, id) in ids.enumerated() {
            let four = numbers[index * 4..<index * 4 + 4].map { $0 }
            requests.append(
                Self(
                    id: id, last: four[0], at: Timestamp(milliseconds: four[1]),
                    reply: try require(CommandReply(kind: four[2], id: four[3]))))
        }
        return requests
    }
}
