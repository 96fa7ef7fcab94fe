extension Standing {
    /// The refusals of one requester in the present minute.
    package struct RefusalWindow: Hashable, Sendable {
        /// When the minute began.
        package let since: Timestamp
        /// The refusals recorded one by one.
        package internal(set) var recorded: Int64

        /// Whether the minute includes a time.
        func contains(_ time: Timestamp) -> Bool { time < since.adding(seconds: 60) }
    }

    /// The remembered facts about the requests of each caller, to answer a repeated one and to limit their number.
    package struct Requests: Sendable, Equatable {
        /// The requests with a key by caller, in the order done; see ``KeyedRequest``.
        package internal(set) var keyed: [PrincipalID: [KeyedRequest]] = [:]
        /// The refusals of the present minute.
        package private(set) var refusals: [PrincipalID: RefusalWindow] = [:]
        /// The allowances of requesters by grant; removed with the last grant of the pair.
        package internal(set) var asks: [Asks.Pair: Asks] = [:]

        /// Whether a caller's refusals are only counted from now on in this minute.
        func areRefusalsCounted(of principal: PrincipalID, at now: Timestamp) -> Bool {
            guard let window = refusals[principal] else { return false }
            return window.recorded >= Limits.refusalsRecordedAMinute && window.contains(now)
        }

        mutating func countRefusal(by principal: PrincipalID, at time: Timestamp) {
            if let window = refusals[principal], window.contains(time) {
                refusals[principal]?.recorded += 1
            } else {
                refusals[principal] = RefusalWindow(since: time, recorded: 1)
            }
        }

        mutating func forgetRefusals(of principal: PrincipalID) { refusals[principal] = nil }

        /// Removes everything about an erased person and their devices.
        mutating func forget(_ person: PersonID, _ devices: [DeviceID]) {
            for device in devices { keyed[device.principal] = nil }
            keyed[person.principal] = nil
            refusals[person.principal] = nil
            asks = asks.filter { $0.key.asker != person && $0.key.subject != person }
        }

        mutating func follow(clockSteppedBackBy milliseconds: Int64) {
            for pair in asks.keys {
                asks[pair]?.pushes.follow(clockSteppedBackBy: milliseconds)
                asks[pair]?.reads.follow(clockSteppedBackBy: milliseconds)
            }
        }
    }
}

// MARK: - Rows

// Of one caller's refusals: 1 since · 2 recorded. The others are in `KeyedRequest` and `Asks`.
extension Standing.Requests {
    var rows: [StandingEntry] {
        let refused = refusals.map { principal, window in
            StandingEntry(.refusals, principal.rawValue) {
                $0.timestamp(1, window.since)
                $0.integer(2, window.recorded)
            }
        }
        let repeatable = keyed.map { principal, requests in
            StandingEntry(.keyedRequests, principal.rawValue) { Standing.KeyedRequest.write(requests, to: &$0) }
        }
        let asked = asks.sorted { $0.key < $1.key }.enumerated().map { index, element in
            StandingEntry(.asks, Int64(index)) { element.value.write(element.key, to: &$0) }
        }
        return refused + repeatable + asked
    }

    mutating func loadRefusals(of principal: PrincipalID, _ fields: inout FieldReader) throws(CBORError) {
        refusals[principal] = Standing.RefusalWindow(
            since: try require(try fields.timestamp(1)), recorded: try require(try fields.integer(2)))
    }

    mutating func loadKeyed(of principal: PrincipalID, _ fields: inout FieldReader) throws(CBORError) {
        keyed[principal] = try Standing.KeyedRequest.all(from: &fields)
    }

    mutating func loadAsks(_ fields: inout FieldReader) throws(CBORError) {
        let (pair, loaded) = try Asks.read(from: &fields)
        asks[pair] = loaded
    }
}
