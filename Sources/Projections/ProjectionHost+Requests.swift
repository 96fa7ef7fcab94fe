import Log
import SQLite

/// What operators may ask of the thread that owns the files.
extension ProjectionHost.Worker {
    /// The kind with this name; throws ``ProjectionHost/HostError/unknownProjection(_:_:)`` without one.
    func kind(_ name: String) throws(ProjectionHost.HostError) -> ProjectionKind {
        guard let kind = kinds.first(where: { $0.name == name }) else {
            throw .unknownProjection(name, kinds.map(\.name))
        }
        return kind
    }

    /// The open generation with this role.
    func find(_ name: String, _ role: Catalog.Role) -> FollowedProjection? {
        followed.first { $0.generation.name == name && $0.generation.role == role }
    }

    /// Does `body`; an error of SQLite becomes ``ProjectionHost/HostError/fault(_:)``.
    private func guarded<R>(_ body: () throws(SQLiteError) -> R) throws(ProjectionHost.HostError) -> R {
        do throws(SQLiteError) { return try body() } catch {
            throw .fault(
                "A file of the projections cannot be written (\(error)); check the disk and the rights of its folder, and try again."
            )
        }
    }

    /// Begins a new generation beside the active one; an earlier candidate is deleted. The thread folds it from
    /// zero, without delaying the active one.
    ///
    /// A candidate of this version that is still being folded goes on: an interrupted rebuild is not begun again.
    package func rebuild(_ name: String, version: Int64?) throws(ProjectionHost.HostError) -> Catalog.Generation {
        let kind = try kind(name)
        let version = version ?? kind.newest
        guard kind.versions.contains(version) else { throw .unknownVersion(name, kind.versions) }
        if let old = find(name, .candidate), old.isLoading, old.generation.version == version {
            return old.generation
        }
        try guarded { () throws(SQLiteError) in
            if let old = find(name, .candidate) { try drop(old.generation) }
            try add(kind, version: version, role: .candidate)
            publish(switched: false)
        }
        guard let candidate = find(name, .candidate) else { throw .fault("The new \(name) cannot be opened.") }
        return candidate.generation
    }

    /// Begins a new generation of every projection. All begin at the same place, so one scan of the log opens each
    /// event once for all of them.
    package func rebuildAll() throws(ProjectionHost.HostError) -> [Catalog.Generation] {
        var made: [Catalog.Generation] = []
        for kind in kinds { made.append(try rebuild(kind.name, version: nil)) }
        return made
    }

    /// Makes the candidate the active generation. The generation that was active stays for `rollback`.
    package func activate(_ name: String) throws(ProjectionHost.HostError) -> Catalog.Generation {
        _ = try kind(name)
        guard let candidate = find(name, .candidate) else {
            throw .nothingTo("There is no new \(name) to activate; run `projections rebuild \(name)` first.")
        }
        guard !candidate.isLoading else { throw .stillLoading(name) }
        return try change(name, from: candidate, old: find(name, .previous))
    }

    /// Makes the previous generation active again, and the active one previous.
    package func rollback(_ name: String) throws(ProjectionHost.HostError) -> Catalog.Generation {
        _ = try kind(name)
        guard let previous = find(name, .previous) else {
            throw .nothingTo("There is no previous \(name) to activate.")
        }
        return try change(name, from: previous, old: nil)
    }

    /// Makes `new` the active generation and the active one the previous.
    private func change(
        _ name: String, from new: FollowedProjection, old dropped: FollowedProjection?
    ) throws(ProjectionHost.HostError) -> Catalog.Generation {
        guard outdated[name] == nil else { throw .stillLoading(name) }
        guard let active = find(name, .active) else { throw .fault("No \(name) is active.") }
        try guarded { () throws(SQLiteError) in
            if let dropped { try drop(dropped.generation) }
            try catalog.assign([(new.generation, .active), (active.generation, .previous)])
            new.generation.role = .active
            active.generation.role = .previous
            publish(switched: true)
        }
        return new.generation
    }

    /// Deletes the candidates and previous generations of one projection or of all.
    package func prune(_ name: String?) throws(ProjectionHost.HostError) -> [Catalog.Generation] {
        if let name { _ = try kind(name) }
        // The successor of an outdated file stays.
        let gone = followed.map(\.generation).filter {
            $0.role != .active && (name == nil || $0.name == name) && outdated[$0.name] == nil
        }
        try guarded { () throws(SQLiteError) in
            for generation in gone { try drop(generation) }
            publish(switched: true)
        }
        return gone
    }

    /// The active generation and its candidate or predecessor, both loaded. Between two batches they are at the
    /// same place.
    package func pairForDiff(_ name: String) throws(ProjectionHost.HostError) -> (
        active: Catalog.Generation, other: Catalog.Generation
    ) {
        _ = try kind(name)
        guard outdated[name] == nil else { throw .stillLoading(name) }
        guard let other = find(name, .candidate) ?? find(name, .previous), let active = find(name, .active) else {
            throw .nothingTo("There is only one \(name); run `projections rebuild \(name)` first.")
        }
        guard !other.isLoading, !active.isLoading else { throw .stillLoading(name) }
        return (active.generation, other.generation)
    }
}
