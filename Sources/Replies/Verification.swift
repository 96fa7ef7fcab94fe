/// The result of verifying the log and everything derived from it.
package struct Verification: Reply, Hashable {
    package var log: VerifiedLog
    package var keys: VerifiedKeys
    /// `nil` for the files alone, where no service keeps the index.
    package var fixes: VerifiedFixes?
    package var projections: [VerifiedProjection]
    /// Whether nothing is wrong.
    package var isGood: Bool

    /// The whole is good if each part is.
    package init(
        log: VerifiedLog, keys: VerifiedKeys, fixes: VerifiedFixes? = nil, projections: [VerifiedProjection]
    ) {
        (self.log, self.keys, self.fixes, self.projections) = (log, keys, fixes, projections)
        isGood = log.isGood && keys.lost == 0 && fixes?.isGood != false && projections.allSatisfy(\.isGood)
    }

    package static var invented: Self {
        Self(log: .invented, keys: .invented, projections: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("log", &log)
        try members.required("keys", &keys)
        try members.expected("fixes", &fixes)
        try members.required("projections", &projections)
        try members.required("ok", &isGood)
    }
}

/// The log, verified by its hashes.
package struct VerifiedLog: Reply, Hashable {
    /// The number of good events, from the first on.
    package var events: Int64
    /// The root of the Merkle tree over their leaves, hexadecimal.
    package var root: String
    package var isGood: Bool
    /// The first event that is damaged, missing or lost.
    package var number: Int64?
    /// A part of a sentence; `nil` if there is none.
    package var problem: String?

    package init(events: Int64, root: String, number: Int64? = nil, problem: String? = nil) {
        (self.events, self.root, self.number, self.problem) = (events, root, number, problem)
        isGood = problem == nil
    }

    package static var invented: Self { Self(events: .invented, root: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("events", &events)
        try members.required("root", &root)
        try members.required("ok", &isGood)
        try members.optional("number", &number)
        try members.optional("problem", &problem)
    }
}

/// The sealed parts of events that no key opens.
package struct VerifiedKeys: Reply, Hashable {
    /// Those whose key was destroyed on purpose.
    package var erased: Int64
    /// Those whose key is missing.
    package var lost: Int64

    package init(erased: Int64, lost: Int64) { (self.erased, self.lost) = (erased, lost) }

    package static var invented: Self { Self(erased: .invented, lost: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("erased", &erased)
        try members.required("lost", &lost)
    }
}

/// The index of fixes, compared with the log.
package struct VerifiedFixes: Reply, Hashable {
    /// The events that its files cover; 0 before the first file.
    package var events: Int64
    /// The fixes in its files.
    package var fixes: Int64
    package var isGood: Bool
    /// A part of a sentence; `nil` if there is none.
    package var problem: String?

    package init(events: Int64, fixes: Int64, problem: String? = nil) {
        (self.events, self.fixes, self.problem) = (events, fixes, problem)
        isGood = problem == nil
    }

    package static var invented: Self { Self(events: .invented, fixes: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("events", &events)
        try members.required("fixes", &fixes)
        try members.required("ok", &isGood)
        try members.optional("problem", &problem)
    }
}

/// A projection, or the standing, compared with a refold from zero.
package struct VerifiedProjection: Reply, Hashable {
    package var name: String
    package var version: Int64
    package var generation: Int64
    /// The number of the newest event folded; `nil` if the file does not open.
    package var place: Int64?
    /// Hexadecimal; `nil` if the file does not open.
    package var fingerprint: String?
    /// ``fine``, or the fault of the rows.
    package var rows: String
    /// ``equal`` if a refold from zero gives the same rows.
    package var refold: String

    package init(
        name: String, version: Int64, generation: Int64, place: Int64?, fingerprint: String?, rows: String,
        refold: String
    ) {
        (self.name, self.version, self.generation) = (name, version, generation)
        (self.place, self.fingerprint, self.rows, self.refold) = (place, fingerprint, rows, refold)
    }

    /// The words of ``rows`` and ``refold`` without a fault.
    package static let (fine, equal) = ("ok", "equal")

    /// Whether its rows and their refold are good.
    package var isGood: Bool { rows == Self.fine && refold == Self.equal }

    package static var invented: Self {
        Self(
            name: .invented, version: .invented, generation: .invented, place: nil, fingerprint: nil,
            rows: .invented, refold: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("name", &name)
        try members.required("version", &version)
        try members.required("generation", &generation)
        try members.expected("place", &place)
        try members.expected("fingerprint", &fingerprint)
        try members.required("rows", &rows)
        try members.required("refold", &refold)
    }
}
