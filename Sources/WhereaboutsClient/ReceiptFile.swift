import Cryptography
import Glibc
import HTTPServer
import JSON
import Replies

/// A file in which a client keeps the service's promises: each answer about a person has an entry in that person's own
/// log. With such a file, an answer without a promise is refused.
///
/// The file has one receipt after the other, with an empty line between two. `whereabouts receipts check` and
/// `scripts/verify_proof.py --receipts` compare it with the person's proof; an answer that the service did not record is
/// named. Use one file for each person asked about. Many processes may append to it.
///
///     var client = try ServiceClient(address: "https://where.example", token: "wp_…")
///     client.receipts = ReceiptFile(path: "/home/ben/receipts")
public struct ReceiptFile: Sendable {
    /// The file, which is created with the first receipt, readable by its owner only.
    public let path: String

    /// A file, which need not exist yet.
    public init(path: String) { self.path = path }

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
            throw .service("The service answered without a receipt, so the answer is refused: it may not be recorded.")
        }
        guard let note = Base64.decode(text), note.count <= Self.bytesMax, note.last == UInt8(ascii: "\n") else {
            throw .service("The service's receipt is not one, so the answer is refused.")
        }
        try append(note)
    }

    private func append(_ note: [UInt8]) throws(ClientError) {
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

    private var failure: ClientError {
        .service(
            "The receipt cannot be written to \(path): \(String(cString: strerror(errno))). The answer is refused.")
    }
}

extension ServiceClient {
    /// The answers that say where a person is or was.
    private static let aboutPlaces: [APIPath] = [
        .peopleLocation, .peopleTrack, .peopleVisits, .peopleCrossings, .peopleTrips, .peoplePlaces,
    ]

    /// The JSON of an answer whose receipt, if receipts are kept, is on disk.
    func value(of response: HTTPResponse, _ path: [String]) throws(ClientError) -> JSONValue {
        let value = try Self.value(of: response)
        guard let receipts else { return value }
        let isAboutPlaces = Self.aboutPlaces.contains { $0.matches(path) }
        // An answer that cannot be read may show a location.
        let isAnswered =
            APIPath.locationQuery.matches(path)
            && ((try? QueryAnswer.read(value)).map { $0?.location != nil } ?? true)
        try receipts.keep(response, isRequired: isAboutPlaces || isAnswered)
        return value
    }
}
