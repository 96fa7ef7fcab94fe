import Cryptography
import JSON
import Log
import Whereabouts

// The body of a reader's message, with at most 256 reads; an empty list asks only for `head`:
//
//     {"log":"0f9c…","epoch":1,"reads":[{"request":"6ba7…","token":17,"person":"anna","question":3,"from":1795600000000,
//      "to":1795680000000,"purpose":"…","continuing":"…","mark":"b1…","asOf":4711,"count":12,"hash":"9f…",
//      "envelopes":{"hashes":"…","keys":"…"}}]}
//
// `from`, `to`, `purpose`, `continuing` and `envelopes` may be missing. Times are milliseconds since 1970, bytes are
// hexadecimal digits. `mark` is the SHA-256 of `Standing.readingMark(_:)` when the reader sent the message.
//
// The body of the answer, with one item for each read in the same order:
//
//     {"head":4720,"reads":[{"number":4719,"at":1795680000123,"promise":"d2hl…"},{}]}
//
// `number` is the event that records the read; it is durable. `promise` is the header `Whereabouts-Receipt` of the answer.
// An empty item was not recorded: the reader passes the client's request on.

/// A read that a reader has computed and that is to be recorded.
struct SentRead: Sendable {
    let request: RequestID
    let token: TokenID
    let question: ReadQuestion
    let mark: [UInt8]
    let asOf: Int64
    let count: Int64
    let hash: Hash256
    let envelopes: DisclosedEnvelopes?
}

/// A message of a reader.
struct RecordRequest: Sendable {
    /// The most reads of a message.
    static let readsMax = 256
    /// The most bytes of a message. 256 reads with the longest purpose, of 4 bytes a character, are about half of it.
    static let bytesMax = 1 << 20

    let log: String
    let epoch: Int64
    let reads: [SentRead]

    /// The bytes of the message.
    var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 256 + 512 * reads.count)
        writer.beginObject()
        writer.field("log", log)
        writer.field("epoch", epoch)
        writer.array("reads") { array in
            for read in reads { Self.write(read, to: &array) }
        }
        writer.endObject()
        return writer.bytes
    }

    private static func write(_ read: SentRead, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("request", read.request.description)
        writer.field("token", read.token.rawValue)
        writer.field("person", read.question.subject.text)
        writer.field("question", read.question.question.rawValue)
        if let from = read.question.from { writer.field("from", from.milliseconds) }
        if let to = read.question.to { writer.field("to", to.milliseconds) }
        if let purpose = read.question.purpose { writer.field("purpose", purpose) }
        if let continuing = read.question.continuing { writer.field("continuing", continuing.description) }
        writer.field("mark", Hex.encode(read.mark))
        writer.field("asOf", read.asOf)
        writer.field("count", read.count)
        writer.field("hash", Hex.encode(read.hash.bytes))
        if let envelopes = read.envelopes {
            writer.object("envelopes") { object in
                object.field("hashes", Hex.encode(envelopes.hashes))
                object.field("keys", Hex.encode(envelopes.keys))
            }
        }
        writer.endObject()
    }

    init(log: String, epoch: Int64, reads: [SentRead]) { (self.log, self.epoch, self.reads) = (log, epoch, reads) }

    /// Reads a message; `nil` if it has another form.
    init?(_ body: [UInt8]) {
        guard let root = try? JSONDocument.parse(body).root, let log = root["log"]?.string,
            let epoch = root["epoch"]?.int, let items = root["reads"]?.array
        else { return nil }
        var reads: [SentRead] = []
        for item in items {
            guard reads.count < Self.readsMax, let read = Self.read(item) else { return nil }
            reads.append(read)
        }
        (self.log, self.epoch, self.reads) = (log, epoch, reads)
    }

    private static func read(_ item: JSONValue) -> SentRead? {
        func time(_ key: String) -> Timestamp? { item[key]?.int.map { Timestamp(milliseconds: $0) } }
        guard let request = item["request"]?.string.flatMap({ RequestID($0) }), !request.isOfKeyedRequest,
            let token = item["token"]?.int, let person = item["person"]?.string.flatMap({ Handle($0) }),
            let question = item["question"]?.int.flatMap({ LocationRead.Question(rawValue: $0) }),
            let mark = item["mark"]?.string.flatMap({ Hex.decode($0) }), mark.count == 32,
            let asOf = item["asOf"]?.int, asOf >= 0, let count = item["count"]?.int, count >= 0,
            let hash = item["hash"]?.string.flatMap({ Hex.decode($0) }).flatMap({ Hash256(bytes: $0) })
        else { return nil }
        let purpose = item["purpose"]?.string
        guard purpose.map({ $0.unicodeScalars.count <= Limits.purposeCharacters }) ?? true else { return nil }
        let continuing = item["continuing"]?.string.flatMap { RequestID($0) }
        var envelopes: DisclosedEnvelopes?
        if let given = item["envelopes"] {
            guard let hashes = given["hashes"]?.string.flatMap({ Hex.decode($0) }), hashes.count % 32 == 0,
                let keys = given["keys"]?.string.flatMap({ Hex.decode($0) })
            else { return nil }
            envelopes = DisclosedEnvelopes(hashes: hashes, keys: keys)
        }
        return SentRead(
            request: request, token: TokenID(rawValue: token),
            question: ReadQuestion(
                subject: person, question: question, from: time("from"), to: time("to"), purpose: purpose,
                continuing: continuing), mark: mark, asOf: asOf, count: count, hash: hash, envelopes: envelopes)
    }
}

/// The answer to a reader's message.
struct RecordAnswer: Sendable {
    /// The most bytes of an answer.
    static let bytesMax = 1 << 20

    /// The record of a read.
    struct Recorded: Sendable {
        let number: Int64
        let at: Timestamp
        let promise: String?
    }

    /// The newest durable event.
    let head: Int64
    /// By the order of the request; `nil` for a read that was not recorded.
    let reads: [Recorded?]

    init(head: Int64, reads: [Recorded?]) { (self.head, self.reads) = (head, reads) }

    /// The bytes of the answer.
    var bytes: [UInt8] {
        var writer = JSONWriter(capacity: 64 + 512 * reads.count)
        writer.beginObject()
        writer.field("head", head)
        writer.array("reads") { array in
            for read in reads {
                array.beginObject()
                if let read {
                    array.field("number", read.number)
                    array.field("at", read.at.milliseconds)
                    if let promise = read.promise { array.field("promise", promise) }
                }
                array.endObject()
            }
        }
        writer.endObject()
        return writer.bytes
    }

    /// Reads an answer to a message with so many reads; `nil` if it has another form.
    init?(_ body: [UInt8], to count: Int) {
        guard let root = try? JSONDocument.parse(body).root, let head = root["head"]?.int,
            let items = root["reads"]?.array
        else { return nil }
        let reads = items.prefix(count + 1).map { item -> Recorded? in
            guard let number = item["number"]?.int, let at = item["at"]?.int else { return nil }
            return Recorded(number: number, at: Timestamp(milliseconds: at), promise: item["promise"]?.string)
        }
        guard reads.count == count else { return nil }
        (self.head, self.reads) = (head, reads)
    }
}
