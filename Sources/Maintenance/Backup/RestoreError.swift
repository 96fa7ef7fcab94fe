package import Whereabouts

/// Why a backup was not restored. Nothing has been changed then.
package enum RestoreError: Error, Sendable, CustomStringConvertible {
    /// The folder has no readable `backup.json`.
    case noBackup(String)
    /// The backup has this format, which a later version wrote.
    case newerBackup(Int64)
    /// The directory already has this file of a log.
    case occupied(String)
    /// There is no key-encryption key in this directory, among systemd's credentials or on the command line.
    case noKeyEncryptionKey(String)
    /// The key-encryption key does not open all of the backup's keys.
    case wrongKeyEncryptionKey
    /// The backup does not fit its manifest; the text names the difference.
    case notAsSaid(String)
    /// A moment was named for a backup, which has only one.
    case ofOneMoment(Timestamp)
    /// The shipped folder cannot be restored up to the wanted event; the text says why, and what to do.
    case notShipped(String)
    /// A batch is damaged, or batches are missing; so many events come before.
    case broken(String, events: Int64)

    /// One sentence for an operator.
    package var description: String {
        switch self {
        case .noBackup(let folder):
            "\(folder) is not a complete backup; name a folder that `backup` made, or the folder of a log in the directory of \"shipping\"."
        case .newerBackup(let format):
            "The backup has format \(format), which a later version wrote; install the later version."
        case .occupied(let file):
            "\(file) already exists, and restore overwrites nothing; name an empty --data directory."
        case .noKeyEncryptionKey(let path):
            "A backup does not contain the key-encryption key; put the kek into \(path), or name it with --kek."
        case .wrongKeyEncryptionKey:
            "This kek does not open the keys of the backup; name the kek of that time with --kek."
        case .notAsSaid(let what): "The backup has changed since it was made: \(what) Use another one."
        case .ofOneMoment: "A backup is of one moment: leave --until and --number out, or name a shipped folder."
        case .notShipped(let sentence): sentence
        case .broken(let what, let events):
            events == 0
                ? "\(what); no event comes before." : "\(what); restore the events before it with --number \(events)."
        }
    }
}
