extension Standing {
    /// A device of a person.
    package struct Device: Hashable, Sendable {
        /// The owner.
        package let person: PersonID
        /// `nil` once the owner is erased.
        package internal(set) var handle: Handle?
        /// Whether the device was removed; its tokens ended with it.
        package internal(set) var isRemoved = false
        /// Whether the device only sends envelopes: its open reports are refused.
        package internal(set) var isSealed = false
        /// The newest by ``AuthorizationHeld/since``; `nil` if the device never reported one.
        package internal(set) var authorization: AuthorizationHeld?
        /// How the device is woken.
        package internal(set) var push = Push()
        /// Its recent reports.
        package internal(set) var reports = Reports()

        /// Whether the system would run the app's extension for a push. `true` for a device that never reported it, for
        /// example one with OwnTracks, whose messages have no field for it.
        package var mayBeWoken: Bool { authorization.map { $0.report.status == .authorizedAlways } ?? true }
    }

    /// The authorization that a device reported.
    package struct AuthorizationHeld: Hashable, Sendable {
        /// The report as the device sent it.
        package let report: AuthorizationReport
        /// The report's own time, at most the time at which it was recorded: a clock that is ahead must not outrank
        /// later reports.
        package internal(set) var since: Timestamp
    }

    /// The push token that a device registered.
    package struct PushToken: Hashable, Sendable {
        /// The token and the app that it belongs to.
        package let token: LocationPushToken
        /// Apple's environment, to which the token belongs.
        package let environment: PushEnvironment
        /// When the device last registered it.
        package let registeredAt: Timestamp
    }
}

extension Standing.Device {
    /// How a device is woken.
    package struct Push: Hashable, Sendable {
        /// The token that wakes the device; `nil` without one.
        package internal(set) var token: Standing.PushToken?
        /// The rest of ``Limits/pushBudget``.
        package internal(set) var allowance = Allowance()
        /// When the last push was started.
        package internal(set) var lastAt: Timestamp?
        /// The start of the newest push that may have woken it.
        package internal(set) var wokenAt: Timestamp?
        /// The id of a test push that was started and has no recorded outcome.
        package internal(set) var testUnderWay: QueryID?

        mutating func start(at now: Timestamp) {
            allowance.take(at: Limits.pushBudget, now: now)
            (lastAt, wokenAt) = (now, now)
        }
    }

    /// The recent reports of a device.
    package struct Reports: Hashable, Sendable {
        /// No report of this device is newer than this.
        package internal(set) var newestTimestamp: Timestamp?
        /// The device's time and the number of its newest usable fix, as the table of newest locations chooses it; the
        /// first of several of one time.
        package internal(set) var usable: UsableFix?
        /// The hashes of the latest rejected reports and messages, oldest first, to recognize repeats.
        package internal(set) var kept: [Hash256] = []
        /// The ``Sighting/mark`` of the latest sightings, oldest first, to recognize repeats.
        package internal(set) var sightings: [Int64] = []
        /// When the last fix that it sent was recorded; `nil` if it has sent none. Imports do not count.
        package internal(set) var heardAt: Timestamp?
        /// The lengths of silence that are on record since ``heardAt``, in seconds, ascending.
        package internal(set) var silences: [Int64] = []

        /// Notes a fix that the device sent, which ends a silence.
        mutating func hear(at now: Timestamp) {
            heardAt = now
            if !silences.isEmpty { silences = [] }
        }

        mutating func note(_ silence: Silence) {
            silences.append(silence.afterSeconds)
            silences.sort()
        }

        mutating func note(_ timestamp: Timestamp) {
            if newestTimestamp.map({ $0 < timestamp }) ?? true { newestTimestamp = timestamp }
        }

        /// Notes a fix that can be shown.
        mutating func note(usable timestamp: Timestamp, number: Int64) {
            if usable.map({ $0.timestamp < timestamp }) ?? true {
                usable = UsableFix(timestamp: timestamp, number: number)
            }
        }

        mutating func keep(_ hash: Hash256?) {
            guard let hash else { return }
            kept.append(hash)
            if kept.count > Limits.keptRemembered { kept.removeFirst(kept.count - Limits.keptRemembered) }
        }

        mutating func remember(_ sighting: Sighting) {
            sightings.append(sighting.mark)
            if sightings.count > Limits.sightingsRemembered {
                sightings.removeFirst(sightings.count - Limits.sightingsRemembered)
            }
        }
    }

