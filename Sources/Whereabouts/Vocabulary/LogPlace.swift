/// The place of a log: where its events become durable.
package enum LogPlace: Int64, Sendable, CaseIterable {
    /// The file of the data directory.
    case sqlite = 0
    /// A PostgreSQL server, of which the file is a copy.
    case postgresql = 1

    /// The word in answers.
    package var word: String { String(describing: self) }
}
