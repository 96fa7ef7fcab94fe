import Cryptography
import FixRuns
import Glibc
import Whereabouts

extension FixIdentities {
    /// The usable runs of a folder, in order and without overlap. The other runs are removed.
    static func runs(
        in folder: String, _ log: LogIdentity, _ erased: Int, _ key: SipHash, _ reader: LogReader
    ) -> [FixRun] {
        guard (try? DataDirectory.makeDirectory(folder)) != nil else { return [] }
        var found: [FixRun] = []
        for name in DataDirectory.names(in: folder) {
            if name.hasSuffix(".run.new") { unlink("\(folder)/\(name)") }
            guard name.hasSuffix(".run") else { continue }
            do throws(FixRunFailure) {
                let run = try FixRun(path: "\(folder)/\(name)", key: key)
                try check(run, name, log, erased, reader)
                found.append(run)
            } catch {
                Diagnostics.note(
                    "identities.refold",
                    "The file \(name) of the index of fixes cannot be used (\(error)); it is folded again from the log."
                )
                if case .file = error { continue }
                unlink("\(folder)/\(name)")
            }
        }
        // A crash between writing a merged run and removing its parts leaves both: the longer run counts.
        found.sort { ($0.header.from, -$0.header.to) < ($1.header.from, -$1.header.to) }
        var runs: [FixRun] = []
        for run in found {
            if let last = runs.last, run.header.from < last.header.to { unlink(run.path) } else { runs.append(run) }
        }
        return runs
    }

    /// Throws unless a run belongs to this log and epoch, ends at an event that the log has, and was written by no
    /// later state of the log.
    private static func check(
        _ run: FixRun, _ name: String, _ log: LogIdentity, _ erased: Int, _ reader: LogReader
    ) throws(FixRunFailure) {
        let header = run.header
        guard name == "\(header.from)-\(header.to).run", header.log == log.id, header.epoch == log.epoch,
            header.to <= log.size, header.erased <= erased,
            let event = try? reader.storedEvents(after: header.to - 1, limit: 1).first,
            event.header.number == header.to, event.leaf == header.leaf
        else { throw .foreign }
    }
}
