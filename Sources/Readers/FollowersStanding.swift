package import Log
package import Whereabouts

/// The saved standing of a reader. If it has events that the copy of the log lacks, it is folded again: a power cut may take
/// the newest events from a copy, and they come back from the database.
package struct FollowersStanding: SavedStanding {
    private let file: any SavedStanding

    /// - Parameter file: The saved standing itself.
    package init(_ file: any SavedStanding) { self.file = file }

    package func witnesses() -> [LogWitness] { file.witnesses() }

    package func load(log: LogIdentity, reader: LogReader) throws(LogError) -> (Standing, heads: StreamHeads) {
        do throws(LogError) { return try file.load(log: log, reader: reader) } catch {
            guard case .lost = error, file.remove() else { throw error }
            return (Standing(), [:])
        }
    }

    package func save(_ standing: Standing, _ heads: StreamHeads, log: LogIdentity) throws(LogError) {
        try file.save(standing, heads, log: log)
    }

    package func remove() -> Bool { file.remove() }
}
