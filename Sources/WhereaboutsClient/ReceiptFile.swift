import Cryptography
import Glibc
import HTTPServer
import JSON
import Replies

/// Where a client keeps the service's promises that its answers are recorded.
///
/// A client that keeps them refuses an answer about a person without one: such an answer may have no entry in the
/// person's log. Keep none only for a service that is too old to give them.
public enum ReceiptKeeping: Sendable, Equatable {
    /// One file for each person asked about, `HANDLE.receipts`, in this folder, which is made with the first receipt.
    case folder(String)
    /// One file, for a client that asks about one person.
    case file(String)
    /// Receipts are neither required nor kept.
    case notKept

    /// The folder of a service's receipts: `${XDG_STATE_HOME:-~/.local/state}/whereabouts-receipts/HOST`, for example
    /// `/home/ben/.local/state/whereabouts-receipts/where.example`. A `:` before a port becomes `_`.
    ///
    /// Without a home directory, receipts are in the working directory's `whereabouts-receipts/HOST`.
    ///
    /// - Parameter address: The service's address, for example `https://where.example`.
    public static func standard(for address: String) -> ReceiptKeeping {
        let host = address.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? address
        let name = host.map { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" ? String($0) : "_" }.joined()
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        let state = variable("XDG_STATE_HOME") ?? variable("HOME").map { $0 + "/.local/state" }
        return .folder((state.map { $0 + "/" } ?? "") + "whereabouts-receipts/" + name)
    }

    /// The same place, for a client that asks about one person.
    ///
    /// - Parameter person: A handle, without a `/`.
    package func about(_ person: String) -> ReceiptKeeping {
        if case .folder(let folder) = self { .file("\(folder)/\(person).receipts") } else { self }
    }

    /// The file for the receipt of a person's erasure: `HANDLE.erasures` in the folder of receipts.
    ///
    /// - Parameter person: A handle, without a `/`.
    package func erasures(of person: String) -> String {
        switch self {
        case .folder(let folder): "\(folder)/\(person).erasures"
        case .file(let path): path
        case .notKept: "\(person).erasures"
        }
    }
}

/// A file with the service's promises: each answer about a person has an entry in that person's own log.
///
/// The file has one receipt after the other, with an empty line between two. `whereabouts receipts check` and
/// `scripts/verify_proof.py --receipts` compare it with the person's proof; an answer that the service did not record is
/// named. Many processes may append to it.
package struct ReceiptFile: Sendable {
    /// The file, which is made with the first receipt, readable by its owner only. So is its folder.
    package let path: String

    /// A file, which need not exist yet.
    package init(path: String) { self.path = path }

    /// The header that brings a receipt in base 64.
    package static let header = "whereabouts-receipt"
    /// The longest receipt accepted, in bytes. Real ones have about 300.
    private static let bytesMax = 4096

    /// Keeps the receipt of an answer, on disk when this returns.
    ///
    /// - Parameter isRequired: Whether the answer shows something about a person.
    /// - Throws: ``ClientError/service(_:)`` if a receipt is missing or malformed, or cannot be written.
    func keep(_ response: HTTPResponse, isRequired: Bool) throws(ClientError) {
        guard let text = response.headers.first(where: { $0.name.lowercased() == Self.header })?.value else {
            guard isRequired else { return }
            throw .service(
                "The service answered without a receipt, so the answer is refused: it may not be recorded. For a service that is too old for receipts, choose to keep none (--no-receipts, or receipts = .notKept)."
            )
        }
        guard let note = Base64.decode(text), note.count <= Self.bytesMax, note.last == UInt8(ascii: "\n") else {
            throw .service("The service's receipt is not one, so the answer is refused.")
        }
        try append(note)
    }

    /// Adds a receipt, which is on disk when this returns.
    ///
    /// - Parameter note: The bytes of a signed note, which end with a line feed.
    /// - Throws: ``ClientError/service(_:)`` if it cannot be written. The file is then as before.
    package func append(_ note: [UInt8]) throws(ClientError) {
        makeFolders()
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX) == 0 else { throw failure }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure }
        let bytes = (status.st_size > 0 ? [UInt8(ascii: "\n")] : []) + note
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            // Half a receipt would make the others unreadable.
            _ = ftruncate(descriptor, status.st_size)
            throw failure
        }
    }

    /// Makes the folders of the file that do not exist. A failure shows when the file is opened.
    private func makeFolders() {
        for (offset, byte) in path.utf8.enumerated() where byte == UInt8(ascii: "/") && offset > 0 {
            _ = mkdir(String(decoding: path.utf8.prefix(offset), as: UTF8.self), 0o700)
        }
    }

    private var failure: ClientError {
        .service(
            "The receipt cannot be written to \(path): \(String(cString: strerror(errno))). Make room there, or name another file."
        )
    }
}

extension ServiceClient {
    /// The answers that show something about a person, and therefore have a receipt. The person is the first variable
    /// part of the path.
    private static let aboutPeople: [APIPath] = [
        .peopleLocation, .peopleTrack, .peopleVisits, .peopleVisit, .peopleCrossings, .peopleTrips, .peoplePlaces,
        .peopleSummary, .peopleAudit, .peopleFindings, .peopleExport, .peopleProof, .peopleCheckpoint, .peopleEnvelopes,
    ]

    /// The JSON of an answer whose receipt, if receipts are kept, is on disk.
    func value(of response: HTTPResponse, _ path: [String]) throws(ClientError) -> JSONValue {
        let value = try Self.value(of: response)
        // An answer that cannot be read may show a location.
        let isAnswered =
            APIPath.locationQuery.matches(path)
            && ((try? QueryAnswer.read(value)).map { $0?.location != nil || $0?.envelope != nil } ?? true)
        try keepReceipt(of: response, path, isAnswer: isAnswered)
        return value
    }

    /// Keeps the receipt of an answer that has status 2xx.
    ///
    /// - Parameter isAnswer: Whether it is the answer of a question and shows a location.
    /// - Throws: ``ClientError/service(_:)`` if receipts are kept, and the answer must have one and does not, or its
    ///   receipt cannot be stored.
    func keepReceipt(of response: HTTPResponse, _ path: [String], isAnswer: Bool = false) throws(ClientError) {
        let isRequired = isAnswer || Self.aboutPeople.contains { $0.matches(path) }
        let person = path.count > 2 && path[1] == "people" ? path[2] : nil
        let file: String
        switch receipts {
        case .notKept: return
        case .file(let path): file = path
        case .folder(let folder): file = "\(folder)/\(person ?? "questions").receipts"
        }
        try ReceiptFile(path: file).keep(response, isRequired: isRequired)
    }
}
