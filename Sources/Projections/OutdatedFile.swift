import Cryptography
import Log
import SQLite
import Whereabouts

/// The file of a generation that this program can read and cannot fold: another version of the program made it.
///
/// It answers, at the place where it stopped, until the new generation has reached the head of the log. It is then
/// deleted. Events after its place are missing from its answers. It cannot follow an erasure: see
/// ``ProjectionHost/Worker/endIfErased()``.
struct OutdatedFile {
    /// The row of the catalog, with the role `active`.
    let generation: Catalog.Generation
    /// The views that give its rows the columns of the newest tables.
    let lift: StaticString
    /// The number of the newest event that it has folded.
    let place: Int64
    /// The sum over its rows, as the program that made it counted them.
    let fingerprint: Fingerprint
    /// The newest event that was looked at for an erasure.
    var checked: Int64
    /// Why the new generation cannot be made now.
    var trouble: ProjectionTrouble?

    /// Opens the file and checks that the readers of this program can read it.
    ///
    /// - Returns: `nil` if the file is damaged, incomplete, of another log or epoch, ahead of the log, or has tables
    ///   that the program does not know.
    init?(
        _ generation: Catalog.Generation, kind: ProjectionKind, directory: String, log: LogIdentity, reader: LogReader
    ) {
        let path = "\(directory)/\(generation.fileName)"
        do throws(SQLiteError) {
            // The process may have ended between the deletion of an erased person's rows and the truncation.
            _ = try ProjectionFile(path: path, access: .readWrite).connection.checkpoint(.truncate)
            let file = try ProjectionFile(path: path, access: .readOnly)
            let saved = try FollowedProjection.readPlace(file)
            guard saved.logID == log.id, saved.epoch == log.epoch, saved.version == generation.version,
                !saved.isLoading, let lift = kind.lift(version: saved.version, form: saved.form)
            else { return nil }
            if saved.number > 0 {
                let stored = try? reader.storedEvents(after: saved.number - 1, limit: 1).first
                guard let stored, stored.header.number == saved.number, stored.leaf == saved.leaf else { return nil }
            }
            try file.connection.lift(lift)
            // A declaration with a missing column is found here, and not by the first question.
            let found = try file.connection.columns()
            let wanted = try kind.columns()
            guard wanted.allSatisfy({ $0.value.isSubset(of: found[$0.key] ?? []) }) else { return nil }
            (self.generation, self.lift, place, fingerprint) = (generation, lift, saved.number, saved.fingerprint)
            checked = saved.number
        } catch { return nil }
    }
}

extension ProjectionKind {
    /// How to read a file of this version and form; `nil` if the program does not know the form.
    ///
    /// The same tables can be read whatever fold wrote them: columns keep their meaning (a changed meaning is a new
    /// column).
    fileprivate func lift(version: Int64, form: Digest?) -> StaticString? {
        if form == self.form { return "" }
        return olderForms.first { $0.version == version && $0.form == form }?.lift
    }

    /// The columns of the newest tables, by table.
    fileprivate func columns() throws(SQLiteError) -> [String: Set<String>] {
        let empty = try Connection(path: ":memory:", access: .readWrite)
        try empty.execute(schema)
        return try empty.columns()
    }
}

extension ProjectionHost.Worker {
    /// Lets an unusable file answer while its successor is folded, if it can be read.
    ///
    /// - Returns: `false` if it cannot; the caller then folds the projection again without it.
    func keepOutdated(_ generation: Catalog.Generation, _ kind: ProjectionKind, _ identity: LogIdentity?) -> Bool {
        guard generation.role == .active, let identity,
            let file = OutdatedFile(generation, kind: kind, directory: directory, log: identity, reader: reader)
        else { return false }
        outdated[generation.name] = file
        Diagnostics.note(
            "projection.outdated",
            "\(generation.fileName) is of another version of the program. It answers until the new one is folded.")
        return true
    }

    /// The generation that will take the place of an outdated one.
    func successor(of name: String) -> FollowedProjection? {
        outdated[name] == nil ? nil : find(name, .candidate) ?? find(name, .previous)
    }

    /// Makes the successors that are missing: at the start, or after one was found damaged.
    func makeSuccessors() {
        for kind in kinds where outdated[kind.name] != nil && successor(of: kind.name) == nil {
            guard outdated[kind.name]?.trouble?.isDue ?? true else { continue }
            do throws(SQLiteError) {
                try add(kind, version: kind.newest, role: .candidate)
                outdated[kind.name]?.trouble = nil
            } catch {
                let earlier = outdated[kind.name]?.trouble
                let sentence =
                    "The new \(kind.name) cannot be made (SQLite \(error.extendedCode)); an older one answers, and the service tries again."
                if earlier == nil { Diagnostics.fault("projection.closed", "\(sentence) \(error)") }
                outdated[kind.name]?.trouble = ProjectionTrouble(sentence, after: earlier)
            }
        }
    }

    /// Replaces each outdated file whose successor has reached the head.
    func replaceOutdated() {
        for (name, file) in outdated {
            guard let new = successor(of: name), !new.isLoading, new.trouble == nil, new.place >= file.place
            else { continue }
            end(file, "The new \(name) is folded and answers.")
        }
    }

    /// Ends all outdated files if an event after their place removes data about a person: they cannot follow it. Their
    /// projections give no answers until they are folded, as after a loss.
    ///
    /// The person's rows are gone from the disk before a caller of `DELETE /v1/people/*` sees that it is done.
    ///
    /// Cost: reads the headers of the events since the last call, at most some hundred thousand a second.
    func endIfErased() {
        guard let from = outdated.values.map(\.checked).min() else { return }
        let head = log.head
        var place = from
        while place < head {
            guard let events = try? reader.storedEvents(after: place, limit: ProjectionHost.batch),
                let last = events.last?.header.number
            else { return }
            let isErasing = events.contains { stored in
                [EventKind.personErased, .retentionApplied].contains { $0.rawValue == stored.header.kind }
            }
            if isErasing {
                for file in outdated.values {
                    end(file, "\(file.generation.fileName) cannot follow an erasure and is deleted.")
                }
                return
            }
            place = last
            for name in outdated.keys { outdated[name]?.checked = place }
        }
    }

    /// Deletes an outdated file; its successor becomes the active generation, loaded or not.
    func end(_ file: OutdatedFile, _ note: String) {
        let name = file.generation.name
        do throws(SQLiteError) {
            let new = successor(of: name)
            try catalog.replace(file.generation, by: new?.generation)
            outdated[name] = nil
            new?.generation.role = .active
            // Readers leave the file before it is gone.
            publish(switched: true)
            removeFile(file.generation)
            Diagnostics.note("projection.replaced", note)
            if new == nil, let kind = kinds.first(where: { $0.name == name }) {
                try add(kind, version: kind.newest, role: .active)
                publish(switched: true)
            }
        } catch { close(name, error) }
    }
}
