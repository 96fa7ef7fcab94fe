import Cryptography
import Whereabouts

/// A kind of projection that the program can fold: its name, the versions of its fold, and how to make one.
package struct ProjectionKind: Sendable {
    /// The projection's name, as in the catalog.
    package let name: String
    /// Every version that can still be folded, oldest first; a new file gets the last.
    package let versions: [Int64]
    /// The statements for an empty file.
    let schema: StaticString
    /// The statements for the indexes, made after the rows; may be empty.
    let indexes: StaticString
    /// SHA-256 of the statements that make tables and indexes: a file of another form is folded again.
    let form: Digest
    /// Forms of earlier programs that readers can still read.
    let olderForms: [OlderForm]
    /// The kinds of events that change nothing in it.
    let passedOver: EventKinds
    /// Makes the projection over a file, for one of ``versions``.
    let make: @Sendable (ProjectionFile, _ version: Int64) -> any Projection

    /// The version of new files.
    package var newest: Int64 { versions[versions.count - 1] }

    /// The kind whose rows `type` folds.
    package init<P: Projection & SendableMetatype>(_ type: P.Type) {
        name = type.name
        versions = type.versions
        schema = type.schema
        indexes = type.indexes
        form = Self.form(schema: type.schema, indexes: type.indexes)
        olderForms = type.olderForms
        passedOver = type.concerns.map { EventKinds(concerningNoneOf: $0) } ?? EventKinds()
        make = { type.init(file: $0, version: $1) }
    }

    /// SHA-256 of the statements that make a file's tables and indexes, among them the bookkeeping table.
    static func form(schema: StaticString, indexes: StaticString) -> Digest {
        SHA256().hash(Array("\(ProjectionFile.placeSchema);\(schema);\(indexes)".utf8))
    }
}
