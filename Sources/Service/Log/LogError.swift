import Glibc
package import SQLite
package import Whereabouts

/// A fault of the log or its keys. Never a person's data.
package enum LogError: Error, Sendable, CustomStringConvertible {
    case sqlite(SQLiteError)
    /// The file is of a later version of the program.
    case newerFormat(Int64)
    /// An event is of a kind that a later version brought.
    case newerKind(number: Int64, kind: Int64)
    case notALog(path: String)
    /// The tables, triggers or indexes of the log, or what it says of itself, are not what this version makes.
    case altered(path: String, String)
    /// Another process holds the data directory.
    case inUse(processID: Int32)
    case file(path: String, errno: Int32)
    case keyEncryptionKey(String)
    /// The log is there, and the file with its keys is not.
    case keysMissing(path: String)
    /// A key is in `keys.sqlite` and does not open with the key-encryption key, which opens others.
    case keyUnreadable(id: Int64)
    /// A file that holds secrets, or the data directory, can be reached by others.
    case notPrivate(String)
    /// The list of known backups is not what this program wrote.
    case backupList(String)
    /// What the log says of itself does not fit its rows.
    case damaged(number: Int64, String)
    /// The file has events in its write-ahead log, and that cannot be read where nothing can be written.
    case hotJournal(path: String)
    /// Events that were durable are not in the log any more.
    case lost(LogLoss)
    /// The writer stopped after an earlier fault.
    case stopped

    package var description: String {
        switch self {
        case .sqlite(let error): "The database failed: \(error)."
        case .newerFormat(let format):
            "The log has format \(format), which a later version wrote; this one reads up to \(LogSchema.format). Install the later version."
        case .newerKind(let number, let kind):
            "Event \(number) is of kind \(kind), which a later version brought. Install the later version."
        case .notALog(let path): "\(path) is not a log of this program; choose another --data directory."
        case .altered(let path, let what):
            "\(path) is not as this version makes it: \(what). Restore a backup; `verify` says which events are whole."
        case .inUse(let processID):
            "Another service (process \(processID)) uses this data directory; stop it or choose another --data directory."
        case .file(let path, let errno): "\(path): \(String(cString: strerror(errno)))."
        case .keyEncryptionKey(let why): "The key-encryption key cannot be used: \(why)"
        case .keysMissing(let path):
            "\(path) is missing, and the log's sealed parts cannot be read without it; put it back from a backup. If there is none, make an empty file of that name: what was sealed is then lost."
        case .keyUnreadable(let id):
            "Key \(id) in keys.sqlite is damaged, so nothing can be recorded of its person this month; stop the service and put keys.sqlite back from a backup."
        case .notPrivate(let sentence): sentence
        case .backupList(let path):
            "\(path) is not the list of backups that this program wrote; put it back, or remove it and look after the keys.sqlite in older backups yourself."
        case .damaged(let number, let what): "Event \(number) is damaged: \(what)."
        case .hotJournal(let path):
            "\(path)-wal holds what is not in \(path) yet, and cannot be read where nothing can be written; copy the whole folder to where you can write, and name the copy with --data."
        case .lost(let loss): loss.description
        case .stopped: "The log stopped after a fault; see the diagnostics, then start the service again."
        }
    }
}

/// Why a command was not appended.
package enum AppendFailure: Error, Sendable {
    case refused(Refusal)
    /// Too much is waiting, or an older fix cannot be looked up yet; the same command may be sent again.
    case busy(retryAfterSeconds: Int)
    /// The disk is full; the same command may be sent again when there is room.
    case full
    case fault(LogError)
}

extension LogError {
    /// There was no room to write; nothing was synced, and the transaction is rolled back.
    var isFull: Bool { if case .sqlite(let error) = self { error.isFull } else { false } }
}

extension Command {
    /// Whether this is decided while the disk is full. What adds to what the log holds waits outside; what shows, ends,
    /// withdraws or erases something is taken, and so is what the house itself has to say of what it did.
    var isTakenWithoutRoom: Bool {
        switch self {
        case .addPerson, .addDevice, .giveGrant, .invite, .redeemInvitation, .inviteToAccount, .openAccount, .addRegion,
            .correct, .setSchedule, .askScheduled, .addWebhook, .reportFixes, .registerPushToken, .queryLocation,
            .testPush:
            false
        default: true
        }
    }
}

/// What an append came to.
package struct Receipt: Sendable {
    package let reply: Reply
    /// Wait for this number to see the effect of the command in an answer; the head of the log if nothing was appended.
    package let last: Int64
    /// Whether something was appended, now or when the same request came before: ``last`` is then the command's own event.
    package let isOfEvent: Bool
    package let recordedAt: Timestamp
}
