extension Standing {
    /// What a read of a person's stored data depends on beside the data: the whole permit, and the last events that took
    /// data away. Equal bytes in two standings mean that an answer computed under the one may leave under the other.
    ///
    /// The bytes are a CBOR array, in the order of this function; they are compared and never stored.
    package func readingMark(_ permit: Permit) -> [UInt8] {
        var writer = CBORWriter()
        writer.array(10)
        writer.integer(permit.subject.rawValue)
        switch permit.verdict {
        case .own: writer.integer(0)
        case .operatorOnRecord: writer.integer(-1)
        case .granted(let grant): writer.integer(grant.rawValue)
        case .refused(let code): writer.integer(-2 - code.rawValue)
        }
        writer.integer(permit.precision.rawValue)
        writer.optional(permit.notBefore?.milliseconds)
        if let hours = permit.hours {
            writer.array(4)
            writer.text(hours.zone.name)
            writer.integer(hours.zone.offsetSeconds)
            writer.array(2 * hours.zone.changes.count)
            for change in hours.zone.changes {
                writer.integer(change.at.milliseconds)
                writer.integer(change.offsetSeconds)
            }
            writer.array(2 * hours.ranges.count)
            for range in hours.ranges {
                writer.integer(range.lowerBound)
                writer.integer(range.upperBound)
            }
        } else {
            writer.null()
        }
        writer.array(2 * permit.pauses.count)
        for pause in permit.pauses {
            writer.integer(pause.from.milliseconds)
            writer.optional(pause.until?.milliseconds)
        }
        writer.bool(permit.asksEachTime)
        writer.integer(persons[permit.subject]?.withdrawn.through ?? 0)
        writer.optional(retention.last[permit.subject]?.at.milliseconds)
        writer.optional(retention.last[permit.subject]?.before.milliseconds)
        return writer.finish()
    }

    /// The caller with a valid token of this id, as the token's secret would find them; `nil` also for a one-time code.
    package func caller(token id: TokenID, at now: Timestamp) -> Caller? {
        guard let token = tokens.valid(id, at: now), token.scopes.isDisjoint(with: [.signIn, .inspect]) else {
            return nil
        }
        return Caller(principal: token.principal, scopes: token.scopes.subtracting(.session), token: id)
    }
}

extension CBORWriter {
    /// An integer, or null.
    fileprivate mutating func optional(_ value: Int64?) {
        if let value { integer(value) } else { null() }
    }
}
