/// The import of a file into a person's history.
package struct ImportItem: Reply, Hashable {
    /// The UUID by which the import can be undone.
    package var id: String
    package var state: String
    package var begun: Moment
    /// The last component of the file's path.
    package var file: String?
    package var format: String?
    package var bytes: Int64?
    package var ended: Moment?
    /// The results for the person's records; `nil` until the import has ended.
    package var counts: ImportCountsItem?
    /// Whether the file was not read to its end.
    package var isFaulty: Bool?
    /// The reason, if the file was not read to its end.
    package var fault: String?

    package init(id: String, state: String, begun: Moment) { (self.id, self.state, self.begun) = (id, state, begun) }

    package static var invented: Self { Self(id: .invented, state: .invented, begun: .invented) }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .uuid, &id)
        try members.required("state", .words(["running", "ended", "undone"]), &state)
        try members.required("begun", &begun)
        try members.optional("file", &file)
        try members.optional("format", &format)
        try members.optional("bytes", .count, &bytes)
        try members.optional("ended", &ended)
        try members.optional("counts", &counts)
        try members.optional("faulty", &isFaulty)
        try members.optional("fault", &fault)
    }
}

/// The results for the records of one person in an import.
package struct ImportCountsItem: Reply, Hashable {
    package var new: Int64
    package var duplicate: Int64
    package var visits: Int64
    package var rejected: Int64

    package init(new: Int64, duplicate: Int64, visits: Int64, rejected: Int64) {
        (self.new, self.duplicate, self.visits, self.rejected) = (new, duplicate, visits, rejected)
    }

    package static var invented: Self {
        Self(new: .invented, duplicate: .invented, visits: .invented, rejected: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("new", .count, &new)
        try members.required("duplicate", .count, &duplicate)
        try members.required("visits", .count, &visits)
        try members.required("rejected", .count, &rejected)
    }
}

/// An import of the house, with the people whose histories it brought and nothing else about them.
package struct HouseImportItem: Reply, Hashable {
    package var id: String
    package var state: String
    package var begun: Moment
    /// The handles of the first people.
    package var people: [String]
    /// The number of people.
    package var personCount: Int64
    /// The sum of those people for whom the import has ended.
    package var counts: ImportCountsItem

    package init(
        id: String, state: String, begun: Moment, people: [String], personCount: Int64, counts: ImportCountsItem
    ) {
        (self.id, self.state, self.begun) = (id, state, begun)
        (self.people, self.personCount, self.counts) = (people, personCount, counts)
    }

    package static var invented: Self {
        Self(
            id: .invented, state: .invented, begun: .invented, people: .invented, personCount: .invented,
            counts: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .uuid, &id)
        try members.required("state", .words(["running", "ended", "undone"]), &state)
        try members.required("begun", &begun)
        try members.required("people", .list(.handle), &people)
        try members.required("personCount", .count, &personCount)
        try members.required("counts", &counts)
    }
}

/// The answer to the beginning of an import.
package struct BegunImport: Reply, Hashable {
    package var id: String
    /// Whether an import of the same file had begun before and not ended.
    package var isResumed: Bool
    /// Whether the person was added.
    package var addedPerson: Bool
    /// The id and the epoch of the log. A restore raises the epoch: records that an interrupted import has sent before it may
    /// be missing.
    package var log: String

    package init(id: String, isResumed: Bool, addedPerson: Bool, log: String) {
        (self.id, self.isResumed, self.addedPerson, self.log) = (id, isResumed, addedPerson, log)
    }

    package static var invented: Self {
        Self(id: .invented, isResumed: .invented, addedPerson: .invented, log: .invented)
    }

    package mutating func visit<V: MemberVisitor>(_ members: inout V) throws(V.Failure) {
        try members.required("id", .uuid, &id)
        try members.required("resumed", &isResumed)
        try members.required("addedPerson", &addedPerson)
        try members.required("log", &log)
    }
}
