import CCurl
import CSupport
import Glibc
import Synchronization
import Threading

/// One request to another party's server, a POST unless another method is named.
package struct Post: Sendable {
    package let method: String
    package let url: PostURL
    /// Lines `name: value`, without line ends.
    package let headers: [String]
    /// Of a POST; others have none.
    package let body: [UInt8]
    /// How long it may take, connecting and all.
    package let milliseconds: Int
    /// The names of the headers that the sender wants to see of the answer.
    package let wanted: [String]
    /// Whether it gets a connection of its own, so that libcurl never sends it twice.
    package var isSentOnce = false

    /// - Parameter milliseconds: as the Standard Webhooks advise, if not said: a receiver takes a message in, and works
    ///   on it later.
    package init(
        _ method: String = "POST", to url: PostURL, headers: [String], body: [UInt8], milliseconds: Int = 15_000,
        wanting wanted: [String] = []
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.milliseconds, self.wanted) = (milliseconds, wanted)
    }
}

/// How a request ended.
package enum PostOutcome: Hashable, Sendable {
    /// Answered in full. `retryAfterSeconds` is 0 when the answer named none; `headers` are those of ``Post/wanted`` that
    /// the answer has.
    case answered(status: Int, retryAfterSeconds: Int, headers: [String: String])
    case failed(PostFault)
}

/// Why no answer came.
package enum PostFault: String, Hashable, Sendable {
    /// The host name has no address.
    case unknownHost
    /// Nothing listens at its addresses.
    case notConnected
    /// The rule refuses the address of the host.
    case addressNotAllowed
    /// The certificate is not trusted, or TLS was not agreed on.
    case tls
    case timeout
    /// The connection ended before the answer did.
    case cut
    /// The service stops.
    case stopped
}

/// Sends requests and mails by libcurl, all on one thread. It follows no redirects, uses no proxy, and connects to no address
/// that its rule refuses. The rule is checked after the name lookup, for the exact address that is connected to next.
/// Connections are kept for the next request to the same origin.
package final class Poster: @unchecked Sendable {
    // `multi` is made in `init` and freed in `deinit`; between them only the thread of `run` uses it, but for
    // `curl_multi_wakeup`, which is made for other threads. `state` is guarded by its mutex, the others never change.
    private let multi: UnsafeMutableRawPointer
    private let state = Mutex(State())
    private let trustFile: String?
    private let rule: @Sendable (Origin) -> AddressRule?

    private struct State {
        var waiting: [Errand] = []
        var isStopping = false
        var thread: WorkerThread?
    }

    /// Takes a piece of an answer's body; `false` ends the request, which counts as answered.
    package typealias Reader = @Sendable (UnsafeRawBufferPointer) -> Bool

    private enum Errand {
        case post(Post, Reader?, @Sendable (PostOutcome) -> Void)
        case mail(Mail, @Sendable (PostOutcome) -> Void)
        case passage(Post, PassedAnswer)
    }

    static let connectMilliseconds = 5_000
    /// How often a paused answer is looked at.
    private static let pausedMilliseconds: Int32 = 20
    /// The most bytes received of an answer's body if there is no reader. After that, the request counts as answered.
    static let answerBytes = 64 << 10

    /// - Parameters:
    ///   - trustFile: PEM file of certificates to trust instead of the system's.
    ///   - rule: the addresses to which an origin's name may lead; `nil` for any.
    package init(trustFile: String?, rule: @escaping @Sendable (Origin) -> AddressRule?) {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = curl_multi_init() else { preconditionFailure("Out of memory.") }
        (self.multi, self.trustFile, self.rule) = (multi, trustFile, rule)
    }

    deinit { curl_multi_cleanup(multi) }

    /// Sends a request; `completion` is called once. Both closures are called on the poster's thread and must be quick.
    /// After ``stop()``, `completion` is called at once, on the caller's thread, with ``PostFault/stopped``.
    ///
    /// - Parameter reader: takes the answer's body; without it, the body is dropped.
    package func send(
        _ post: Post, reading reader: Reader? = nil, _ completion: @escaping @Sendable (PostOutcome) -> Void
    ) {
        if !queue(.post(post, reader, completion)) { completion(.failed(.stopped)) }
    }

    /// Hands a mail to its relay; `completion` is called as for a request. The status is the relay's last reply of SMTP
    /// (RFC 5321, section 4.2): 250 if it has taken the mail.
    package func send(_ mail: Mail, _ completion: @escaping @Sendable (PostOutcome) -> Void) {
        if !queue(.mail(mail, completion)) { completion(.failed(.stopped)) }
    }

    /// Sends a request whose answer is passed on as it comes. ``PassedAnswer/ended`` is called once, as a completion is.
    package func pass(_ post: Post, _ answer: PassedAnswer) {
        if !queue(.passage(post, answer)) { answer.ended(.stopped) }
    }

    private func queue(_ errand: Errand) -> Bool {
        let isTaken = state.withLock { state in
            if !state.isStopping { state.waiting.append(errand) }
            return !state.isStopping
        }
        if isTaken { curl_multi_wakeup(multi) }
        return isTaken
    }

    /// Starts the thread; call it once. Requests sent before wait for it.
    package func start() {
        let thread = WorkerThread { self.run() }
        state.withLock { $0.thread = thread }
    }

    /// Stops the thread. Requests in progress end as ``PostFault/stopped``, and after the return no closure is called.
    /// A completion may call it too; the thread then ends after that completion.
    package func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            defer { state.thread = nil }
            return state.thread
        }
        curl_multi_wakeup(multi)
        guard let thread else { return }
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    private func run() {
        var transfers: [UnsafeMutableRawPointer: any Transfer] = [:]
        while true {
            let (waiting, isStopping) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isStopping)
            }
            for errand in waiting {
                let transfer: any Transfer =
                    switch errand {
                    case .post(let post, let reader, let completion):
                        PostTransfer(post, rule(post.url.origin), trustFile, reader, completion)
                    case .mail(let mail, let completion): MailTransfer(mail, completion)
                    case .passage(let post, let answer):
                        PassageTransfer(post, rule(post.url.origin), trustFile, answer)
                    }
                curl_multi_add_handle(multi, transfer.handle)
                transfers[transfer.handle] = transfer
            }
            if isStopping { break }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
                let code = message.pointee.data.result
                curl_multi_remove_handle(multi, handle)
                transfers.removeValue(forKey: handle)?.finish(code)
            }
            for (handle, transfer) in transfers where transfer.isLate {
                curl_multi_remove_handle(multi, handle)
                transfers.removeValue(forKey: handle)?.completion(.failed(.timeout))
            }
            var isPaused = false
            for transfer in transfers.values where transfer.isPaused {
                transfer.resume()
                isPaused = isPaused || transfer.isPaused
            }
            // Woken by a socket, a timer of libcurl's, or `curl_multi_wakeup`.
            curl_multi_poll(multi, nil, 0, isPaused ? Self.pausedMilliseconds : 1000, nil)
        }
        for (handle, transfer) in transfers {
            curl_multi_remove_handle(multi, handle)
            transfer.completion(.failed(.stopped))
        }
    }
}

