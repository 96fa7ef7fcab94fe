import SQLite
import Synchronization
import Whereabouts

/// Tells the writer whether a fix is among the timeline's rows. Used by the writer's thread, except ``follow(_:)``.
final class TimelineLookup: @unchecked Sendable {
    // `host` is guarded by the mutex; the file is touched by the writer's thread alone.
    private let host = Mutex<ProjectionHost?>(nil)
    private var file: ProjectionFile?
    private var switches = -1

    /// The projections exist only after the log does; until then nothing is folded.
    func follow(_ host: ProjectionHost) { self.host.withLock { $0 = host } }

    /// Up to which number the answers are complete.
    var place: Int64 { host.withLock { $0 }?.place(of: TimelineTable.name) ?? -1 }

    /// `nil` when the timeline cannot be read just now.
    func row(of fix: Fix, device: DeviceID, person: PersonID) -> FixTail.Row? {
        guard let host = host.withLock({ $0 }) else { return nil }
        do throws(SQLiteError) {
            if host.switches != switches {
                switches = host.switches
                file = try host.activePath(of: TimelineTable.name).map { (path) throws(SQLiteError) in
                    try ProjectionFile(path: path, access: .readOnly)
                }
            }
            guard let file else { return nil }
            let number = try TimelineReader.number(of: fix, device: device, person: person, in: file.connection)
            return number.map { .from($0) } ?? FixTail.Row.none
        } catch {
            file = nil
            switches = -1
            return nil
        }
    }
}
