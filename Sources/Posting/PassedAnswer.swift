import CCurl
import CSupport
import Threading

/// Takes an answer as it comes. The closures are called on the poster's thread and must be quick.
package struct PassedAnswer: Sendable {
    /// What becomes of a piece.
    package enum Piece: Int32, Sendable {
        /// The receiver is gone: the request ends.
        case refused = 0
        case taken = 1
        /// Too much waits at the receiver. The piece comes again once ``PassedAnswer/isReady`` says so.
        case later = 2
    }

    /// How long the answer may take to begin. Once it has begun, it may take any time.
    let beginMilliseconds: Int64
    /// Called once with the status and the headers, in their order, before any piece.
    let began: @Sendable (_ status: Int, _ headers: [(name: String, value: String)]) -> Void
    /// Called with each piece of the body.
    let piece: @Sendable (UnsafeRawBufferPointer) -> Piece
    /// Asked some times a second after ``Piece/later``.
    let isReady: @Sendable () -> Bool
    /// Called once at the end; `nil` if the answer is complete.
    let ended: @Sendable (PostFault?) -> Void

    package init(
        beginMilliseconds: Int64,
        began: @escaping @Sendable (_ status: Int, _ headers: [(name: String, value: String)]) -> Void,
        piece: @escaping @Sendable (UnsafeRawBufferPointer) -> Piece, isReady: @escaping @Sendable () -> Bool,
        ended: @escaping @Sendable (PostFault?) -> Void
    ) {
        self.beginMilliseconds = beginMilliseconds
        (self.began, self.piece, self.isReady, self.ended) = (began, piece, isReady, ended)
    }
}

/// A request whose answer is passed on.
final class PassageTransfer: Transfer, AnswerSink {
    var handle: UnsafeMutableRawPointer { request.handle }
    private let request: PreparedRequest
    private let answer: PassedAnswer
    private(set) var isPaused = false
    private var hasBegun = false
    private let latest: Int64

    var completion: @Sendable (PostOutcome) -> Void {
        { [answer] outcome in
            if case .failed(let fault) = outcome { answer.ended(fault) } else { answer.ended(nil) }
        }
    }

    init(_ post: Post, _ rule: AddressRule?, _ trustFile: String?, _ answer: PassedAnswer) {
        self.answer = answer
        latest = MonotonicClock.milliseconds + answer.beginMilliseconds
        // Only headers of the request itself are passed on.
        let omitted = ["Accept", "Content-Type"].filter { name in
            !post.headers.contains { $0.lowercased().hasPrefix(name.lowercased() + ":") }
        }
        request = PreparedRequest(post, without: omitted, rule, trustFile, tellsBegin: true)
        request.sink = self
    }

    var isLate: Bool { !hasBegun && MonotonicClock.milliseconds > latest }

    func begin() {
        hasBegun = true
        var headers: [(name: String, value: String)] = []
        var (name, value): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
        var place = post_next_header(handle, nil, &name, &value)
        while place != nil, let found = name, let text = value {
            headers.append((String(cString: found), String(cString: text)))
            place = post_next_header(handle, place, &name, &value)
        }
        answer.began(post_status(handle), headers)
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Int32 {
        let taken = answer.piece(piece)
        isPaused = taken == .later
        return taken.rawValue
    }

    func resume() {
        guard answer.isReady() else { return }
        isPaused = false
        // 0 is `CURLPAUSE_CONT`. libcurl hands the piece over before it returns.
        curl_easy_pause(handle, 0)
    }

    func finish(_ code: CURLcode) {
        answer.ended(code == CURLE_OK ? nil : PostFault(code, isRefused: request.isRefused))
    }
}
