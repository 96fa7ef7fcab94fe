import CCurl
import CSupport
import Glibc
import Synchronization

/// One POST to somebody else's place.
package struct Post: Sendable {
    package let url: PostURL
    /// Lines `name: value`, without line ends.
    package let headers: [String]
    package let body: [UInt8]

    package init(to url: PostURL, headers: [String], body: [UInt8]) {
        (self.url, self.headers, self.body) = (url, headers, body)
    }
}

/// How a POST ended.
package enum PostOutcome: Hashable, Sendable {
    /// Answered in full. `retryAfterSeconds` is 0 when the answer named none.
    case answered(status: Int, retryAfterSeconds: Int)
    case failed(PostFault)
}

/// Why no answer came.
package enum PostFault: String, Hashable, Sendable {
    /// The name stands for no address.
    case unknownHost
    /// Nothing listens at its addresses.
    case notConnected
    /// It stands for an address that may not be posted to.
    case addressNotAllowed
    /// The certificate is not trusted, or TLS was not agreed on.
    case tls
    case timeout
    /// The connection ended before the answer did.
    case cut
    /// The service stops.
    case stopped
}

/// Sends POSTs by libcurl, all on the thread of ``run()``. Follows no redirect, uses no proxy, drops what is answered, and
/// connects to no address that its rule refuses: it is asked after the name was looked up, for the very address that is
/// connected to next.
package final class Poster: @unchecked Sendable {
    // `multi` is made in `init` and freed in `deinit`; between them only the thread of `run` uses it, but for
    // `curl_multi_wakeup`, which is made for other threads. `state` is guarded by its mutex, the others never change.
    private let multi: UnsafeMutableRawPointer
    private let state = Mutex(State())
    private let trustFile: String?
    private let rule: @Sendable (Origin) -> AddressRule

    private struct State {
        var waiting: [(post: Post, completion: @Sendable (PostOutcome) -> Void)] = []
        var isStopping = false
    }

    static let connectMilliseconds = 5_000
    /// As the Standard Webhooks advise: a receiver takes a message in, and works on it later.
    static let milliseconds = 15_000
    /// Of an answer's body; what is longer is not waited for.
    static let answerBytes = 64 << 10

    /// - Parameters:
    ///   - trustFile: PEM file of certificates to trust instead of the system's.
    ///   - rule: which addresses an origin may stand for.
    package init(trustFile: String?, rule: @escaping @Sendable (Origin) -> AddressRule) {
        curl_global_init(Int(CURL_GLOBAL_DEFAULT))
        guard let multi = curl_multi_init() else { preconditionFailure("Out of memory.") }
        (self.multi, self.trustFile, self.rule) = (multi, trustFile, rule)
    }

    deinit { curl_multi_cleanup(multi) }

    /// Sends; `completion` is called once, on the thread of ``run()``, and must be quick.
    package func send(_ post: Post, _ completion: @escaping @Sendable (PostOutcome) -> Void) {
        let isTaken = state.withLock { state in
            if !state.isStopping { state.waiting.append((post, completion)) }
            return !state.isStopping
        }
        guard isTaken else { return completion(.failed(.stopped)) }
        curl_multi_wakeup(multi)
    }

    /// Ends ``run()``; what is under way ends as stopped.
    package func stop() {
        state.withLock { $0.isStopping = true }
        curl_multi_wakeup(multi)
    }

    /// Sends what is to be sent until ``stop()``; to be called once, on a thread of its own.
    package func run() {
        var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
        while true {
            let (waiting, isStopping) = state.withLock { state in
                defer { state.waiting = [] }
                return (state.waiting, state.isStopping)
            }
            for (post, completion) in waiting {
                let transfer = Transfer(post, rule(post.url.origin), trustFile, completion)
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
            // Woken by a socket, a timer of libcurl's, or `curl_multi_wakeup`.
            curl_multi_poll(multi, nil, 0, 1000, nil)
        }
        for (handle, transfer) in transfers {
            curl_multi_remove_handle(multi, handle)
            transfer.completion(.failed(.stopped))
        }
    }
}

/// One POST under way; used on the thread of ``Poster/run()`` only.
private final class Transfer {
    let handle: UnsafeMutableRawPointer
    let completion: @Sendable (PostOutcome) -> Void
    private let rule: AddressRule
    private let options: UnsafeMutablePointer<post_options>
    private let body: UnsafeMutableBufferPointer<UInt8>
    private var received = 0
    private var isRefused = false

    init(
        _ post: Post, _ rule: AddressRule, _ trustFile: String?, _ completion: @escaping @Sendable (PostOutcome) -> Void
    ) {
        (self.rule, self.completion) = (rule, completion)
        options = .allocate(capacity: 1)
        body = .allocate(capacity: max(1, post.body.count))
        _ = body.update(fromContentsOf: post.body)
        var headers: UnsafeMutablePointer<curl_slist>?
        // Without the last, libcurl would ask first whether it may send a longer body.
        for line in post.headers + ["Expect:"] { headers = curl_slist_append(headers, line) }
        options.initialize(
            to: post_options(
                url: strdup(post.url.text), trust_file: trustFile.map { strdup($0) } ?? nil, headers: headers,
                body: body.baseAddress, body_bytes: post.body.count, connect_milliseconds: Poster.connectMilliseconds,
                milliseconds: Poster.milliseconds, context: nil,
                allows_address: { context, address in
                    guard let context, let address else { return 0 }
                    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().allows(address) ? 1 : 0
                },
                received: { context, bytes in
                    guard let context else { return 0 }
                    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().take(bytes) ? 1 : 0
                }))
        guard let handle = post_prepare(options) else { preconditionFailure("Out of memory.") }
        self.handle = handle
        options.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(options.pointee.headers)
        free(UnsafeMutableRawPointer(mutating: options.pointee.url))
        free(UnsafeMutableRawPointer(mutating: options.pointee.trust_file))
        options.deallocate()
        body.deallocate()
    }

    private func allows(_ address: UnsafePointer<sockaddr>) -> Bool {
        let isAllowed = rule.allows(address)
        if !isAllowed { isRefused = true }
        return isAllowed
    }

    private func take(_ bytes: Int) -> Bool {
        received += bytes
        return received <= Poster.answerBytes
    }

    func finish(_ code: CURLcode) {
        // Too long an answer is one all the same: its head says what became of the message.
        let isAnswered = code == CURLE_OK || (code == CURLE_WRITE_ERROR && received > Poster.answerBytes)
        if isAnswered {
            let seconds = post_retry_after_seconds(handle)
            return completion(.answered(status: post_status(handle), retryAfterSeconds: max(0, seconds)))
        }
        let fault: PostFault =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST: .unknownHost
            case CURLE_COULDNT_CONNECT: isRefused ? .addressNotAllowed : .notConnected
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE,
                CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
                .tls
            default: .cut
            }
        completion(.failed(fault))
    }
}