/// A request, mail or passage under way; used on the poster's own thread only.
protocol Transfer: AnyObject {
    var handle: UnsafeMutableRawPointer { get }
    var completion: @Sendable (PostOutcome) -> Void { get }
    /// Calls ``completion`` once libcurl is done.
    func finish(_ code: CURLcode)
    /// Whether the transfer waits until its receiver takes more.
    var isPaused: Bool { get }
    /// Goes on if the receiver takes more.
    func resume()
    /// Whether the answer should have begun by now.
    var isLate: Bool { get }
}

extension Transfer {
    var isPaused: Bool { false }
    func resume() {}
    var isLate: Bool { false }
}

extension PostFault {
    /// - Parameter isRefused: whether the rule refused the last address.
    init(_ code: CURLcode, isRefused: Bool = false) {
        self =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
            case CURLE_COULDNT_CONNECT: isRefused ? .addressNotAllowed : .notConnected
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED:
                .tls
            default: .cut
            }
    }
}

/// One request under way.
private final class PostTransfer: Transfer, AnswerSink {
    var handle: UnsafeMutableRawPointer { request.handle }
    let completion: @Sendable (PostOutcome) -> Void
    private let request: PreparedRequest
    private let reader: Poster.Reader?
    private let wanted: [String]
    private var dropped = 0
    private var isRead = false

    init(
        _ post: Post, _ rule: AddressRule?, _ trustFile: String?, _ reader: Poster.Reader?,
        _ completion: @escaping @Sendable (PostOutcome) -> Void
    ) {
        (self.reader, self.completion, wanted) = (reader, completion, post.wanted)
        // libcurl would call an empty body a form.
        request = PreparedRequest(post, without: post.body.isEmpty ? ["Content-Type"] : [], rule, trustFile)
        request.sink = self
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Int32 {
        if let reader {
            isRead = !reader(piece)
        } else {
            dropped += piece.count
            isRead = dropped > Poster.answerBytes
        }
        return isRead ? 0 : 1
    }

    func finish(_ code: CURLcode) {
        // An answer that is too long still counts: its status is known.
        let isAnswered = code == CURLE_OK || (code == CURLE_WRITE_ERROR && isRead)
        if isAnswered {
            let seconds = post_retry_after_seconds(handle)
            var headers: [String: String] = [:]
            for name in wanted { headers[name] = post_header(handle, name).map { String(cString: $0) } }
            return completion(
                .answered(status: post_status(handle), retryAfterSeconds: max(0, seconds), headers: headers))
        }
        completion(.failed(PostFault(code, isRefused: request.isRefused)))
    }
}
