/// The description of a backup, in an answer and in the backup's folder.
package struct BackupItem: Reply, Hashable {
    /// Of the backup's files.
    package var format: Int64
    /// The id of the log.
    package var log: String
    /// The log's epoch, which each restore raises.
    package var epoch: Int64
    /// The number of events in the log.
    package var events: Int64
    /// The root of the Merkle tree over the events' leaves, hexadecimal.
    package var root: String
    /// When the copy was verified; whole seconds.
    package var madeAt: Moment

    package init(format: Int64, log: String, epoch: Int64, events: Int64, root: String, madeAt: Moment) {
        (self.format, self.log, self.epoch) = (format, log, epoch)
        (self.events, self.root, self.madeAt) = (events, root, madeAt)
    }

    package static var invented: Self {
        Self(
            format: .invented, log: .invented, epoch: .invented, events: .invented, root: .invented,
            madeAt: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("format", &format)
        try members.required("log", .uuid, &log)
        try members.required("epoch", &epoch)
        try members.required("events", &events)
        try members.required("root", .hash, &root)
        try members.required("madeAt", &madeAt)
    }
}

/// The content of a restored backup, as the tool shows it.
package struct RestoredBackup: Reply, Hashable {
    package var events: Int64
    /// The new epoch of the log.
    package var epoch: Int64
    /// The people who were erased again by newer keys.
    package var erased: Int64
    /// The root of the Merkle tree over the restored events, before the log continues; hexadecimal.
    package var root: String
    /// When the backup was made, or the last restored event recorded.
    package var madeAt: Moment
    /// The later events that a shipped folder has; absent for a backup.
    package var later: Int64?

    package init(events: Int64, epoch: Int64, erased: Int64, root: String, madeAt: Moment, later: Int64?) {
        (self.events, self.epoch, self.erased) = (events, epoch, erased)
        (self.root, self.madeAt, self.later) = (root, madeAt, later)
    }

    package static var invented: Self {
        Self(
            events: .invented, epoch: .invented, erased: .invented, root: .invented, madeAt: .invented, later: nil)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("events", &events)
        try members.required("epoch", &epoch)
        try members.required("erased", &erased)
        try members.required("root", .hash, &root)
        try members.required("madeAt", &madeAt)
        try members.optional("later", &later)
    }
}

/// Whether the service is ready.
package struct Readiness: Reply, Hashable {
    package var status: String
    /// Problems that do not affect callers, as sentences.
    package var note: String?

    package init(status: String, note: String? = nil) { (self.status, self.note) = (status, note) }

    package static var invented: Self { Self(status: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("status", &status)
        try members.optional("note", &note)
    }
}

/// The outcome of an erasure.
package struct ErasedPerson: Reply, Hashable {
    package var isErased: Bool
    /// The event that records it.
    package var number: Reference
    /// The backups that may still have the person's keys.
    package var backupsLeft: Int64
    /// Their folders; only for the operator.
    package var backupsNotReached: [String]?
    /// Whether a file beside the log still has data of the person, which the service continues to remove.
    package var areFilesLeft: Bool?
    /// The signed receipt, as the text of a note; `nil` if the key of the person's own log is lost.
    package var receipt: String?

    package init(
        isErased: Bool, number: Reference, backupsLeft: Int64, backupsNotReached: [String]? = nil,
        areFilesLeft: Bool? = nil, receipt: String? = nil
    ) {
        (self.isErased, self.number) = (isErased, number)
        (self.backupsLeft, self.backupsNotReached) = (backupsLeft, backupsNotReached)
        (self.areFilesLeft, self.receipt) = (areFilesLeft, receipt)
    }

    package static var invented: Self { Self(isErased: .invented, number: .invented, backupsLeft: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("erased", &isErased)
        try members.required("number", &number)
        try members.required("backupsLeft", &backupsLeft)
        try members.optional("backupsNotReached", &backupsNotReached)
        try members.optional("filesLeft", &areFilesLeft)
        try members.optional("receipt", &receipt)
    }
}

/// The fixes and visits of an import that one request has withdrawn or restored.
package struct RevisedImport: Reply, Hashable {
    package var fixes: Int64
    /// The visits that other systems had found.
    package var visits: Int64
    /// The value of `after` for the next request; `nil` when all is done.
    package var next: Reference?

    package init(fixes: Int64, visits: Int64, next: Reference? = nil) {
        (self.fixes, self.visits, self.next) = (fixes, visits, next)
    }

    package static var invented: Self { Self(fixes: .invented, visits: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("fixes", &fixes)
        try members.required("visits", &visits)
        try members.nullable("next", &next)
    }
}

/// The newest checkpoint of a person's own log.
package struct LogCheckpoint: Reply, Hashable {
    /// A signed note (c2sp.org/tlog-checkpoint).
    package var checkpoint: String
    /// The key that signs as the log.
    package var key: String
    /// The key that signs receipts.
    package var houseKey: String
    /// The proof that the log continues an earlier checkpoint; hashes in Base64.
    package var consistency: [String]?

    package init(checkpoint: String, key: String, houseKey: String, consistency: [String]? = nil) {
        (self.checkpoint, self.key, self.houseKey) = (checkpoint, key, houseKey)
        self.consistency = consistency
    }

    package static var invented: Self { Self(checkpoint: .invented, key: .invented, houseKey: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("checkpoint", &checkpoint)
        try members.required("key", &key)
        try members.required("houseKey", &houseKey)
        try members.optional("consistency", &consistency)
    }
}
