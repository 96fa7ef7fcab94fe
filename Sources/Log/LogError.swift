import Glibc
package import SQLite
package import Whereabouts

/// A fault of the log or its keys. It never contains a person's data.
package enum LogError: Error, Sendable, CustomStringConvertible {
    /// SQLite failed, with its code and message.
    case sqlite(SQLiteError)
    /// A later version of the program wrote the file.
    case newerFormat(Int64)
    /// A later version introduced the kind of an event.
    case newerKind(number: Int64, kind: Int64)
    /// The file exists and is another application's.
    case notALog(path: String)
    /// The tables, triggers, indexes or identity of the log differ from those of this version.
    case altered(path: String, String)
    /// Another process has the data directory open.
    case inUse(processID: Int32)
    /// A system call on a file failed.
    case file(path: String, errno: Int32)
    /// The key-encryption key is missing, has another length or opens other keys; the text says which.
    case keyEncryptionKey(String)
    /// The log exists, but the file with its keys does not.
    case keysMissing(path: String)
    /// The log does not exist, but keys of its events do.
    case logMissing(path: String)
    /// The key-encryption key opens other keys in `keys.sqlite`, but not this one.
    case keyUnreadable(id: Int64)
    /// Other users can access the data directory or a file with secrets.
    case notPrivate(String)
    /// This program did not write the list of known backups.
    case backupList(String)
    /// The log's own bookkeeping does not match its rows.
    case damaged(number: Int64, String)
    /// The file has a write-ahead log, which cannot be read on read-only media.
    case hotJournal(path: String)
    /// Durable events are missing from the log.
    case lost(LogLoss)
    /// The log's database server failed, is unsafe or cannot be reached. The text is part of a sentence, without data.
    case server(String)
    /// Another process has taken the log over.
    case fenced
    /// The connection to the server of the log ended, or warned, while a batch became durable; the text says how.
    case commitUnknown(String)
    /// The server of the log has a batch that could not be written into the copy; the text says why.
    case copyBehind(String)
    /// The server of the log has another log than the data directory, or none; the text says what to do.
    case otherLog(String)
    /// The writer stopped after an earlier fault.
    case stopped

    /// One sentence with advice for the operator.
    package var description: String {
        switch self {
        case .sqlite(let error): "The database failed: \(error)."
        case .newerFormat(let format):
            "The log has format \(format), which a later version wrote; this one reads up to \(LogSchema.format). Install the later version."
        case .newerKind(let number, let kind):
            "Event \(number) is of kind \(kind), which a later version introduced. Install the later version."
        case .notALog(let path): "\(path) is not a log of this program; choose another --data directory."
        case .altered(let path, let what):
            "The tables of \(path) differ from those of this version: \(what). Restore a backup; `verify` shows which events are good."
        case .inUse(let processID):
            "Another service (process \(processID)) uses this data directory; stop it or choose another --data directory."
        case .file(let path, let errno): "\(path): \(String(cString: strerror(errno)))."
        case .keyEncryptionKey(let why): "The key-encryption key cannot be used: \(why)"
        case .keysMissing(let path):
            "\(path) is missing, and the log's sealed parts cannot be read without it; put it back from a backup. If there is none, make an empty file of that name; the sealed data is then lost."
        case .logMissing(let path):
            "\(path) is missing, and keys.sqlite has keys of its events; put it back, or restore a backup into another directory. To begin an empty log, move keys.sqlite away."
        case .keyUnreadable(let id):
            "Key \(id) in keys.sqlite is damaged, so nothing can be recorded about its person this month; stop the service and put keys.sqlite back from a backup."
        case .notPrivate(let sentence): sentence
        case .backupList(let path):
            "\(path) is not the list of backups that this program wrote; put it back, or remove it and handle erasures in the keys.sqlite of older backups yourself."
        case .damaged(let number, let what): "Event \(number) is damaged: \(what)."
        case .hotJournal(let path):
            "\(path)-wal has data that is not in \(path) yet, and cannot be read on read-only media; copy the whole folder to a writable place, and name the copy with --data."
        case .lost(let loss): loss.description
        case .server(let what): "The log's database server cannot be used: \(what)."
        case .fenced: "Another process has taken the log over, so this one stops; nothing that it acknowledged is lost."
        case .commitUnknown(let how):
            "It is not known whether the newest events are durable: \(how). The next start reads it from the database server."
        case .copyBehind(let why):
            "The log's database server has events that log.sqlite could not take: \(why) Start the service again when the cause is gone."
        case .otherLog(let sentence): sentence
        case .stopped: "The log stopped after a fault; see the diagnostics, then start the service again."
        }
    }
}

/// Why a command was not appended.
package enum AppendFailure: Error, Sendable {
    /// The decision refused the command. Nothing is broken.
    case refused(Refusal)
    /// Too many commands wait; the same command may be sent again.
    case busy(retryAfterSeconds: Int)
    /// The disk is full; the same command may be sent again when there is space.
    case full
    /// An older fix cannot be looked up yet, as the sentence says; the same command may be sent again.
    case notYet(String, retryAfterSeconds: Int)
    /// This process follows the log, and only the process that writes it can decide the command.
    case elsewhere
    /// The log has stopped, or stopped while the command waited. Whether it was appended is then unknown.
    case fault(LogError)
}

extension LogError {
    /// Whether the disk was full. Nothing was synced, and the transaction was rolled back.
    var isFull: Bool { if case .sqlite(let error) = self { error.isFull } else { false } }
}

extension Command {
    /// Whether the command is accepted while the disk is full. Commands that add data are refused. Commands that show,
    /// end, withdraw or erase something are accepted, and so are the house's records of its acts.
    var isTakenWithoutRoom: Bool {
        switch self {
        case .addPerson, .addDevice, .giveGrant, .invite, .redeemInvitation, .inviteToAccount, .openAccount, .addRegion,
            .correct, .setSchedule, .askScheduled, .addWebhook, .reportFixes, .importFixes, .beginImport,
            .registerPushToken,
            .queryLocation,
            .testPush:
            false
        default: true
        }
    }
}

/// The outcome of an append.
package struct Receipt: Sendable {
    /// The result of the command, by its kind.
    package let reply: CommandReply
    /// The number to wait for to see the command's effect in an answer; the head of the log if nothing was appended.
    package let last: Int64
    /// Whether an event was appended, now or when the same request came before. ``last`` is then the command's own
    /// event.
    package let isOfEvent: Bool
    /// When the event was recorded, or now if none was.
    package let recordedAt: Timestamp
    /// The event that records an answer about a person; `nil` for other commands.
    package var disclosed: RecordedEvent?
    /// The signed promise of the process that recorded the answer, if that is another one.
    package var promise: String?

    /// The receipt of a read that another process has recorded.
    package static func ofRead(_ number: Int64, at time: Timestamp, promise: String?) -> Receipt {
        Receipt(reply: .done, last: number, isOfEvent: true, recordedAt: time, promise: promise)
    }
}
