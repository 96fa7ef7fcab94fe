package import Whereabouts

/// The standing between two starts, so that a start does not fold the whole log. The log loads it, has it saved and has
/// it removed; a loaded standing counts only if the rows of the log confirm it.
///
/// The log does not know the tables that are folded from it, so the composition hands this in.
package protocol SavedStanding: Sendable {
    /// The newest events that the files beside the log have folded. They were durable, so the log must have them.
    func witnesses() -> [LogWitness]

    /// The saved standing and the newest event of each stream if they belong to `log`, else empty ones.
    ///
    /// - Throws: ``LogError/lost(_:)`` if the saved standing is valid and has events that the log lacks.
    func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, heads: StreamHeads)

    /// Replaces the saved standing. The caller then has the standing forget its changes.
    func save(_ standing: Standing, _ heads: StreamHeads, log: LogIdentity) throws(LogError)

    /// Removes the saved standing; `false` if it still exists.
    func remove() -> Bool
}
