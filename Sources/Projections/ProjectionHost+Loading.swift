import Log
import SQLite
import Threading
import Whereabouts

/// How files are loaded from zero: in batches on the thread that owns them, or in slices beside traffic.
extension ProjectionHost.Worker {
    /// What the thread needs only while files are loaded.
    struct Loading {
        /// Makes room for live traffic.
        var throttle = LoadingThrottle(largestBatch: ProjectionHost.loadingBatch)
        /// Reads the log for the files that are loaded; `nil` if there are none.
        var scan: SharedScan?
        /// The slice that is being folded; its projections must not be used until it is over.
        var slice: LoadingSlice?
        /// When loading goes on after a fault of the log.
        var dueSeconds = -Double.infinity
    }

    /// Folds a batch into the files that are loaded from zero, or begins to, unless it is not due. `true` if there are
    /// none.
    func load() -> Bool {
        let files = working.filter(\.isLoading)
        if files.isEmpty { return true }
        let began = MonotonicClock.seconds
        loading.throttle.look(head: log.head, reads: host.readsSoFar, at: began)
        guard max(loading.throttle.dueSeconds, loading.dueSeconds) <= began else { return false }
        if loading.throttle.isBusy(at: began) {
            beginSlice(files)
            return false
        }
        let from = lowest(files)
        let isLoaded = advance(loading: true)
        noteLoaded(files, from: from, seconds: MonotonicClock.seconds - began)
        return isLoaded
    }

    /// Begins a slice of these files.
    private func beginSlice(_ files: [FollowedProjection]) {
        do throws(LogError) {
            // An empty request ends the rest of this thread, which then takes what the slice has done.
            let wake = { @Sendable [host] in host.wakeThread() }
            loading.slice = LoadingSlice(
                files, with: try scanForLoading(), to: log.head, limit: loading.throttle.batch, ended: wake)
        } catch {
            noteUnreadable(after: lowest(files), error)
        }
    }

    /// Waits until the slice is over, if there is one, and takes what it has done.
    func endSlice() {
        guard let slice = loading.slice else { return }
        let outcome = slice.end()
        loading.slice = nil
        for projection in slice.projections {
            let error = outcome.faults.first { $0.value.projection === projection }?.value.error
            attempt(projection) { () throws(SQLiteError) in if let error { throw error } }
        }
        if let (place, error) = outcome.unreadable { noteUnreadable(after: place, error) }
        noteLoaded(slice.projections, from: slice.from, seconds: outcome.seconds)
        if slice.projections.contains(where: { !$0.isLoading }) { publish(switched: true) }
    }

    /// Plans the next batch of files that were loaded, and the time left.
    private func noteLoaded(_ files: [FollowedProjection], from: Int64, seconds: Double) {
        let (now, folded) = (MonotonicClock.seconds, lowest(files) - from)
        if folded > 0 { loading.throttle.note(events: Int(folded), seconds: seconds, at: now) }
        for projection in files { projection.pace.note(place: projection.place, at: now) }
    }

    /// Notes a fault of the log that stops files from being loaded, until the next try.
    func noteUnreadable(after place: Int64, _ error: LogError) {
        stuck("The log cannot be folded after event \(place): \(error)", at: place)
        loading.dueSeconds = MonotonicClock.seconds + Self.secondsAfterAFault
    }

    /// The scan for files that are loaded, made when it is needed first: a slice has its reader on another thread.
    func scanForLoading() throws(LogError) -> SharedScan {
        if let scan = loading.scan { return scan }
        let made = SharedScan(try reader.another())
        loading.scan = made
        return made
    }

    /// Frees the scan for loading once no file is loaded, and events that were read ahead once a key is destroyed.
    func forgetLoading() {
        loading.scan?.forgetStale()
        if !followed.contains(where: \.isLoading) { loading.scan = nil }
    }
}
