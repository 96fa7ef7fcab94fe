import CCurl
import CSupport
import Glibc
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
final class PassageTransfer: Transfer {
    let handle: UnsafeMutableRawPointer
    private let answer: PassedAnswer
    private let rule: AddressRule?
    private let options: UnsafeMutablePointer<post_options>
    private let body: UnsafeMutableBufferPointer<UInt8>
    private(set) var isPaused = false
    private var hasBegun = false
    private let latest: Int64
    private var isRefused = false

    var completion: @Sendable (PostOutcome) -> Void {
        { [answer] outcome in
            if case .failed(let fault) = outcome { answer.ended(fault) } else { answer.ended(nil) }
        }
    }

    init(_ post: Post, _ rule: AddressRule?, _ trustFile: String?, _ answer: PassedAnswer) {
        (self.rule, self.answer) = (rule, answer)
        latest = MonotonicClock.milliseconds + answer.beginMilliseconds
        options = .allocate(capacity: 1)
        body = .allocate(capacity: max(1, post.body.count))
        _ = body.update(fromContentsOf: post.body)
        var headers: UnsafeMutablePointer<curl_slist>?
        // libcurl adds no header of its own.
        for line in post.headers + ["Expect:"] { headers = curl_slist_append(headers, line) }
        for name in ["Accept", "Content-Type"]
        where !post.headers.contains(where: { $0.lowercased().hasPrefix(name.lowercased() + ":") }) {
            headers = curl_slist_append(headers, name + ":")
        }
        options.initialize(
            to: post_options(
                method: strdup(post.method), url: strdup(post.url.text),
                trust_file: trustFile.map { strdup($0) } ?? nil, headers: headers, body: body.baseAddress,
                body_bytes: post.body.count, connect_milliseconds: Poster.connectMilliseconds,
                milliseconds: post.milliseconds, context: nil,
                allows_address: { context, address in
                    guard let context, let address else { return 0 }
                    return Unmanaged<PassageTransfer>.fromOpaque(context).takeUnretainedValue().allows(address) ? 1 : 0
                },
                received: { context, bytes, count in
                    guard let context else { return 0 }
                    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
                    return Unmanaged<PassageTransfer>.fromOpaque(context).takeUnretainedValue().take(piece)
                },
                began: { context in
                    guard let context else { return }
                    Unmanaged<PassageTransfer>.fromOpaque(context).takeUnretainedValue().begin()
                }, is_sent_once: post.isSentOnce ? 1 : 0))
        guard let handle = post_prepare(options) else { preconditionFailure("Out of memory.") }
        self.handle = handle
        options.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(options.pointee.headers)
        for text in [options.pointee.method, options.pointee.url, options.pointee.trust_file] {
            free(UnsafeMutableRawPointer(mutating: text))
        }
        options.deallocate()
        body.deallocate()
    }

    private func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        let isAllowed = rule?.allows(address) ?? true
        if !isAllowed { isRefused = true }
        return isAllowed
    }

    var isLate: Bool { !hasBegun && MonotonicClock.milliseconds > latest }

    private func begin() {
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

    private func take(_ piece: UnsafeRawBufferPointer) -> Int32 {
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
        answer.ended(code == CURLE_OK ? nil : PostFault(code, isRefused: isRefused))
    }
}
