import Cryptography
import FixRuns
import Glibc
import Synchronization
import Threading
import Whereabouts

extension FixIdentities {
    /// A piece of the thread's work.
    private enum Work {
        /// Write marks that were handed over as a run.
        case write([FixMark], from: Int64, to: Int64)
        /// Fold missing events from the log into a run.
        case fold(from: Int64, to: Int64)
        /// Write a run without the marks of erased persons.
        case forget(FixRun)
        /// Merge neighboring runs into one.
        case merge([FixRun])
        case stop
    }

    /// The events read from the log at a time.
    private static let eventsPerRead = 4096

    /// The thread. It opens its reader at the first work, and again after a failure if there is none.
    func run() {
        var reader: LogReader?
        while true {
            let seconds = state.read { $0.pausedUntil } - MonotonicClock.seconds
            let milliseconds = seconds > 0 ? Int(seconds * 1000) + 1 : nil
            guard let task = state.wait(milliseconds: milliseconds, for: { next(&$0) }) else { continue }
            if case .forget(let run) = task {
                forget(run)
                state.change { $0.erasedAtWork = nil }
                continue
            }
            do throws(LogError) {
                if reader == nil { reader = try LogReader(path: path, keys: keys) }
                guard let reader else { continue }
                if case .stop = task {
                    try? writeTheRest(reader)
                    return
                }
                try work(task, reader)
                state.change { state in (state.trouble, state.erasedAtWork) = (nil, nil) }
            } catch {
                if case .stop = task { return }
                pause(error)
            }
        }
    }

    /// Reports a failure once, and has the work tried again after a while.
    private func pause(_ error: LogError) {
        let isNew = state.change { state in
            defer {
                state.trouble = "\(error)"
                state.erasedAtWork = nil
                state.pausedUntil = MonotonicClock.seconds + settings.pauseSeconds
            }
            return state.trouble == nil
        }
        if isNew {
            Diagnostics.fault(
                "identities.stuck",
                "The index of fixes cannot follow the log: \(error) The service tries again by itself.")
        }
    }

    /// Whether enough durable events are in memory for a run.
    func isDue(_ state: State) -> Bool {
        min(state.handed, state.durable) - state.view.floor >= settings.eventsPerRun
    }

    /// The next piece of work; `nil` if there is none.
    private func next(_ state: inout State) -> Work? {
        if state.isStopping { return .stop }
        let erased = state.erased.count
        let task: Work? =
            if let run = state.view.runs.first(where: { $0.header.erased < erased }) {
                // A failure does not delay this: a run that cannot be written anew is removed.
                .forget(run)
            } else if MonotonicClock.seconds < state.pausedUntil {
                nil
            } else if isDue(state) {
                write(state)
            } else if let hole = state.holes.first {
                .fold(
                    from: hole.lowerBound - 1, to: min(hole.upperBound, hole.lowerBound - 1 + settings.eventsPerFold))
            } else if let runs = FixRun.mergeable(state.view.runs), hasRoom(for: runs) {
                .merge(runs)
            } else {
                nil
            }
        if task != nil { state.erasedAtWork = erased }
        return task
    }

    /// Whether the disk has space for a run with the marks of these.
    private func hasRoom(for runs: [FixRun]) -> Bool {
        room?.allows(runs.reduce(0) { $0 + FixRun.bytes(ofMarks: $1.header.marks) }) ?? true
    }

    /// The work of writing the marks in memory whose events are durable.
    private func write(_ state: State) -> Work {
        let to = min(state.handed, state.durable)
        let count = state.inbox.firstIndex { $0.number > to } ?? state.inbox.count
        return .write(Array(state.inbox[..<count]), from: state.view.floor, to: to)
    }

    /// Does a piece of work that can fail. The other kinds handle their failures.
    private func work(_ task: Work, _ reader: LogReader) throws(LogError) {
        switch task {
        case .write(let marks, let from, let to): try write(marks, from: from, to: to, reader, movesFloor: true)
        case .fold(let from, let to):
            guard let marks = try marks(after: from, to: to, reader) else { return }
            try write(marks, from: from, to: to, reader, movesFloor: false)
        case .merge(let runs): try merge(runs)
        case .forget, .stop: break
        }
    }

    /// Writes the marks in memory at an orderly stop, unless there are few.
    private func writeTheRest(_ reader: LogReader) throws(LogError) {
        let rest = state.read { state in
            min(state.handed, state.durable) - state.view.floor >= settings.fewEvents ? write(state) : nil
        }
        guard case .write(let marks, let from, let to) = rest else { return }
        try write(marks, from: from, to: to, reader, movesFloor: true)
    }

    /// The marks of the events after `number` up to `end`; `nil` if the thread is stopping.
    func marks(after number: Int64, to end: Int64, _ reader: LogReader) throws(LogError) -> [FixMark]? {
        var marks: [FixMark] = []
        let isWhole = try scan(after: number, to: end, reader, isStopping: { [state] in state.read { $0.isStopping } })
        {
            if let mark = $1 { marks.append(mark) }
        }
        return isWhole ? marks : nil
    }

