package import Cryptography
import Synchronization
import Threading
package import Whereabouts

// A message from a reader to the process that writes the log is a POST with one header, and so is its answer:
//
//     Whereabouts-Reader: 1795680000000 5f0c…(32 digits) 9b1d…(64 digits)
//     Whereabouts-Writer: 77aa…(64 digits)
//
// The first has the time in milliseconds since 1970, 16 random bytes, and the message's code: HMAC-SHA-256 of
//
//     record request 1 ␊ <time> ␊ <random digits> ␊ <body>
//
// The second is the code of
//
//     record answer 1 ␊ <random digits of the request> ␊ <status> ␊ <body>
//
// The key of both is HMAC-SHA-256 of `whereabouts readers v1` under the house's key-encryption key. So both sides prove that
// they are of the house, no secret travels, and an answer belongs to one request. A message is taken once (``TakenNonces``).

/// Seals the messages between the readers of a house and the process that writes its log, and checks them.
package struct ReaderSeal: Sendable {
    package static let requestHeader = "whereabouts-reader"
    package static let answerHeader = "whereabouts-writer"
    /// A message is good for this time before and after the receiver's clock.
    static let secondsApart: Int64 = 60

    private let key: [UInt8]

    /// - Parameters:
    ///   - keyEncryptionKey: The house's.
    ///   - purpose: What the key is derived for: a message for one purpose is none for another.
    package init(under keyEncryptionKey: SymmetricKey, for purpose: String = "whereabouts readers v1") {
        key =
            hmacSHA256(
                key: keyEncryptionKey.withBytes { [UInt8]($0) }, message: Array(purpose.utf8)
            ).bytes
    }

    /// The seal of a request.
    struct Request {
        /// 32 hexadecimal digits.
        let nonce: String
        /// The value of the header.
        let header: String
    }

    /// Seals a request.
    func request(_ body: [UInt8], at now: Timestamp) -> Request {
        let nonce = Hex.encode(randomBytes(16))
        let code = code(of: "record request 1\n\(now.milliseconds)\n\(nonce)\n", body)
        return Request(nonce: nonce, header: "\(now.milliseconds) \(nonce) \(Hex.encode(code))")
    }

    /// The random digits of a request with a good seal; `nil` for any other.
    package func nonce(of header: String?, _ body: [UInt8], at now: Timestamp) -> String? {
        guard let header, header.utf8.count <= Self.headerBytesMax else { return nil }
        let parts = header.split(separator: " ", omittingEmptySubsequences: false)
        let near = (now.milliseconds - Self.secondsApart * 1000)...(now.milliseconds + Self.secondsApart * 1000)
        guard parts.count == 3, let time = Int64(parts[0]), near.contains(time), parts[1].utf8.count == 32,
            let given = Hex.decode(parts[2]),
            constantTimeEqual(given, code(of: "record request 1\n\(time)\n\(parts[1])\n", body))
        else { return nil }
        return String(parts[1])
    }

    private static let headerBytesMax = 128

    /// The value of the header of an answer.
    package func answer(_ body: [UInt8], status: Int, to nonce: String) -> String {
        Hex.encode(code(of: "record answer 1\n\(nonce)\n\(status)\n", body))
    }

    /// Whether an answer is of the house, and to this request.
    func isGood(_ header: String?, _ body: [UInt8], status: Int, to nonce: String) -> Bool {
        guard let given = header.flatMap({ Hex.decode($0) }) else { return false }
        return constantTimeEqual(given, code(of: "record answer 1\n\(nonce)\n\(status)\n", body))
    }

    private func code(of head: String, _ body: [UInt8]) -> [UInt8] {
        hmacSHA256(key: key, message: Array(head.utf8) + body).bytes
    }
}

/// The random digits of the messages that were taken while their time was near, so that none is taken twice.
///
/// Only messages with the seal of the house get here, so their number is that of the readers' messages in four minutes.
package final class TakenNonces: Sendable {
    package init() {}

    private struct State {
        var newer: Set<String> = []
        var older: Set<String> = []
        /// When `newer` was begun, on the monotonic clock.
        var begun = MonotonicClock.seconds
    }

    private let state = Mutex(State())
    /// From 60 s before a message's time to 60 s after it.
    private static let seconds = Double(2 * ReaderSeal.secondsApart)

    /// Whether the digits come for the first time. `now` is of the monotonic clock.
    package func take(_ nonce: String, at now: Double = MonotonicClock.seconds) -> Bool {
        state.withLock { state in
            if now - state.begun > Self.seconds {
                state.older = now - state.begun > 2 * Self.seconds ? [] : state.newer
                (state.newer, state.begun) = ([], now)
            }
            return !state.older.contains(nonce) && state.newer.insert(nonce).inserted
        }
    }
}
