extension Standing {
    /// How far the log is folded: its last event, the version of each stream, and the highest key.
    package struct Progress: Sendable, Equatable {
        /// The number of the last event folded; 0 before the first.
        package internal(set) var place: Int64 = 0
        /// When the newest event was recorded, by the house's clock.
        package internal(set) var lastRecordedAt = Timestamp(milliseconds: .min)
        /// The version of each stream's newest event.
        private(set) var versions: Tracked<StreamID, Int64> = [:]
        /// The highest id of a key that the events up to ``place`` name.
        package private(set) var highestKey: Int64 = 0
        /// The mark of the newest restore or accepted loss; `nil` without one, or if an earlier version recorded it.
        var mark: Int64?
        /// Where the log's events become durable.
        var logPlace = LogPlace.sqlite

        /// The ids of an epoch begin at 2²⁴ times the epoch, so 16 million restores stay below this.
        private static let firstImpossibleKey: Int64 = 1 << 48

        mutating func note(_ recorded: RecordedEvent) {
            precondition(recorded.number == place + 1, "Events are folded in the order of their numbers.")
            place = recorded.number
            lastRecordedAt = recorded.recordedAt
            versions[recorded.stream] = recorded.version
        }

        /// Notes the id of a key; an impossible one is ignored.
        mutating func note(key id: Int64) {
            if id < Self.firstImpossibleKey { highestKey = max(highestKey, id) }
        }
    }

    /// The number of the last event folded; 0 before the first.
    package var place: Int64 { progress.place }

    /// When the newest event was recorded, by the house's clock.
    package var lastRecordedAt: Timestamp { progress.lastRecordedAt }

    /// The version of a stream's newest event; 0 for a stream without events.
    package func version(of stream: StreamID) -> Int64 { progress.versions[stream] ?? 0 }

    /// The highest id of a key that the events up to ``place`` name; see ``note(key:)``.
    package var highestKey: Int64 { progress.highestKey }

    /// The mark of the newest restore or accepted loss, which tells two restores of one backup apart; `nil` without one,
    /// or if an earlier version recorded it.
    package var mark: Int64? { progress.mark }

    /// Where the log's events become durable, as the log itself says.
    package var logPlace: LogPlace { progress.logPlace }

    /// Notes the id of a key that seals a part of an event. Later keys must have higher ids, whatever `keys.sqlite`
    /// says.
    ///
    /// Folded events do not name their keys, so the reader or sealer of an event calls this. An impossible id, as in a
    /// damaged event, is ignored.
    package mutating func note(key id: Int64) { progress.note(key: id) }
}

// MARK: - Rows

// Of one stream: 1 version
extension Standing.Progress {
    /// The version of each stream.
    var rows: some Sequence<StandingEntry> {
        versions.lazy.map { stream, version in StandingEntry(.version, stream.rawValue) { $0.integer(1, version) } }
    }

    mutating func load(_ stream: StreamID, _ fields: inout FieldReader) throws(CBORError) {
        versions.load(stream, try require(try fields.integer(1)))
    }

    mutating func load(_ heads: StreamHeads) {
        for (stream, head) in heads.table { versions.load(stream, head.version) }
    }

    /// The streams that have new events since ``forgetChanges()``.
    var changedStreams: Set<StreamID> { versions.changed }

    mutating func forgetChanges() { versions.forgetChanges() }
}
