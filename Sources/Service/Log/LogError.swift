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
    /// The tables, triggers, indexes or identity of the log differ from those of this version.
    case altered(path: String, String)
    /// Another process holds the data directory.
    case inUse(processID: Int32)
    case file(path: String, errno: Int32)
    case keyEncryptionKey(String)
    /// The log exists, but the file with its keys does not.
    case keysMissing(path: String)
    /// The key-encryption key opens other keys in `keys.sqlite`, but not this one.
    case keyUnreadable(id: Int64)
    /// Other users can reach the data directory or a file with secrets.
    case notPrivate(String)
    /// This program did not write the list of known backups.
    case backupList(String)
    /// What the log says of itself does not fit its rows.
    case damaged(number: Int64, String)
    /// The file has a write-ahead log, which cannot be read on read-only media.
    case hotJournal(path: String)
    /// Durable events are missing from the log.
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
    /// Too much is waiting; the same command may be sent again.
    case busy(retryAfterSeconds: Int)
    /// The disk is full; the same command may be sent again when there is space.
    case full
    /// An older fix cannot be looked up yet, as the sentence says; the same command may be sent again.
    case notYet(String, retryAfterSeconds: Int)
    case fault(LogError)
}

extension LogError {
    /// Whether the disk was full. Nothing was synced, and the transaction was rolled back.
    var isFull: Bool { if case .sqlite(let error) = self { error.isFull } else { false } }
}

extension Command {
    /// Whether the command is accepted while the disk is full. Commands that add data are refused. Commands that show, end,
    /// withdraw or erase something are accepted, and so are the house's records of its own acts.
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