    /// Gives `body` each fix among the events after `number` up to `end`: the number of its event and its mark, `nil`
    /// if the event does not open.
    ///
    /// - Returns: `false` if the thread was stopped before the end.
    func scan(
        after number: Int64, to end: Int64, _ reader: LogReader, isStopping: () -> Bool,
        _ body: (Int64, FixMark?) -> Void
    ) throws(LogError) -> Bool {
        var place = number
        while place < end {
            if isStopping() { return false }
            let events = try reader.events(after: place, limit: Int(min(Int64(Self.eventsPerRead), end - place)))
            guard let last = events.last else {
                throw .damaged(number: place + 1, "the log says it has \(end) events")
            }
            for (event, _) in events {
                guard let (device, fix) = event.event.identified, let person = event.stream.person else { continue }
                let mark = fix.map {
                    FixMark(hash: hash(of: $0, device: device), number: event.number, person: person)
                }
                body(event.number, mark)
            }
            place = last.event.number
        }
        return true
    }

    /// Writes a run and puts it into the view.
    ///
    /// - Parameter movesFloor: Whether the marks come from memory, and are dropped there.
    private func write(
        _ marks: [FixMark], from: Int64, to: Int64, _ reader: LogReader, movesFloor: Bool
    ) throws(LogError) {
        guard let event = try reader.storedEvents(after: to - 1, limit: 1).first, event.header.number == to else {
            throw .damaged(number: to, "it is missing")
        }
        if let room, !room.allows(FixRun.bytes(ofMarks: Int64(marks.count))) {
            throw .file(path: settings.folder, errno: ENOSPC)
        }
        let erased = state.read { $0.erased }
        let kept = erased.isEmpty ? marks.sorted() : marks.filter { !erased.contains($0.person) }.sorted()
        let header = FixRun.Header(
            log: log, epoch: epoch, from: from, to: to, leaf: event.leaf, erased: Int64(erased.count), marks: 0)
        try DataDirectory.makeDirectory(settings.folder)
        let run = try wrapped { () throws(FixRunFailure) in
            var writer = try FixRun.Writer(folder: settings.folder, header, key: tagKey)
            for mark in kept { try writer.append(mark) }
            return try writer.finish()
        }
        replace([], by: run) { state in
            guard movesFloor else { return }
            state.view.floor = max(state.view.floor, to)
            state.inbox.removeFirst(state.inbox.firstIndex { $0.number > state.view.floor } ?? state.inbox.count)
        }
    }

    /// Does `body`; a failure of a run becomes one of a file.
    private func wrapped<R>(_ body: () throws(FixRunFailure) -> R) throws(LogError) -> R {
        do throws(FixRunFailure) { return try body() } catch {
            if case .file(let errno) = error { throw .file(path: settings.folder, errno: errno) }
            throw .file(path: settings.folder, errno: EIO)
        }
    }

    /// Puts a run in place of others, in one change of the view, and deletes their files. If a run that overlaps it has
    /// appeared meanwhile, the new one is deleted instead.
    private func replace(_ old: [FixRun], by run: FixRun, _ also: (inout State) -> Void = { _ in }) {
        let isUsed = state.change { state in
            // A run may have been discarded meanwhile. The new one is still good: its blocks were read before and had
            // valid tags.
            also(&state)
            let rest = state.view.runs.filter { known in !old.contains { $0 === known } }
            let overlaps = rest.contains { $0.header.from < run.header.to && run.header.from < $0.header.to }
            state.change(overlaps ? rest : rest + [run])
            generationHint.store(state.view.generation, ordering: .releasing)
            return !overlaps
        }
        for old in old where old.path != run.path { unlink(old.path) }
        if !isUsed { unlink(run.path) }
    }

    /// Writes a run anew without the marks of erased persons. If that is not possible, removes the run: it can be
    /// folded again, and the marks of an erased person must not stay.
    private func forget(_ run: FixRun) {
        let erased = state.read { $0.erased }
        guard hasRoom(for: [run]) else { return discard(run, .file(errno: ENOSPC)) }
        do throws(FixRunFailure) {
            let made = try rewrite([run], without: erased)
            if let made { replace([run], by: made) }
        } catch { discard(run, error) }
    }

    /// Merges runs. A damaged one among them is discarded; its events are then folded from the log.
    private func merge(_ runs: [FixRun]) throws(LogError) {
        let erased = state.read { $0.erased }
        do throws(FixRunFailure) {
            if let made = try rewrite(runs, without: erased) { replace(runs, by: made) }
        } catch {
            if case .file(let errno) = error { throw .file(path: settings.folder, errno: errno) }
            // Reading each run alone shows which one is damaged.
            for run in runs {
                do throws(FixRunFailure) {
                    var cursor = try FixRun.Cursor(run)
                    while cursor.mark != nil { try cursor.advance() }
                } catch { discard(run, error) }
            }
        }
    }

    /// Merges neighboring runs into one; `nil` if the thread is stopping.
    private func rewrite(_ runs: [FixRun], without erased: Set<PersonID>) throws(FixRunFailure) -> FixRun? {
        try FixRun.merged(runs, without: erased, in: settings.folder, key: tagKey, epoch: epoch) {
            state.read { $0.isStopping }
        }
    }
}