    mutating func note(_ report: AuthorizationReport, at now: Timestamp) {
        let held = Standing.AuthorizationHeld(report: report, since: min(report.timestamp, now))
        if authorization.map({ $0.since <= held.since }) ?? true { authorization = held }
    }

    /// - Parameter now: The new time of the house's clock: reports from now on must count.
    mutating func follow(clockSteppedBackBy milliseconds: Int64, to now: Timestamp) {
        push.allowance.follow(clockSteppedBackBy: milliseconds)
        push.lastAt = push.lastAt?.stepped(back: milliseconds)
        push.wokenAt = push.wokenAt?.stepped(back: milliseconds)
        reports.heardAt = reports.heardAt?.stepped(back: milliseconds)
        if let since = authorization?.since { authorization?.since = min(since, now) }
    }
}

// MARK: - Rows

extension Standing.Device {
    func write(to fields: inout FieldWriter) {
        fields.integer(1, person.rawValue)
        fields.text(2, handle?.text)
        fields.bool(3, isRemoved ? true : nil)
        fields.timestamp(4, reports.newestTimestamp)
        fields.bytes(5, push.token?.token.bytes)
        fields.text(6, push.token?.token.bundleID)
        fields.integer(7, push.token?.environment.rawValue)
        fields.timestamp(8, push.token?.registeredAt)
        fields.bytes(9, reports.kept.isEmpty ? nil : reports.kept.flatMap(\.bytes))
        fields.timestamp(10, push.allowance.fullAt)
        fields.timestamp(11, push.lastAt)
        fields.timestamp(12, authorization?.report.timestamp)
        fields.integer(13, authorization?.report.status.rawValue)
        fields.integer(14, authorization?.report.accuracy?.rawValue)
        fields.timestamp(15, authorization?.since)
        fields.integers(16, reports.sightings)
        fields.identifier(17, push.testUnderWay)
        fields.timestamp(18, push.wokenAt)
        fields.timestamp(19, reports.heardAt)
        fields.integers(20, reports.silences)
        fields.timestamp(21, reports.usable?.timestamp)
        fields.integer(22, reports.usable?.number)
        fields.bool(23, isSealed ? true : nil)
    }

    init(from fields: inout FieldReader) throws(CBORError) {
        self.init(
            person: PersonID(rawValue: try require(try fields.integer(1))),
            handle: try fields.text(2).flatMap { Handle($0) })
        isRemoved = try fields.bool(3) ?? false
        reports.newestTimestamp = try fields.timestamp(4)
        if let bytes = try fields.bytes(5) {
            push.token = Standing.PushToken(
                token: LocationPushToken(bytes: bytes, bundleID: try require(try fields.text(6))),
                environment: try require(PushEnvironment(rawValue: try require(try fields.integer(7)))),
                registeredAt: try require(try fields.timestamp(8)))
        }
        let hashes = try fields.bytes(9) ?? []
        reports.kept = stride(from: 0, to: hashes.count, by: 32).compactMap {
            Hash256(bytes: Array(hashes[$0..<min($0 + 32, hashes.count)]))
        }
        push.allowance.fullAt = try fields.timestamp(10)
        push.lastAt = try fields.timestamp(11)
        if let timestamp = try fields.timestamp(12) {
            let report = AuthorizationReport(
                timestamp: timestamp,
                status: try require(AuthorizationStatus(rawValue: try require(try fields.integer(13)))),
                accuracy: try fields.integer(14).flatMap(AccuracyAuthorization.init(rawValue:)))
            authorization = Standing.AuthorizationHeld(
                report: report, since: try require(try fields.timestamp(15)))
        }
        reports.sightings = try fields.integers(16)
        push.testUnderWay = try fields.identifier(17)
        push.wokenAt = try fields.timestamp(18)
        reports.heardAt = try fields.timestamp(19)
        reports.silences = try fields.integers(20)
        if let timestamp = try fields.timestamp(21) {
            reports.usable = UsableFix(timestamp: timestamp, number: try require(try fields.integer(22)))
        }
        isSealed = try fields.bool(23) ?? false
    }
}
